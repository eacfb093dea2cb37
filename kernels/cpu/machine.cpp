#include "kernels/cpu/machine.h"

#include <chrono>
#include <functional>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "kernels/cpu/integer_product.h"
#include "kernels/cpu/vector_kernels.h"

namespace tilewave::kernels {
namespace {

constexpr std::int64_t kSide = 256;  // 256 KiB a matrix of fp32
constexpr double kOperations = 2.0 * kSide * kSide * kSide;
constexpr std::int64_t kTriad = std::int64_t{8} << 20;  // 64 MiB an array

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best rate of several runs of `amount`: what disturbs a run only slows it down.
double best_rate(double amount, double seconds, const std::function<void()>& work) {
  work();
  double rate = 0;
  for (double spent = 0; spent < seconds || rate == 0;) {
    const double took = seconds_of(work);
    spent += took;
    rate = std::max(rate, amount / took);
  }
  return rate;
}

/// Products per thread and run: long enough for the start of threads not to count.
constexpr int kProducts = 20;

}  // namespace

double measured_fp32_peak(int threads, double seconds) {
  const std::vector<float> a(kSide * kSide, 0.5F);
  const std::vector<float> weights(kSide * kSide, 0.25F);
  std::vector<Line> b(kSide * kSide / kLineFloats);
  best_vector_kernels().pack(weights.data(), kSide, kSide, b[0].values);
  struct Mine {
    std::vector<float> sums = std::vector<float>(kSide * kSide);
    std::vector<float> scratch = std::vector<float>(kSide * kRealBlock);
  };
  std::vector<Mine> mine(static_cast<std::size_t>(threads));
  return best_rate(kOperations * kProducts * threads, seconds, [&] {
    parallel_for(threads, threads, [&](std::int64_t thread) {
      Mine& own = mine[static_cast<std::size_t>(thread)];
      RealProduct product{a.data(), b[0].values, own.sums.data(), own.scratch.data()};
      product.m = product.n = product.k = product.end = kSide;
      product.a_stride = product.c_stride = kSide;
      for (int i = 0; i < kProducts; ++i) best_vector_kernels().multiply(product);
    });
  });
}

double measured_int8_peak(int threads, double seconds) {
  std::vector<std::int16_t> values(kSide * kSide);
  std::iota(values.begin(), values.end(), std::int16_t{0});
  for (std::int16_t& value : values) value = static_cast<std::int16_t>(value % 100);
  const quant::Format format{8, true, false};
  const std::vector<std::int32_t> bias(kSide);
  const ProductWeights weights{values, bias, 1, kSide, format, {8, true, true}};
  const auto product = *onednn_refusal() == '\0'
                           ? make_onednn_product(weights)
                           : make_packed_product(weights, best_vector_kernels());
  std::vector<const std::int16_t*> rows;
  for (std::int64_t row = 0; row < kSide; ++row) rows.push_back(values.data() + row * kSide);
  const std::vector<std::int64_t> runs{0};
  struct Mine {
    std::vector<std::int32_t> sums = std::vector<std::int32_t>(kSide * kSide);
    ProductScratch scratch;
  };
  std::vector<Mine> mine(static_cast<std::size_t>(threads));
  return best_rate(kOperations * kProducts * threads, seconds, [&] {
    parallel_for(threads, threads, [&](std::int64_t thread) {
      Mine& own = mine[static_cast<std::size_t>(thread)];
      for (int i = 0; i < kProducts; ++i) {
        product->multiply({rows, runs}, {0, kSide}, own.sums.data(), kSide, own.scratch);
      }
    });
  });
}

double measured_bandwidth(int threads, double seconds) {
  std::vector<double> a(kTriad), b(kTriad, 1), c(kTriad, 2);
  const std::int64_t share = (kTriad + threads - 1) / threads;
  return best_rate(3.0 * sizeof(double) * kTriad, seconds, [&] {
    parallel_for(threads, threads, [&](std::int64_t thread) {
      const std::int64_t end = std::min(kTriad, (thread + 1) * share);
      double* __restrict to = a.data();
      const double* __restrict first = b.data();
      const double* __restrict second = c.data();
      for (std::int64_t i = thread * share; i < end; ++i) to[i] = first[i] + 3 * second[i];
    });
  });
}

}  // namespace tilewave::kernels
