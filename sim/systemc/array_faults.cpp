#include "sim/systemc/array_faults.h"

#include <cmath>

namespace tilewave::sim::systemc {

ArrayFaults::ArrayFaults(const Chip& chip, const Program& program, const FaultOptions& options)
    : cols_(chip.array.cols), rate_(options.rate), random_(options.seed) {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    formats_[i] = register_format(chip, program, static_cast<Register>(i));
    bits_per_pe_ += formats_[i].bits;
  }
  array_bits_ = chip.array.rows * chip.array.cols * bits_per_pe_;
  for (const StuckBit& fault : options.stuck) {
    stuck_[static_cast<std::size_t>(fault.reg)].push_back(fault);
  }
  if (rate_ > 0) draw_next();
}

void ArrayFaults::begin_clock(Cycles cycle) {
  cycle_ = cycle;
  for (auto& flips : flips_) flips.clear();
  if (rate_ == 0) return;
  for (; to_next_flip_ < 1; draw_next()) draw_place();
  to_next_flip_ -= 1;
}

/// In (0, 1). The library's distributions differ from one implementation to the next.
double ArrayFaults::random_unit() {
  return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53;
}

/// Independent events at a constant rate are exponentially far apart.
void ArrayFaults::draw_next() {
  to_next_flip_ -= std::log(random_unit()) / rate_;
}

void ArrayFaults::draw_place() {
  const auto drawn = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(array_bits_));
  const std::int64_t pe = drawn / bits_per_pe_;
  int bit = static_cast<int>(drawn % bits_per_pe_);
  std::size_t kind = 0;
  while (bit >= formats_[kind].bits) bit -= formats_[kind++].bits;
  flips_[kind].push_back({pe / cols_, pe % cols_, bit});
}

}  // namespace tilewave::sim::systemc
