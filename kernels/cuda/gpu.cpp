#include "kernels/gpu.h"

#include <cuda_runtime_api.h>

#include "base/error.h"
#include "kernels/cpu/batches.h"
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/network.h"

namespace tilewave::kernels {
namespace {

using gpu::check;

std::int64_t attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "asking for its properties");
  return value;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void require_gpu() {
  const std::string refusal = gpu_refusal();
  if (!refusal.empty()) throw InputError("GPU", refusal);
}

/// A network, its place on the GPU, and the way of images there and back.
class GpuReference final : public Reference {
 public:
  /// `make` makes the network on the backend.
  template <typename Make>
  GpuReference(std::string name, const Make& make)
      : name_(std::move(name)), network_(make(backend_)), runner_(backend_, *network_) {}

  std::string name() const override { return name_; }

  void run_into(std::span<const std::uint8_t> pixels, Outputs& outputs) override {
    const std::int64_t images = count_images(pixels, network_->input_shape());
    const std::int64_t size = network_->input_shape().elements();
    outputs.real.clear();
    outputs.integers.clear();
    device_seconds_ = 0;
    for (std::int64_t first = 0; first < images; first += network_->capacity()) {
      const std::int64_t count = std::min(network_->capacity(), images - first);
      const std::byte* results = runner_.run(pixels.subspan(static_cast<std::size_t>(first * size),
                                                            static_cast<std::size_t>(count * size)),
                                             count);
      device_seconds_ += runner_.device_seconds();
      network_->append(results, count, outputs);
    }
  }

  std::optional<double> device_seconds() const override { return device_seconds_; }

 private:
  std::string name_;
  gpu::CudaBackend backend_;
  std::unique_ptr<gpu::Network> network_;
  gpu::Runner runner_;
  double device_seconds_ = 0;
};

}  // namespace

std::string gpu_refusal() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    return "no CUDA driver on this machine";
  }
  check(cudaRuntimeGetVersion(&runtime), "asking for CUDA's version");
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();  // takes the error away from the next call
  if (status == cudaErrorInsufficientDriver) {
    return "the driver is for CUDA " + version_text(driver) + ", this build needs " +
           version_text(runtime);
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    return "no CUDA device on this machine";
  }
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return gpu::cublas_refusal();
}

GpuProperties gpu_properties() {
  require_gpu();
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "asking for its properties");
  GpuProperties properties;
  properties.name = device.name;
  properties.compute_major = device.major;
  properties.compute_minor = device.minor;
  properties.multiprocessors = device.multiProcessorCount;
  properties.clock_hz = 1e3 * static_cast<double>(attribute(cudaDevAttrClockRate));
  const auto memory_hz = 1e3 * static_cast<double>(attribute(cudaDevAttrMemoryClockRate));
  const auto bits = static_cast<double>(attribute(cudaDevAttrGlobalMemoryBusWidth));
  properties.bytes_per_second = 2 * memory_hz * bits / 8;
  return properties;
}

std::unique_ptr<Reference> make_gpu_real(const models::Graph& graph, GpuPrecision precision,
                                         ReferenceOptions options) {
  validate(options);
  TILEWAVE_CHECK((precision != GpuPrecision::int8), ==, true, "a precision of real numbers");
  require_gpu();
  if (precision == GpuPrecision::tf32 && gpu_properties().compute_major < 8) {
    throw InputError("GPU", "this one has no TF32", "compute capability 8.0 or higher");
  }
  const std::string name = precision == GpuPrecision::fp32   ? "gpu fp32 (cuBLAS)"
                           : precision == GpuPrecision::tf32 ? "gpu tf32 (cuBLAS)"
                                                             : "gpu fp16 (cuBLAS)";
  return std::make_unique<GpuReference>(name, [&](gpu::Backend& backend) {
    return gpu::make_real_network(graph, precision, {.batch = options.batch}, backend);
  });
}

std::unique_ptr<Reference> make_gpu_int8(const quant::QuantizedGraph& graph,
                                         ReferenceOptions options) {
  validate(options);
  check_accumulators(graph.scheme);
  require_gpu();
  return std::make_unique<GpuReference>("gpu int8 (cuBLAS)", [&](gpu::Backend& backend) {
    return gpu::make_integer_network(graph, {.batch = options.batch}, backend);
  });
}

}  // namespace tilewave::kernels
