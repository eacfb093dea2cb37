#include "sim/timeline/prepared_program.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/accumulate.h"
#include "sim/isa/sum_bounds.h"
#include "sim/timeline/values.h"

namespace tilewave::sim {
namespace {

std::int32_t to_int(std::int64_t value) {
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
    run.dy = to_int(kernel_pixel / window.kernel_width * window.dilation_height - window.pad_top);
    run.dx = to_int(kernel_pixel % window.kernel_width * window.dilation_width - window.pad_left);
    run.dx_step = to_int(window.dilation_width);
    run.length = to_int(length);
    run.k = to_int(k - k_first);
    run.base = setup.source.plane_offset(plane, setup.images) + in_plane;
    run.pixel_elements = to_int(plane_channels);
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
  overflowing = may_overflow(*chip, *program, operations[0]);
  pack_tiles();
  pad_biases();
  plan_gathers();
}

void PreparedProgram::pack_tiles() {
  for (const Tile& tile : program->tiles) {
    const std::int64_t columns = ceil_div(tile.cols, 8) * 8;
    packed_weights_.push_back(pack(*program, tile, columns));
    tiles_.push_back(
        {packed_weights_.back().data(), to_int(ceil_div(tile.rows, 2)), to_int(columns)});
  }
}

void PreparedProgram::pad_biases() {
  for (const Columns& table : program->columns) {
    std::vector<std::int32_t> bias(static_cast<std::size_t>(sums_stride), 0);
    std::copy(table.bias.begin(), table.bias.end(), bias.begin());
    for (std::int32_t& value : bias) value = narrow(value, chip->precision);
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
    plan.run_count = to_int(static_cast<std::int64_t>(runs.size()));
    plan.height = to_int(setup.source.shape.height);
    plan.width = to_int(setup.source.shape.width);
    plan.output_height = to_int(setup.output.height);
    plan.output_width = to_int(setup.output.width);
    plan.stride_height = to_int(setup.window.stride_height);
    plan.stride_width = to_int(setup.window.stride_width);
    plan.padding = static_cast<std::int16_t>(setup.zero_point);
    plan.k = to_int(op.tile->rows);
    plan.k_padded = to_int(ceil_div(op.tile->rows, 2) * 2);
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
