#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/backend.h"

namespace tilewave::kernels::gpu {

/// Starts a kernel on the stream.
cudaError_t launch(const Work& work, std::uint32_t elements, cudaStream_t stream);

}  // namespace tilewave::kernels::gpu
