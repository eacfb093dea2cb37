#include "sim/timeline/prepared_program.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/accumulate.h"
#include "sim/timeline/values.h"

namespace tilewave::sim {
namespace {

std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

std::vector<std::int16_t> pack(const Program& program, const Tile& tile, std::int64_t columns) {
  std::vector<std::int16_t> packed(static_cast<std::size_t>(ceil_div(tile.rows, 2) * columns * 2),
                                   std::int16_t{0});
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    for (std::int64_t column = 0; column < tile.cols; ++column) {
      packed[static_cast<std::size_t>((row / 2 * columns + column) * 2 + row % 2)] =
          program.weights[static_cast<std::size_t>(tile.offset + row * tile.cols + column)];
    }
  }
  return packed;
}

/// The runs of values [k_first, k_first + count) of a gathered row, in order of k.
std::vector<GatherRun> gather_runs(const Setup& setup, std::int64_t k_first, std::int64_t count) {
  std::vector<GatherRun> runs;
  const models::Window& window = setup.window;
  for (std::int64_t k = k_first; k < k_first + count;) {
    const std::int64_t kernel_pixel = k / setup.channel_count;
    const std::int64_t channel = setup.channel_first + k % setup.channel_count;
    const std::int64_t plane = channel / setup.source.block;
    const std::int64_t in_plane = channel % setup.source.block;
    const std::int64_t plane_channels = setup.source.plane_channels(plane);
    const std::int64_t length =
        std::min({plane_channels - in_plane, setup.channel_count - k % setup.channel_count,
                  k_first + count - k});
    GatherRun run;
    run.dy = narrow(kernel_pixel / window.kernel_width * window.dilation_height - window.pad_top);
    run.dx = narrow(kernel_pixel % window.kernel_width * window.dilation_width - window.pad_left);
    run.dx_step = narrow(window.dilation_width);
    run.length = narrow(length);
    run.k = narrow(k - k_first);
    run.base = setup.source.plane_offset(plane, setup.images) + in_plane;
    run.pixel_elements = narrow(plane_channels);
    k += length;
    // Neighbouring pixels of one kernel row make one run if all of their values go in.
    const bool continues = !runs.empty() && length == setup.channel_count &&
                           runs.back().length == run.length && runs.back().dy == run.dy &&
                           runs.back().dx + runs.back().pixels * run.dx_step == run.dx &&
                           runs.back().base == run.base;
    if (continues) {
      ++runs.back().pixels;
    } else {
      runs.push_back(run);
    }
  }
  return runs;
}

}  // namespace

PreparedProgram::PreparedProgram(const Chip& chip_used, const Program& program_used)
    : chip(&chip_used),
      program(&program_used),
      operations{decode_program(program_used, 0), decode_program(program_used, 1)} {
  Bytes buffer_bytes = 0;
  for (const auto& launch : operations) {
    for (const Operation& op : launch) {
      for (const Span& span : op.reads) buffer_bytes = std::max(buffer_bytes, span.end);
      for (const Span& span : op.writes) buffer_bytes = std::max(buffer_bytes, span.end);
      accumulator_rows = std::max(accumulator_rows, op.accumulators.end);
      widest_row = std::max(widest_row, op.row_elements);
    }
  }
  buffer_elements = buffer_bytes / program->activation_format.bytes();
  for (const Tile& tile : program->tiles) {
    sums_stride = std::max(sums_stride, ceil_div(tile.cols, 8) * 8);
  }
  for (const Columns& table : program->columns) {
    sums_stride =
        std::max(sums_stride, ceil_div(static_cast<std::int64_t>(table.bias.size()), 8) * 8);
  }
  pack_tiles();
  pad_biases();
  plan_gathers();
}

void PreparedProgram::pack_tiles() {
  for (const Tile& tile : program->tiles) {
    const std::int64_t columns = ceil_div(tile.cols, 8) * 8;
    packed_weights_.push_back(pack(*program, tile, columns));
    tiles_.push_back(
        {packed_weights_.back().data(), narrow(ceil_div(tile.rows, 2)), narrow(columns)});
  }
}

void PreparedProgram::pad_biases() {
  const int bits = chip->precision.accumulator_bits;
  for (const Columns& table : program->columns) {
    std::vector<std::int32_t> bias(static_cast<std::size_t>(sums_stride), 0);
    std::copy(table.bias.begin(), table.bias.end(), bias.begin());
    for (std::int32_t& value : bias) {
      value = chip->precision.overflow == Overflow::saturate ? saturate(value, bits)
                                                             : wrap(value, bits);
    }
    biases_.push_back(std::move(bias));
  }
}

void PreparedProgram::plan_gathers() {
  std::map<std::tuple<const Setup*, std::int64_t, std::int64_t>, std::size_t> known;
  plans.resize(operations[0].size());
  for (const Operation& op : operations[0]) {
    if (op.instruction.opcode != Opcode::matmul) continue;
    const Setup& setup = *op.setup;
    const auto key = std::tuple(op.setup, std::int64_t{op.instruction.value}, op.tile->rows);
    const auto [it, is_new] = known.try_emplace(key, runs_.size());
    if (is_new) runs_.push_back(gather_runs(setup, op.instruction.value, op.tile->rows));
    const std::vector<GatherRun>& runs = runs_[it->second];
    GatherPlan& plan = plans[static_cast<std::size_t>(op.index)];
    plan.runs = runs.data();
    plan.run_count = narrow(static_cast<std::int64_t>(runs.size()));
    plan.height = narrow(setup.source.shape.height);
    plan.width = narrow(setup.source.shape.width);
    plan.output_height = narrow(setup.output.height);
    plan.output_width = narrow(setup.output.width);
    plan.stride_height = narrow(setup.window.stride_height);
    plan.stride_width = narrow(setup.window.stride_width);
    plan.padding = static_cast<std::int16_t>(setup.zero_point);
    plan.k = narrow(op.tile->rows);
    plan.k_padded = narrow(ceil_div(op.tile->rows, 2) * 2);
    longest_row = std::max(longest_row, plan.k_padded);
    if (op.loads_rows) {
      most_kept_rows = std::max(most_kept_rows, std::int64_t{op.instruction.rows});
    }
  }
}

std::shared_ptr<const PreparedProgram> prepare_values(const Chip& chip, const Program& program) {
  return std::make_shared<const PreparedProgram>(chip, program);
}

}  // namespace tilewave::sim
