#include "sim/systemc/weight_fetcher.h"

namespace tilewave::sim::systemc {
namespace {

MemoryTarget::Traits weight_memory_traits(const Chip& chip) {
  const WeightMemory& memory = chip.weight_memory;
  return {chip.latency_cycles(memory.latency_ns),
          [&chip, &memory](Bytes bytes) { return chip.transfer_cycles(bytes, memory.bandwidth); },
          nullptr};
}

}  // namespace

WeightFetcher::WeightFetcher(const sc_core::sc_module_name& name, Shared& shared, UnitQueue& queue,
                             WeightFifo& fifo)
    : Block(name, shared),
      queue_(queue),
      fifo_(fifo),
      port_("port"),
      memory_("weight_memory", weight_memory_traits(shared.chip)) {
  port_.socket.bind(memory_.socket);
  sensitive << queue.arrived << fifo.changed;
}

void WeightFetcher::step() {
  const Cycles now = current_cycle();
  while (!queue_.empty() && fifo_.has_place() && channel_free_ <= now) start();
  while (!on_the_way_.empty() && on_the_way_.front().arrival <= now) deliver();
  if (channel_free_ > now) wake_at(channel_free_);
  if (!on_the_way_.empty()) wake_at(on_the_way_.front().arrival);
}

void WeightFetcher::start() {
  const Work work = queue_.start_front();
  fifo_.reserve();
  const Tile& tile = *work.operation->tile;
  const Bytes bytes = shared_.chip.tile_bytes(tile.rows, tile.cols);
  const auto address = static_cast<std::uint64_t>(shared_.chip.weight_memory_bytes(tile.offset));
  const MemoryPort::Duration read =
      port_.transport(tlm::TLM_READ_COMMAND, address, {1, bytes, bytes}, nullptr);
  const Cycles now = current_cycle();
  channel_free_ = now + read.total - read.latency;
  on_the_way_.push_back({work, now, channel_free_, now + read.total});
}

void WeightFetcher::deliver() {
  const Fetch fetch = on_the_way_.front();
  on_the_way_.pop_front();
  const Tile& tile = *fetch.work.operation->tile;
  RunCounters& counters = shared_.recorder.counters(*fetch.work.operation);
  counters.bytes.weights += shared_.chip.tile_bytes(tile.rows, tile.cols);
  ++counters.tiles;
  shared_.recorder.finished(Unit::weight_memory, fetch.work, fetch.start, fetch.end, fetch.arrival);
  fifo_.arrive(fetch.work);
}

}  // namespace tilewave::sim::systemc
