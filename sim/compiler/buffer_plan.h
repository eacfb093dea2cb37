#pragma once

#include <cstdint>
#include <vector>

#include "sim/compiler/bands.h"
#include "sim/compiler/lowering.h"

namespace tilewave::sim {

/// Where each tensor of one pass lies in the unified buffer.
struct BufferPlan {
  std::vector<std::int64_t> address;  ///< by tensor; of input and output: in the first half
  Program::PingPong ping_pong;        ///< half 0: transfers do not overlap with computing
  Bytes peak = 0;
  // Where one image does not fit:
  std::vector<bool> spilled;   ///< by tensor: lies on the host, comes and goes in bands
  std::vector<Bytes> scratch;  ///< by tensor: where, in the host's scratch space
  Bytes scratch_bytes = 0;
  std::vector<StepBands> bands;  ///< by step
};

/// Bytes of the unified buffer that instructions can address.
Bytes buffer_capacity(const Chip& chip);

/// Places the tensors of `images` images: those alive at the same time beside each other, the
/// largest first, each as low as it goes. With `ping_pong`, input and output get two places each.
BufferPlan plan_buffer(const LoweredNetwork& network, std::int64_t images, int element_bytes,
                       bool ping_pong);
/// The same for one image, without the tensors of `spilled` (by tensor), which get no place, and
/// without ping-pong.
BufferPlan plan_resident(const LoweredNetwork& network, int element_bytes,
                         const std::vector<bool>& spilled);

}  // namespace tilewave::sim
