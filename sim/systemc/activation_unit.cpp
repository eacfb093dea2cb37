#include "sim/systemc/activation_unit.h"

#include <algorithm>

namespace tilewave::sim::systemc {
namespace {

/// The places of output pixel `output`'s window that lie in the image, as pixels of the pool's
/// input. Pixels are counted over all images.
std::vector<std::int64_t> window_places(const Pool& pool, std::int64_t output) {
  const models::Window& window = pool.window;
  const std::int64_t image = output / pool.output.pixels();
  const std::int64_t out_y = output % pool.output.pixels() / pool.output.width;
  const std::int64_t out_x = output % pool.output.width;
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < window.kernel_height * window.kernel_width; ++place) {
    const std::int64_t y = out_y * window.stride_height - window.pad_top +
                           place / window.kernel_width * window.dilation_height;
    const std::int64_t x = out_x * window.stride_width - window.pad_left +
                           place % window.kernel_width * window.dilation_width;
    if (y < 0 || y >= pool.input.height || x < 0 || x >= pool.input.width) continue;
    places.push_back((image * pool.input.height + y) * pool.input.width + x);
  }
  return places;
}

/// One pooled value; `value(pixel)` is the activation at a place.
template <typename Value>
std::int16_t pooled(const Pool& pool, const std::vector<std::int64_t>& places, Value value) {
  if (places.empty()) return static_cast<std::int16_t>(pool.pad_value);
  if (pool.kind == Pool::Kind::max) {
    std::int32_t most = value(places.front());
    for (const std::int64_t place : places) most = std::max<std::int32_t>(most, value(place));
    return static_cast<std::int16_t>(most);
  }
  std::int32_t sum = 0;
  for (const std::int64_t place : places) sum += value(place);
  auto count = static_cast<std::int32_t>(places.size());
  if (pool.count_include_pad) {
    const auto all =
        static_cast<std::int32_t>(pool.window.kernel_height * pool.window.kernel_width);
    sum += (all - count) * pool.pad_value;
    count = all;
  }
  return static_cast<std::int16_t>(quant::rounded_average(sum, count, pool.mode));
}

}  // namespace

ActivationUnit::ActivationUnit(const sc_core::sc_module_name& name, Shared& shared,
                               UnitQueue& queue, Scoreboard& scoreboard, UnifiedBuffer& buffer,
                               Accumulators& accumulators)
    : Block(name, shared),
      queue_(queue),
      scoreboard_(scoreboard),
      buffer_(buffer),
      accumulators_(accumulators) {
  sensitive << queue.arrived << scoreboard.changed;
}

void ActivationUnit::step() {
  const Cycles now = current_cycle();
  while (true) {
    if (is_reading_ && now >= pipeline_.back().end) finish_reading();
    while (!pipeline_.empty() && now >= pipeline_.front().done) {
      write_back(pipeline_.front());
      pipeline_.pop_front();
    }
    const bool can_start =
        !is_reading_ && !queue_.empty() && scoreboard_.is_ready(queue_.front().sequence);
    if (!can_start) break;
    start(queue_.start_front());
  }
  if (is_reading_) wake_at(pipeline_.back().end);
  if (!pipeline_.empty()) wake_at(pipeline_.front().done);
}

void ActivationUnit::start(const Work& work) {
  const Operation& op = *work.operation;
  const Cycles row_cycles =
      std::max({Cycles{1}, ceil_div(op.row_elements, shared_.chip.array.cols),
                buffer_.port_cycles(op.row_elements * buffer_.memory.element_bytes())});
  const Cycles now = current_cycle();
  const Cycles end = now + op.rows_in * row_cycles;
  const Cycles done = end + shared_.chip.activation_unit.pipeline_depth;
  is_reading_ = true;
  count_reads(op);
  pipeline_.push_back({work, now, end, done, compute(op)});
}

void ActivationUnit::count_reads(const Operation& op) {
  RunCounters& counters = shared_.recorder.counters(op);
  const std::int64_t elements = op.rows_in * op.row_elements;
  counters.vector_operations += elements;
  if (op.instruction.opcode == Opcode::activate) {
    counters.bytes.accumulator_read += elements * shared_.chip.accumulator_bytes();
  } else {
    counters.bytes.unified_buffer_read += op.bytes_in;
  }
}

void ActivationUnit::finish_reading() {
  is_reading_ = false;
  scoreboard_.end(pipeline_.back().work.sequence);
}

