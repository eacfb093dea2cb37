#pragma once

namespace tilewave::quant {

/// What an addition does whose result the accumulators' width does not hold.
enum class Overflow { wrap, saturate };

/// Widths of accumulators that can be simulated.
inline constexpr int kMinAccumulatorBits = 12;
inline constexpr int kMaxAccumulatorBits = 32;

}  // namespace tilewave::quant
