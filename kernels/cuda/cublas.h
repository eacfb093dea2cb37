#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/handles.h"

struct cublasContext;

namespace tilewave::kernels::gpu {

/// cuBLAS, opened when it is first asked for and not when the program starts: it is half a
/// gigabyte, and most runs need no GPU.
/// Why it cannot be opened; empty if it can.
const std::string& cublas_refusal();

/// Products on one stream, with a workspace of its own, so that they can be captured in a graph.
class Cublas {
 public:
  explicit Cublas(cudaStream_t stream);
  void multiply(const Product& product) const;

 private:
  struct Close {
    void operator()(cublasContext* handle) const;
  };
  DeviceMemory workspace_;
  std::unique_ptr<cublasContext, Close> handle_;
};

}  // namespace tilewave::kernels::gpu
