#pragma once

#include <cstdint>
#include <vector>

#include "sim/compiler/lowering.h"

namespace tilewave::sim {

/// Where each tensor of one pass lies in the unified buffer.
struct BufferPlan {
  std::vector<std::int64_t> address;  ///< by tensor; of input and output: in the first half
  Program::PingPong ping_pong;        ///< half 0: transfers do not overlap with computing
  Bytes peak = 0;
};

/// Places the tensors of `images` images: those alive at the same time beside each other, the
/// largest first, each as low as it goes. With `ping_pong`, input and output get two places each.
BufferPlan plan_buffer(const LoweredNetwork& network, std::int64_t images, int element_bytes,
                       bool ping_pong);

}  // namespace tilewave::sim