void ActivationUnit::write_back(const InPipeline& item) {
  const Operation& op = *item.work.operation;
  const std::int64_t element_bytes = buffer_.memory.element_bytes();
  auto value = item.values.begin();
  for (const Span& span : op.writes) {
    shared_.recorder.counters(op).bytes.unified_buffer_write += span.size();
    if (!shared_.with_values) continue;
    for (std::int64_t at = span.begin; at < span.end; at += element_bytes) {
      buffer_.memory.store(at, *value++);
    }
  }
  shared_.recorder.finished(Unit::activation, item.work, item.start, item.end, item.done);
  scoreboard_.done(item.work.sequence);
}

// -----------------------------------------------------------------------------------------------
// Values

std::vector<std::int16_t> ActivationUnit::compute(const Operation& op) {
  std::vector<std::int16_t> out;
  if (!shared_.with_values) return out;
  out.reserve(static_cast<std::size_t>(op.bytes_out / buffer_.memory.element_bytes()));
  switch (op.instruction.opcode) {
    case Opcode::activate:
      op.pool == nullptr ? activate(op, out) : activate_pooled(op, out);
      break;
    case Opcode::vector_pool:
      pool(op, out);
      break;
    case Opcode::vector_add:
      add(op, out);
      break;
    default:
      look_up(op, out);
      break;
  }
  return out;
}

void ActivationUnit::activate(const Operation& op, std::vector<std::int16_t>& out) {
  for (std::int64_t row = op.accumulators.begin; row < op.accumulators.end; ++row) {
    const std::int32_t* sums = accumulators_.read(op, row);
    for (std::size_t n = 0; n < static_cast<std::size_t>(op.row_elements); ++n) {
      out.push_back(static_cast<std::int16_t>(op.columns->requantizer.apply(sums[n], n)));
    }
  }
}

void ActivationUnit::activate_pooled(const Operation& op, std::vector<std::int16_t>& out) {
  const Pool& pool = *op.pool;
  const std::int64_t first = op.instruction.first;
  std::vector<std::int16_t> values;  // before pooling, as the unit's line buffers hold them
  activate(op, values);
  const std::int64_t last_output = pool.outputs_before(first + op.rows_in);
  for (std::int64_t output = pool.outputs_before(first); output < last_output; ++output) {
    const std::vector<std::int64_t> places = window_places(pool, output);
    for (std::int64_t n = 0; n < op.row_elements; ++n) {
      out.push_back(pooled(pool, places, [&](std::int64_t pixel) {
        return values[static_cast<std::size_t>((pixel - first) * op.row_elements + n)];
      }));
    }
  }
}

void ActivationUnit::pool(const Operation& op, std::vector<std::int16_t>& out) {
  const Instruction& i = op.instruction;
  for (std::int64_t output = i.first; output < std::int64_t{i.first} + i.rows; ++output) {
    const std::vector<std::int64_t> places = window_places(*op.pool, output);
    for (std::int64_t n = 0; n < op.row_elements; ++n) {
      out.push_back(pooled(*op.pool, places, [&](std::int64_t pixel) {
        return buffer_.memory.load(i.unified_buffer +
                                   (pixel * op.row_elements + n) * buffer_.memory.element_bytes());
      }));
    }
  }
}

void ActivationUnit::add(const Operation& op, std::vector<std::int16_t>& out) {
  const Instruction& i = op.instruction;
  const std::int64_t bytes = buffer_.memory.element_bytes();
  for (std::int64_t row = 0; row < op.rows_in; ++row) {
    for (std::int64_t n = 0; n < op.row_elements; ++n) {
      const auto a = buffer_.memory.load(i.unified_buffer + (row * op.add->a_stride + n) * bytes);
      const auto b = buffer_.memory.load(i.source_b + (row * op.add->b_stride + n) * bytes);
      out.push_back(static_cast<std::int16_t>(op.add->adder.apply(a, b)));
    }
  }
}

void ActivationUnit::look_up(const Operation& op, std::vector<std::int16_t>& out) {
  const std::int64_t bytes = buffer_.memory.element_bytes();
  const std::int32_t qmin = shared_.program.activation_format.qmin();
  for (std::int64_t n = 0; n < op.rows_in * op.row_elements; ++n) {
    const std::int16_t q = buffer_.memory.load(op.instruction.unified_buffer + n * bytes);
    out.push_back(op.table->values[static_cast<std::size_t>(q - qmin)]);
  }
}

}  // namespace tilewave::sim::systemc
