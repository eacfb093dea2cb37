#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/cuda/backend.h"
#include "kernels/reference.h"

namespace tilewave::kernels::gpu {

/// A network prepared on a backend, which it keeps using.
class Network {
 public:
  virtual ~Network() = default;
  /// Images that run at once, at most.
  virtual std::int64_t capacity() const = 0;
  /// Where the images have to be, in the backend's memory, when the work is done.
  virtual std::uint8_t* pixels() const = 0;
  virtual const models::Shape& input_shape() const = 0;
  /// Where the results then are, in a form that only `append` knows.
  virtual const void* results() const = 0;
  virtual std::int64_t result_bytes() const = 0;  ///< of one image
  /// Hands the backend the work for so many images.
  virtual void run(std::int64_t images) const = 0;
  /// The results of so many images, now in the host's memory, to the end of the outputs.
  virtual void append(const std::byte* results, std::int64_t images, Outputs& outputs) const = 0;
};

/// `precision` is not int8. The graph must outlive the result.
std::unique_ptr<Network> make_real_network(const models::Graph& graph, GpuPrecision precision,
                                           const Limits& limits, Backend& backend);
/// Throws InputError unless all values have 8 bits at most and no sum can leave 32 bits, which
/// cuBLAS would not have to wrap. The graph must outlive the result.
std::unique_ptr<Network> make_integer_network(const quant::QuantizedGraph& graph,
                                              const Limits& limits, Backend& backend);

}  // namespace tilewave::kernels::gpu
