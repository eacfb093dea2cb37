#pragma once

#include <cstdint>
#include <deque>
#include <systemc>

#include "sim/systemc/stream.h"

namespace tilewave::sim::systemc {

/// The FIFO of weight tiles. A place is reserved when a fetch starts and given back when the tile
/// has gone into the array.
class WeightFifo final : public sc_core::sc_module {
 public:
  WeightFifo(const sc_core::sc_module_name& name, std::int64_t places)
      : sc_core::sc_module(name), free_places_(places) {}

  bool has_place() const { return free_places_ > 0; }
  void reserve() { --free_places_; }
  /// `read_weights` is what the tile was fetched by.
  void arrive(const Work& read_weights) {
    tiles_.push_back(read_weights);
    ++arrived_;
    changed.notify(sc_core::SC_ZERO_TIME);
  }

  bool has_tile() const { return !tiles_.empty(); }
  const Work& front() const { return tiles_.front(); }
  /// The first tile goes to the array; its place stays its own until it is given back.
  void take() { tiles_.pop_front(); }
  void give_place_back() {
    ++free_places_;
    changed.notify(sc_core::SC_ZERO_TIME);
  }
  std::int64_t tiles() const { return static_cast<std::int64_t>(tiles_.size()); }
  /// Tiles that have arrived since the start.
  std::int64_t arrived() const { return arrived_; }

  sc_core::sc_event changed;

 private:
  std::int64_t free_places_;
  std::int64_t arrived_ = 0;
  std::deque<Work> tiles_;
};

}  // namespace tilewave::sim::systemc
