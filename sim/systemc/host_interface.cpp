#include "sim/systemc/host_interface.h"

#include <algorithm>

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

MemoryTarget::Traits link_traits(const Chip& chip, HostMemory& host) {
  return {chip.latency_cycles(chip.host_link.latency_us * 1000),
          [&chip](Bytes bytes) { return chip.transfer_cycles(bytes, chip.host_link.bandwidth); },
          [&host](std::uint64_t address, std::int64_t bytes) { return host.find(address, bytes); }};
}

MemoryTarget::Traits buffer_traits(UnifiedBuffer& buffer) {
  return {0, [&buffer](Bytes bytes) { return buffer.port_cycles(bytes); },
          [&buffer](std::uint64_t address, std::int64_t bytes) {
            return buffer.memory.find(static_cast<std::int64_t>(address), bytes);
          }};
}

}  // namespace

HostMemory::HostMemory(const Program& program, const std::vector<std::int16_t>& inputs,
                       std::int64_t launches)
    : program_(program),
      inputs_(inputs),
      launches_(launches),
      input_(launch_bytes(program, program.input), program.activation_format),
      output_(launch_bytes(program, program.output), program.activation_format),
      scratch_(scratch_bytes_used({decode_program(program, 0), decode_program(program, 1)}),
               program.activation_format) {
  if (inputs.empty()) return;
  outputs_.resize(
      static_cast<std::size_t>(program.output.layout.shape.elements() * program.batch * launches));
}

std::uint64_t HostMemory::address_of(HostSpace space, std::int32_t launch,
                                     std::int64_t offset) const {
  const Bytes inputs = input_.bytes() * launches_;
  const Bytes outputs = output_.bytes() * launches_;
  switch (space) {
    case HostSpace::input:
      return static_cast<std::uint64_t>(input_.bytes() * launch + offset);
    case HostSpace::output:
      return static_cast<std::uint64_t>(inputs + output_.bytes() * launch + offset);
    default:
      return static_cast<std::uint64_t>(inputs + outputs + offset);
  }
}

std::uint8_t* HostMemory::find(std::uint64_t address, std::int64_t bytes) {
  auto at = static_cast<std::int64_t>(address);
  if (at < input_.bytes() * launches_) {
    const auto launch = static_cast<std::int32_t>(at / input_.bytes());
    if (launch != input_launch_) load_inputs(launch);
    return input_.find(at % input_.bytes(), bytes);
  }
  at -= input_.bytes() * launches_;
  if (at < output_.bytes() * launches_) {
    const auto launch = static_cast<std::int32_t>(at / output_.bytes());
    if (launch != output_launch_) save_outputs();
    output_launch_ = launch;
    return output_.find(at % output_.bytes(), bytes);
  }
  return scratch_.find(at - output_.bytes() * launches_, bytes);
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
                     UnitQueue& queue, Scoreboard& scoreboard, const HostMemory& host)
    : Block(name, shared),
      host_port("host_port"),
      buffer_port("buffer_port"),
      direction_(direction),
      queue_(queue),
      scoreboard_(scoreboard),
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
  const Instruction& i = work.operation->instruction;
  const bool in = direction_ == Direction::in;
  const Burst on_host{i.rows, i.row_bytes, i.stride};
  const Burst on_chip{i.rows, i.row_bytes, i.stride_b};
  if (shared_.with_values) bytes_.resize(static_cast<std::size_t>(on_host.bytes()));
  std::uint8_t* const data = shared_.with_values ? bytes_.data() : nullptr;
  const std::uint64_t host_address = host_.address_of(i.space, work.launch, i.host);
  MemoryPort::Duration link{}, port{};
  if (in) {
    link = host_port.transport(tlm::TLM_READ_COMMAND, host_address, on_host, data);
    port = buffer_port.transport(tlm::TLM_WRITE_COMMAND, i.unified_buffer, on_chip, data);
  } else {
    port = buffer_port.transport(tlm::TLM_READ_COMMAND, i.unified_buffer, on_chip, data);
    link = host_port.transport(tlm::TLM_WRITE_COMMAND, host_address, on_host, data);
  }
  // The link and the buffer's port pass the bytes on to each other; the slower one sets the pace.
  end_ = start_ + std::max(link.total, link.latency + port.total);
}

void DmaEngine::finish() {
  is_busy_ = false;
  const Instruction& i = work_.operation->instruction;
  const Bytes bytes = Bytes{i.rows} * i.row_bytes;
  BytesMoved& moved = shared_.recorder.counters(*work_.operation).bytes;
  const bool in = direction_ == Direction::in;
  (in ? moved.host_in : moved.host_out) += bytes;
  (in ? moved.unified_buffer_write : moved.unified_buffer_read) += bytes;
  shared_.recorder.finished(in ? Unit::host_in : Unit::host_out, work_, start_, end_, end_);
  scoreboard_.end(work_.sequence);
  scoreboard_.done(work_.sequence);
}

HostInterface::HostInterface(const sc_core::sc_module_name& name, Shared& shared,
                             UnitQueues& queues, Scoreboard& scoreboard, UnifiedBuffer& buffer,
                             HostMemory& host)
    : sc_core::sc_module(name),
      in_("in", shared, DmaEngine::Direction::in, queues.host_in, scoreboard, host),
      out_("out", shared, DmaEngine::Direction::out, queues.host_out, scoreboard, host),
      link_in_("link_in", link_traits(shared.chip, host)),
      link_out_("link_out", link_traits(shared.chip, host)),
      buffer_in_("buffer_in", buffer_traits(buffer)),
      buffer_out_("buffer_out", buffer_traits(buffer)) {
  in_.host_port.socket.bind(link_in_.socket);
  in_.buffer_port.socket.bind(buffer_in_.socket);
  out_.host_port.socket.bind(link_out_.socket);
  out_.buffer_port.socket.bind(buffer_out_.socket);
}

}  // namespace tilewave::sim::systemc
