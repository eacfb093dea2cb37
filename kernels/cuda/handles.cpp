#include "kernels/cuda/handles.h"

#include "base/error.h"

namespace tilewave::kernels::gpu {

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  throw WorkError("GPU: " + what + ": " + cudaGetErrorString(status) + " (" +
                  cudaGetErrorName(status) + ")");
}

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return Stream(stream);
}

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "making an event");
  return Event(event);
}

DeviceMemory device_memory(std::int64_t bytes) {
  void* place = nullptr;
  check(cudaMalloc(&place, static_cast<std::size_t>(bytes)),
        "taking " + std::to_string(bytes) + " bytes of its memory");
  return DeviceMemory(place);
}

PinnedMemory pinned_memory(std::int64_t bytes) {
  void* place = nullptr;
  check(cudaMallocHost(&place, static_cast<std::size_t>(bytes)),
        "pinning " + std::to_string(bytes) + " bytes of the host's memory");
  return PinnedMemory(place);
}

}  // namespace tilewave::kernels::gpu
