#pragma once

#include <cstdint>
#include <vector>

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
  struct Segment {
    std::int64_t begin = 0;  ///< up to the next segment's begin
    Cycles done = 0;
    Cycles read_end = 0;
    Writer writer = Writer::none;
  };

  /// The first segment that begins at `address` or later.
  std::size_t lower_bound(std::int64_t address) const;
  /// Makes a segment begin at `address`; returns its place.
  std::size_t split(std::int64_t address);

  /// Sorted by address. Few, since a write makes one of all that it covers: a flat array is
  /// faster than a tree.
  std::vector<Segment> segments_{{}};
};

}  // namespace tilewave::sim
