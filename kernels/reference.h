#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "models/graph.h"
#include "quant/quantized_graph.h"

namespace tilewave::kernels {

/// What a reference path returns for a number of images: the output node's values, before a
/// final Softmax.
struct Outputs {
  std::int64_t classes = 0;
  std::vector<float> real;             ///< [images][classes]; dequantized for integer paths
  std::vector<std::int16_t> integers;  ///< [images][classes]; empty for fp32 paths
};

struct ReferenceOptions {
  int threads = 1;
  std::int64_t batch = 256;   ///< images per call of the kernels
  std::stop_token stop = {};  ///< asked several times a second; then `run` throws Stopped
};

/// One way to run a network natively. Prepared once (weights packed), then run on any number of
/// images; not thread-safe, uses `threads` threads inside, which it keeps.
class Reference {
 public:
  virtual ~Reference() = default;
  /// "cpu fp32 (Eigen)", ...: device, precision, and the library that does the matrix work.
  virtual std::string name() const = 0;
  /// pixels: [images][height][width][channels], real value p / 255. Overwrites `outputs`, whose
  /// memory is kept: on a CPU nothing is allocated once as many images have been run with them.
  virtual void run_into(std::span<const std::uint8_t> pixels, Outputs& outputs) = 0;
  Outputs run(std::span<const std::uint8_t> pixels) {
    Outputs outputs;
    run_into(pixels, outputs);
    return outputs;
  }
  /// Of the last run, the time without copies to and from a device; nothing where there is none.
  virtual std::optional<double> device_seconds() const { return std::nullopt; }
};

/// The fp32 network on the CPU. The graph must outlive the result.
std::unique_ptr<Reference> make_cpu_fp32(const models::Graph& graph, ReferenceOptions options);

/// How the integer matrix products are done; all are exact. packed: our own, for this processor's
/// instructions; baseline: the same for those that all of its kind have. automatic: oneDNN where it
/// is exact, else packed.
enum class IntegerGemm { automatic, onednn, packed, baseline };
/// The quantized network on the CPU, bit for bit as docs/numerics.md (s32 accumulators that wrap).
/// The graph must outlive the result. Throws InputError if `gemm` cannot be exact on this CPU or
/// the scheme asks for other accumulators.
std::unique_ptr<Reference> make_cpu_int8(const quant::QuantizedGraph& graph,
                                         ReferenceOptions options,
                                         IntegerGemm gemm = IntegerGemm::automatic);

}  // namespace tilewave::kernels
