#include <array>

#include "kernels/gpu.h"

namespace tilewave::kernels {
namespace {

/// Multiply-adds of one multiprocessor per cycle, dense, sums in fp32 or s32. 0: not known.
struct PerCycle {
  int major, minor;
  double fp32, tf32, fp16, int8;
};
// From NVIDIA's architecture white papers: Turing TU102 (2018), A100 (2020), GA102 (2020), Ada
// (2022), H100 (2022). Turing has no TF32.
constexpr std::array<PerCycle, 5> kPerCycle = {{
    {7, 5, 64, 0, 512, 1024},
    {8, 0, 64, 512, 1024, 2048},
    {8, 6, 128, 128, 256, 1024},
    {8, 9, 128, 128, 256, 1024},
    {9, 0, 128, 1024, 2048, 4096},
}};

double of(const PerCycle& rates, GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::fp32:
      return rates.fp32;
    case GpuPrecision::tf32:
      return rates.tf32;
    case GpuPrecision::fp16:
      return rates.fp16;
    case GpuPrecision::int8:
      return rates.int8;
  }
  return 0;
}

}  // namespace

std::optional<double> GpuProperties::peak(GpuPrecision precision) const {
  for (const PerCycle& rates : kPerCycle) {
    if (rates.major != compute_major || rates.minor != compute_minor) continue;
    const double multiply_adds = of(rates, precision);
    if (multiply_adds == 0) return std::nullopt;
    return 2 * multiply_adds * static_cast<double>(multiprocessors) * clock_hz;
  }
  return std::nullopt;
}

}  // namespace tilewave::kernels
