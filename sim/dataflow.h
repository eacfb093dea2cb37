#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tilewave::sim {

/// Which operand of a multiply stays in the array while the others pass through. What a multiply
/// computes does not depend on it; which shapes it may have and when it does what do. See
/// docs/timing.md.
enum class Dataflow : std::uint8_t { weight_stationary, output_stationary, input_stationary };

/// In the order of Dataflow.
inline constexpr std::array<std::string_view, 3> kDataflowNames = {
    "weight_stationary", "output_stationary", "input_stationary"};

}  // namespace tilewave::sim
