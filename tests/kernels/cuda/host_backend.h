#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/matrix.h"
#include "kernels/cuda/network.h"

namespace tilewave::tests {

/// Runs a GPU's kernels on the host, element by element, and products as plain sums. Memory starts
/// as garbage, as a GPU's does.
class HostBackend final : public kernels::gpu::Backend {
 public:
  void* allocate(std::int64_t bytes) override {
    constexpr std::align_val_t kAlignment{256};
    void* place = ::operator new(static_cast<std::size_t>(bytes), kAlignment);
    memory_.emplace_back(place);
    std::memset(place, 0x7b, static_cast<std::size_t>(bytes));
    return place;
  }

  void upload(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  void run(const kernels::gpu::Work& work, std::int64_t elements) override {
    TILEWAVE_CHECK(elements, <, std::int64_t{1} << 31, "elements of a kernel");
    // Backwards: the order must not matter.
    std::visit(
        [&](const auto& kernel) {
          for (std::int64_t i = elements - 1; i >= 0; --i) kernel(static_cast<std::uint32_t>(i));
        },
        work);
  }

  void multiply(const kernels::gpu::Product& p) override {
    using kernels::GpuPrecision;
    ++products;
    TILEWAVE_CHECK(p.m % kernels::gpu::kRowMultiple, ==, 0, "rows of a product");
    TILEWAVE_CHECK(p.n % kernels::gpu::kChannelMultiple, ==, 0, "channels of a product");
    if (p.precision == GpuPrecision::int8) {
      multiply_as<std::int8_t, std::int32_t, std::uint32_t>(p);
    } else if (p.precision == GpuPrecision::fp16) {
      multiply_as<kernels::gpu::Half, float, double>(p);
    } else {
      multiply_as<float, float, double>(p);
    }
  }

  std::int64_t products = 0;

 private:
  struct Release {
    void operator()(void* place) const { ::operator delete (place, std::align_val_t{256}); }
  };

  static std::uint32_t factor(std::int8_t value) { return static_cast<std::uint32_t>(value); }
  template <typename T>
  static double factor(T value) {
    return double{kernels::gpu::to_float(value)};
  }

  template <typename T, typename Sum, typename Accumulator>
  static void multiply_as(const kernels::gpu::Product& p) {
    TILEWAVE_CHECK(p.k % kernels::gpu::kVector<T>, ==, 0, "values in a row");
    const auto* rows = static_cast<const T*>(p.rows);
    const auto* weights = static_cast<const T*>(p.weights);
    auto* sums = static_cast<Sum*>(p.sums);
    for (std::int64_t group = 0; group < p.groups; ++group) {
      for (std::int64_t m = 0; m < p.m; ++m) {
        const T* row = rows + (group * p.m + m) * p.k;
        for (std::int64_t n = 0; n < p.n; ++n) {
          const T* weight = weights + (group * p.n + n) * p.k;
          Accumulator sum = 0;
          for (std::int64_t k = 0; k < p.k; ++k) sum += factor(row[k]) * factor(weight[k]);
          sums[(group * p.m + m) * p.n + n] = static_cast<Sum>(sum);
        }
      }
    }
  }

  std::vector<std::unique_ptr<void, Release>> memory_;
};

/// The network's outputs for whole images, in batches of its capacity.
inline kernels::Outputs outputs_of(const kernels::gpu::Network& network,
                                   const std::vector<std::uint8_t>& pixels) {
  kernels::Outputs outputs;
  const std::int64_t size = network.input_shape().elements();
  const std::int64_t images = static_cast<std::int64_t>(pixels.size()) / size;
  for (std::int64_t first = 0; first < images; first += network.capacity()) {
    const std::int64_t count = std::min(network.capacity(), images - first);
    std::memcpy(network.pixels(), pixels.data() + first * size,
                static_cast<std::size_t>(count * size));
    network.run(count);
    network.append(static_cast<const std::byte*>(network.results()), count, outputs);
  }
  return outputs;
}

}  // namespace tilewave::tests
