#pragma once

#include <cstdint>
#include <map>

#include "base/units.h"
#include "sim/isa/decoder.h"

namespace tilewave::sim {

/// Who writes a range: a stall is named after the writer that is waited for.
enum class Writer : std::uint8_t { none, host, activation, matrix };

/// When the ranges of a memory were last written and read, so that a reader can wait for the
/// writers before it and a writer for the readers and writers before it. Accesses are registered
/// in program order.
class RangeTracker {
 public:
  struct Ready {
    Cycles host = 0;        ///< what hosts wrote is complete
    Cycles activation = 0;  ///< what the activation unit wrote is complete
    Cycles matrix = 0;      ///< what the matrix unit wrote is complete
    Cycles read = 0;        ///< all reads have ended
    bool written = true;    ///< every entry was written before
  };

  /// What holds for `span` now, added to `ready`.
  void query(Span span, Ready& ready) const;
  void read(Span span, Cycles end);
  void write(Span span, Cycles done, Writer writer);

 private:
  struct State {
    Cycles done = 0;
    Cycles read_end = 0;
    Writer writer = Writer::none;
    bool operator==(const State&) const = default;
  };
  using Map = std::map<std::int64_t, State>;

  Map::iterator split(std::int64_t address);

  /// A state holds from its key up to the next key.
  Map states_{{0, State{}}};
};

}  // namespace tilewave::sim
