#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

// Owners of CUDA's things, and its errors as ours. Only for code that is built with CUDA.

namespace tilewave::kernels::gpu {

/// Throws WorkError, naming what was done, unless it succeeded.
void check(cudaError_t status, const std::string& what);

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);  // fails only where an earlier call has failed, which was reported
  }
};
using Stream = std::unique_ptr<CUstream_st, Destroy<cudaStreamDestroy>>;
using Event = std::unique_ptr<CUevent_st, Destroy<cudaEventDestroy>>;
using Graph = std::unique_ptr<CUgraph_st, Destroy<cudaGraphDestroy>>;
using RunnableGraph = std::unique_ptr<CUgraphExec_st, Destroy<cudaGraphExecDestroy>>;
using DeviceMemory = std::unique_ptr<void, Destroy<cudaFree>>;
/// Of the host, at a place that does not move: copies to and from it need no detour.
using PinnedMemory = std::unique_ptr<void, Destroy<cudaFreeHost>>;

Stream make_stream();
Event make_event();
DeviceMemory device_memory(std::int64_t bytes);
PinnedMemory pinned_memory(std::int64_t bytes);

}  // namespace tilewave::kernels::gpu
