#include "sim/timeline/row_kernels.h"

#include "sim/timeline/row_kernels_avx2.h"

namespace tilewave::sim {

const RowKernels& row_kernels() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2 && avx2_row_kernels() != nullptr) return *avx2_row_kernels();
#endif
  return portable_row_kernels();
}

}  // namespace tilewave::sim
