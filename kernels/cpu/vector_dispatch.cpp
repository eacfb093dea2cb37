#include "kernels/cpu/vector_kernels.h"

namespace tilewave::kernels {

// One per compilation of vector_kernels.cpp.
const VectorKernels& baseline_vector_kernels();
const VectorKernels& avx2_vector_kernels();

const VectorKernels& portable_vector_kernels() {
  return baseline_vector_kernels();
}

const VectorKernels& best_vector_kernels() {
#ifdef TILEWAVE_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return avx2_vector_kernels();
  }
#endif
  return baseline_vector_kernels();
}

}  // namespace tilewave::kernels
