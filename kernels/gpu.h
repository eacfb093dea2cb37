#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/reference.h"

namespace tilewave::kernels {

/// fp32: IEEE's, TF32 off. tf32: fp32 tensors whose products are of TF32. fp16: fp16 tensors, fp32
/// sums. int8: as docs/numerics.md.
enum class GpuPrecision : std::uint8_t { fp32, tf32, fp16, int8 };

/// Why there is no GPU to run on, in one line; empty if there is one.
std::string gpu_refusal();

/// What the driver tells of the GPU, and the peaks that follow from it.
struct GpuProperties {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  std::int64_t multiprocessors = 0;
  double clock_hz = 0;          ///< the highest of the multiprocessors
  double bytes_per_second = 0;  ///< of the memory: its clock, twice per cycle, times its width
  /// Operations per second, two per multiply-add: multiprocessors * clock * operations that one
  /// does per cycle, dense. Nothing where that is not known for the compute capability.
  std::optional<double> peak(GpuPrecision precision) const;
};
/// Throws InputError with gpu_refusal() if there is no GPU.
GpuProperties gpu_properties();

/// The fp32 network on the GPU, through cuBLAS; `precision` is not int8. The graph must outlive
/// the result. Throws InputError where there is no GPU or a network is too large for this path,
/// WorkError where CUDA fails.
std::unique_ptr<Reference> make_gpu_real(const models::Graph& graph, GpuPrecision precision,
                                         ReferenceOptions options);
/// The quantized network, bit for bit as make_cpu_int8. Throws as make_gpu_real does, and
/// InputError for formats of more than 8 bits.
std::unique_ptr<Reference> make_gpu_int8(const quant::QuantizedGraph& graph,
                                         ReferenceOptions options);

}  // namespace tilewave::kernels
