#pragma once

#include <deque>

#include "sim/systemc/block.h"
#include "sim/systemc/memory_port.h"
#include "sim/systemc/unit_queue.h"
#include "sim/systemc/weight_fifo.h"

namespace tilewave::sim::systemc {

/// Fetches tiles from the weight memory's one channel into the FIFO. Since weights never change,
/// what the FIFO holds are references to tiles.
class WeightFetcher final : public Block {
 public:
  WeightFetcher(const sc_core::sc_module_name& name, Shared& shared, UnitQueue& queue,
                WeightFifo& fifo);

  /// Tiles that have been asked for and have not arrived.
  std::int64_t on_the_way() const { return static_cast<std::int64_t>(on_the_way_.size()); }

 private:
  struct Fetch {
    Work work;
    Cycles start, end, arrival;
  };
  void step() override;
  void start();
  void deliver();

  UnitQueue& queue_;
  WeightFifo& fifo_;
  MemoryPort port_;
  MemoryTarget memory_;
  Cycles channel_free_ = 0;
  std::deque<Fetch> on_the_way_;
};

}  // namespace tilewave::sim::systemc
