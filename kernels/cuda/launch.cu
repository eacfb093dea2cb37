#include "kernels/cuda/launch.h"

namespace tilewave::kernels::gpu {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kMaxBlocks = 1 << 16;  // of more elements, each thread does several

template <typename Kernel>
__global__ void __launch_bounds__(kThreads)
    for_each_element(Kernel kernel, std::uint32_t elements) {
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < elements;
       i += gridDim.x * kThreads) {
    kernel(i);
  }
}

}  // namespace

cudaError_t launch(const Work& work, std::uint32_t elements, cudaStream_t stream) {
  const std::uint32_t needed = (elements + kThreads - 1) / kThreads;
  const std::uint32_t blocks = needed < kMaxBlocks ? needed : kMaxBlocks;
  std::visit(
      [&](const auto& kernel) {
        for_each_element<<<blocks, kThreads, 0, stream>>>(kernel, elements);
      },
      work);
  return cudaGetLastError();
}

}  // namespace tilewave::kernels::gpu
