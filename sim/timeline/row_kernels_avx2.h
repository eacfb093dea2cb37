#pragma once

#include "sim/timeline/row_kernels.h"

namespace tilewave::sim {

/// The build for processors with AVX2; null where the compiler cannot make one. The caller asks
/// the processor first.
const RowKernels* avx2_row_kernels();

}  // namespace tilewave::sim
