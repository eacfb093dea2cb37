#include "sim/compiler/compiler.h"

#include <algorithm>

#include "base/error.h"
#include "sim/compiler/buffer_plan.h"
#include "sim/compiler/emitter.h"
#include "sim/compiler/lowering.h"
#include "sim/compiler/spill_plan.h"
#include "sim/isa/fits.h"

namespace tilewave::sim {
namespace {

/// The largest number of images, up to `batch`, whose tensors fit together, and where they lie.
struct PassPlan {
  std::int64_t images = 0;
  BufferPlan buffer;
};

PassPlan plan_passes(const LoweredNetwork& network, const Chip& chip, std::int64_t batch,
                     bool ping_pong) {
  const int bytes = chip.activation_bytes();
  // Every size grows in proportion to the images, and so does the peak.
  const Bytes one = plan_buffer(network, 1, bytes, ping_pong).peak;
  const std::int64_t most = std::min(batch, buffer_capacity(chip) / one);
  if (most == 0) return {};
  // As equal as they can be.
  const std::int64_t images = ceil_div(batch, ceil_div(batch, most));
  return {images, plan_buffer(network, images, bytes, ping_pong)};
}

PassPlan plan_passes(const LoweredNetwork& network, const Chip& chip, std::int64_t batch) {
  for (const bool ping_pong : {true, false}) {
    PassPlan plan = plan_passes(network, chip, batch, ping_pong);
    if (plan.images > 0) return plan;
  }
  return {1, plan_spills(network, chip)};
}

HostTensor host_tensor(const Tensor& tensor, const Program& program) {
  const int bits = tensor.quantization.format.bits;
  return {tensor.layout, tensor.quantization, bits < program.activation_format.bits ? bits : 0};
}

Layer describe(const Step& step, const LoweredNetwork& network, const Chip& chip,
               std::int64_t batch) {
  Layer layer;
  layer.name = step.name;
  layer.operation = step.operation;
  Bytes elements = network.tensors[static_cast<std::size_t>(step.output)].layout.shape.elements();
  for (const int input : step.inputs) {
    elements += network.tensors[static_cast<std::size_t>(input)].layout.shape.elements();
  }
  layer.compulsory_bytes = elements * batch * chip.activation_bytes();
  if (const auto* work = std::get_if<MatrixStep>(&step.work)) {
    const auto outputs = static_cast<std::int64_t>(work->bias->size());
    const auto weights = static_cast<std::int64_t>(work->weight->size());
    layer.m = work->output.pixels();
    layer.n = outputs / work->groups;
    layer.k = weights / outputs;
    layer.groups = work->groups;
    layer.compulsory_bytes += chip.weight_memory_bytes(weights);
  }
  return layer;
}

/// Weight tiles that each layer reads in one launch.
void count_tiles(Program& program) {
  std::uint32_t layer = 0;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.opcode == Opcode::set_config && instruction.reg == ConfigRegister::layer) {
      layer = instruction.value;
    }
    if (instruction.opcode == Opcode::read_weights) ++program.layers[layer].tiles;
  }
}

/// Instructions that a program may have: its file then has 3.5 GiB.
constexpr std::int64_t kMaxInstructions = std::int64_t{1} << 26;

/// Refuses a program that would be too long, when the first of its passes has been written.
void check_length(const Program& program, std::int64_t passes) {
  const auto of_a_pass = static_cast<std::int64_t>(program.instructions.size());
  if (of_a_pass <= kMaxInstructions / passes) return;
  throw InputError("batch",
                   std::to_string(program.batch) + " images a launch take " +
                       std::to_string(passes) + " times " + std::to_string(of_a_pass) +
                       " instructions",
                   "at most " + std::to_string(kMaxInstructions) + " in all");
}

}  // namespace

Program compile(const quant::QuantizedGraph& graph, const Chip& chip, std::int64_t batch,
                const std::stop_token& stop) {
  if (batch < 1 || batch > models::kMaxElements) {
    throw InputError("batch", std::to_string(batch) + " is not allowed",
                     "1 to " + std::to_string(models::kMaxElements));
  }
  Program program;
  program.name = graph.name;
  program.batch = batch;
  program.dataflow = chip.array.dataflow;
  program.activation_format = graph.activation_format();
  program.weight_format = graph.weight_format();
  const LoweredNetwork network = lower(graph, chip);
  const PassPlan plan = plan_passes(network, chip, batch);
  program.input = host_tensor(network.tensors.front(), program);
  program.output = host_tensor(network.tensors[static_cast<std::size_t>(network.output)], program);
  program.unified_buffer_peak = plan.buffer.peak;
  program.host_scratch_bytes = plan.buffer.scratch_bytes;
  for (const Step& step : network.steps) {
    program.layers.push_back(describe(step, network, chip, batch));
  }

  Emitter emitter(network, chip, plan.buffer, program, stop);
  const std::int64_t passes = ceil_div(batch, plan.images);
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const std::int64_t first = pass * plan.images;
    emitter.emit({first, std::min(plan.images, batch - first), static_cast<int>(pass % 2)});
    if (pass == 0) check_length(program, passes);
  }
  emitter.finish();
  // With an even number of passes the halves alternate within a launch, and so on to the next.
  if (passes % 2 == 1) program.ping_pong = plan.buffer.ping_pong;
  count_tiles(program);
  check_stop(stop);
  check_fits(chip, program);
  return program;
}

}  // namespace tilewave::sim
