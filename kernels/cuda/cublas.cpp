#include "kernels/cuda/cublas.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include "base/error.h"

namespace tilewave::kernels::gpu {
namespace {

constexpr Bytes kWorkspaceBytes = 32 << 20;  // what cuBLAS itself takes on the largest GPUs

/// The functions that are used, by their names in the library.
struct Library {
  decltype(&::cublasCreate_v2) create = nullptr;
  decltype(&::cublasDestroy_v2) destroy = nullptr;
  decltype(&::cublasSetStream_v2) set_stream = nullptr;
  decltype(&::cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&::cublasGetStatusString) status_text = nullptr;
  // The name is overloaded, so its type has to be written out.
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void*, const void*, cudaDataType, int, long long,
                                  const void*, cudaDataType, int, long long, const void*, void*,
                                  cudaDataType, int, long long, int, cublasComputeType_t,
                                  cublasGemmAlgo_t);
  Gemm gemm = nullptr;
  std::string refusal;

  Library() {
    const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    // Never closed: what it set up in the driver lives as long as the process.
    void* library = nullptr;
    for (const std::string& path : {name, TILEWAVE_CUBLAS_DIRECTORY "/" + name}) {
      if (library == nullptr) library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
      refusal = name + " is not to be found";
      return;
    }
    const auto find = [&](auto& function, const char* symbol) {
      void* found = dlsym(library, symbol);
      if (found == nullptr) refusal = name + " lacks " + symbol;
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    find(create, "cublasCreate_v2");
    find(destroy, "cublasDestroy_v2");
    find(set_stream, "cublasSetStream_v2");
    find(set_workspace, "cublasSetWorkspace_v2");
    find(status_text, "cublasGetStatusString");
    find(gemm, "cublasGemmStridedBatchedEx");
  }
};

const Library& library() {
  static const Library opened;
  return opened;
}

void check(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw WorkError("GPU: " + what + ": " + library().status_text(status));
}

/// How cuBLAS names a precision.
struct Types {
  cudaDataType factor, sum;
  cublasComputeType_t compute;
};
Types types_of(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::fp32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case GpuPrecision::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case GpuPrecision::fp16:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case GpuPrecision::int8:
      return {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I};
  }
  throw InternalError("a precision without types");
}

}  // namespace

const std::string& cublas_refusal() {
  return library().refusal;
}

void Cublas::Close::operator()(cublasContext* handle) const {
  library().destroy(handle);
}

Cublas::Cublas(cudaStream_t stream) : workspace_(device_memory(kWorkspaceBytes)) {
  cublasHandle_t handle = nullptr;
  check(library().create(&handle), "starting cuBLAS");
  handle_.reset(handle);
  check(library().set_stream(handle, stream), "giving cuBLAS a stream");
  check(library().set_workspace(handle, workspace_.get(), kWorkspaceBytes),
        "giving cuBLAS a workspace");
}

void Cublas::multiply(const Product& p) const {
  // cuBLAS counts columns first: a row-major matrix is its own transpose there, and
  // sums = rows * weights^T becomes sums^T = (weights^T)^T * rows^T.
  const Types types = types_of(p.precision);
  const auto m = static_cast<int>(p.m);
  const auto n = static_cast<int>(p.n);
  const auto k = static_cast<int>(p.k);
  // Scalars are of the sums' type, and 0 has the same bits in both.
  const float one_real = 1;
  const std::int32_t one_integer = 1;
  const std::int32_t zero = 0;
  const void* one = p.precision == GpuPrecision::int8 ? static_cast<const void*>(&one_integer)
                                                      : static_cast<const void*>(&one_real);
  check(
      library().gemm(handle_.get(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, one, p.weights, types.factor,
                     k, p.n * p.k, p.rows, types.factor, k, p.m * p.k, &zero, p.sums, types.sum, n,
                     p.m * p.n, static_cast<int>(p.groups), types.compute, CUBLAS_GEMM_DEFAULT),
      "multiplying " + std::to_string(p.groups) + " x " + std::to_string(m) + " x " +
          std::to_string(n) + " x " + std::to_string(k));
}

}  // namespace tilewave::kernels::gpu
