#include "sim/systemc/host_interface.h"

#include <algorithm>
#include <cstring>

#include "sim/isa/decoder.h"

namespace tilewave::sim::systemc {
namespace {

Bytes launch_bytes(const Program& program, const HostTensor& tensor) {
  return tensor.layout.shape.elements() * program.batch * program.activation_format.bytes();
}

/// Calls fn(element of the images, element of the host tensor) for each value of a launch.
template <typename Fn>
void for_each_element(const Layout& layout, std::int64_t images, Fn fn) {
  const std::int64_t channels = layout.shape.channels;
  for (std::int64_t pixel = 0; pixel < images * layout.shape.pixels(); ++pixel) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const std::int64_t plane = channel / layout.block;
      fn(pixel * channels + channel, layout.plane_offset(plane, images) +
                                         pixel * layout.plane_channels(plane) +
                                         channel % layout.block);
    }
  }
}

}  // namespace

HostMemory::HostMemory(const Program& program, const std::vector<std::int16_t>& inputs,
                       std::int64_t launches)
    : program_(program),
      inputs_(inputs),
      input_(launch_bytes(program, program.input), program.activation_format),
      output_(launch_bytes(program, program.output), program.activation_format),
      scratch_(scratch_bytes_used({decode_program(program, 0), decode_program(program, 1)}),
               program.activation_format) {
  if (inputs.empty()) return;
  outputs_.resize(
      static_cast<std::size_t>(program.output.layout.shape.elements() * program.batch * launches));
}

std::uint8_t* HostMemory::at(HostSpace space, std::int32_t launch, std::int64_t address) {
  switch (space) {
    case HostSpace::input:
      if (launch != input_launch_) load_inputs(launch);
      return input_.at(address);
    case HostSpace::output:
      if (launch != output_launch_) save_outputs();
      output_launch_ = launch;
      return output_.at(address);
    default:
      return scratch_.at(address);
  }
}

void HostMemory::load_inputs(std::int32_t launch) {
  input_launch_ = launch;
  const Layout& layout = program_.input.layout;
  const std::int64_t first = layout.shape.elements() * program_.batch * launch;
  for_each_element(layout, program_.batch, [&](std::int64_t image_at, std::int64_t host_at) {
    const auto at = static_cast<std::size_t>(first + image_at);
    input_.store(host_at * input_.element_bytes(),
                 at < inputs_.size() ? inputs_[at] : program_.input.quantization.zero_point);
  });
}

void HostMemory::save_outputs() {
  if (output_launch_ < 0) return;
  const Layout& layout = program_.output.layout;
  const std::int64_t first = layout.shape.elements() * program_.batch * output_launch_;
  for_each_element(layout, program_.batch, [&](std::int64_t image_at, std::int64_t host_at) {
    outputs_[static_cast<std::size_t>(first + image_at)] =
        output_.load(host_at * output_.element_bytes());
  });
}

std::vector<std::int16_t> HostMemory::take_outputs() {
  save_outputs();
  return std::move(outputs_);
}

DmaEngine::DmaEngine(const sc_core::sc_module_name& name, Shared& shared, Direction direction,
                     UnitQueue& queue, Scoreboard& scoreboard, UnifiedBuffer& buffer,
                     HostMemory& host)
    : Block(name, shared),
      direction_(direction),
      queue_(queue),
      scoreboard_(scoreboard),
      buffer_(buffer),
      host_(host) {
  sensitive << queue.arrived << scoreboard.changed;
}

void DmaEngine::step() {
  if (is_busy_ && current_cycle() >= end_) finish();
  if (!is_busy_ && !queue_.empty() && scoreboard_.is_ready(queue_.front().sequence)) {
    start(queue_.start_front());
  }
  if (is_busy_) wake_at(end_);
}

void DmaEngine::start(const Work& work) {
  is_busy_ = true;
  work_ = work;
  start_ = current_cycle();
  const Chip& chip = shared_.chip;
  const Instruction& i = work.operation->instruction;
  const Bytes bytes = Bytes{i.rows} * i.row_bytes;
  // The link and the buffer's port pass the bytes on to each other; the slower one sets the pace.
  end_ =
      start_ + chip.latency_cycles(chip.host_link.latency_us * 1000) +
      std::max(chip.transfer_cycles(bytes, chip.host_link.bandwidth), buffer_.port_cycles(bytes));
}

void DmaEngine::finish() {
  is_busy_ = false;
  const Instruction& i = work_.operation->instruction;
  BytesMoved& moved = shared_.recorder.counters(*work_.operation).bytes;
  const bool in = direction_ == Direction::in;
  for (std::int64_t row = 0; row < i.rows; ++row) {
    (in ? moved.host_in : moved.host_out) += i.row_bytes;
    (in ? moved.unified_buffer_write : moved.unified_buffer_read) += i.row_bytes;
    if (!shared_.with_values) continue;
    std::uint8_t* on_host =
        host_.at(i.space, work_.launch, static_cast<std::int64_t>(i.host) + row * i.stride);
    std::uint8_t* on_chip = buffer_.memory.at(i.unified_buffer + row * i.stride_b);
    std::memcpy(in ? on_chip : on_host, in ? on_host : on_chip, i.row_bytes);
  }
  shared_.recorder.finished(in ? Unit::host_in : Unit::host_out, work_, start_, end_, end_);
  scoreboard_.end(work_.sequence);
  scoreboard_.done(work_.sequence);
}

}  // namespace tilewave::sim::systemc
