#include <catch2/catch.hpp>

#include "base/error.h"
#include "kernels/gpu.h"
#include "tests/kernels/network_builder.h"
#include "tests/support/random_graph.h"

namespace tilewave::kernels {
namespace {

TEST_CASE("where there is no GPU, one line says why, whatever is asked for") {
  const std::string refusal = gpu_refusal();
  if (refusal.empty()) {
    WARN("there is a GPU here: " << gpu_properties().name);
    return;
  }
  CHECK(refusal.find('\n') == std::string::npos);
  CHECK_THAT(refusal, Catch::Contains("built without CUDA") || Catch::Contains("no CUDA driver") ||
                          Catch::Contains("no CUDA device") ||
                          Catch::Contains("this build needs") || Catch::Contains("libcublas"));
  CHECK(gpu_refusal() == refusal);
  const auto builder = tests::every_operation(4);
  const auto integers = test::quantize_randomly(builder.graph, {}, 5);
  CHECK_THROWS_WITH(gpu_properties(), "GPU: " + refusal);
  CHECK_THROWS_AS(gpu_properties(), InputError);
  for (const auto precision : {GpuPrecision::fp32, GpuPrecision::tf32, GpuPrecision::fp16}) {
    CHECK_THROWS_WITH(make_gpu_real(builder.graph, precision, {}), "GPU: " + refusal);
  }
  CHECK_THROWS_WITH(make_gpu_int8(integers, {}), "GPU: " + refusal);
}

TEST_CASE("a GPU's peak follows from its multiprocessors and clock, where that is known") {
  GpuProperties h100;
  h100.compute_major = 9;
  h100.multiprocessors = 132;
  h100.clock_hz = 1.83e9;
  // NVIDIA's figures for the H100 SXM: 989 TFLOPS in fp16, half of that in TF32, 1979 TOPS in int8.
  CHECK(*h100.peak(GpuPrecision::fp16) == Approx(989e12).epsilon(0.01));
  CHECK(*h100.peak(GpuPrecision::tf32) == Approx(494e12).epsilon(0.01));
  CHECK(*h100.peak(GpuPrecision::int8) == Approx(1979e12).epsilon(0.01));
  GpuProperties turing = h100;
  turing.compute_major = 7;
  turing.compute_minor = 5;
  CHECK_FALSE(turing.peak(GpuPrecision::tf32).has_value());
  GpuProperties unknown = h100;
  unknown.compute_minor = 7;
  CHECK_FALSE(unknown.peak(GpuPrecision::fp32).has_value());
}

}  // namespace
}  // namespace tilewave::kernels
