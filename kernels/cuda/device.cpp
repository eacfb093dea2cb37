#include "kernels/cuda/device.h"

#include <cstring>

#include "base/error.h"
#include "kernels/cuda/launch.h"

namespace tilewave::kernels::gpu {
namespace {

// Up to here starting the kernels one by one takes longer than running them.
constexpr std::int64_t kLargestGraphBatch = 64;

}  // namespace

CudaBackend::CudaBackend() : stream_(make_stream()), cublas_(stream_.get()) {}

void* CudaBackend::allocate(std::int64_t bytes) {
  memory_.push_back(device_memory(bytes));
  return memory_.back().get();
}

void CudaBackend::upload(void* to, const void* from, std::int64_t bytes) {
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream()),
      "copying to it");
  check(cudaStreamSynchronize(stream()), "copying to it");
}

void CudaBackend::run(const Work& work, std::int64_t elements) {
  TILEWAVE_CHECK(elements, <=, std::int64_t{INT32_MAX}, "elements of a kernel");
  check(launch(work, static_cast<std::uint32_t>(elements), stream()), "starting a kernel");
}

void CudaBackend::multiply(const Product& product) {
  cublas_.multiply(product);
}

Runner::Runner(CudaBackend& backend, const Network& network)
    : backend_(backend),
      network_(network),
      pixels_(pinned_memory(network.capacity() * network.input_shape().elements())),
      results_(pinned_memory(network.capacity() * network.result_bytes())),
      started_(make_event()),
      ended_(make_event()) {}

const std::byte* Runner::run(std::span<const std::uint8_t> pixels, std::int64_t images) {
  cudaStream_t stream = backend_.stream();
  std::memcpy(pixels_.get(), pixels.data(), pixels.size());
  check(cudaMemcpyAsync(network_.pixels(), pixels_.get(), pixels.size(), cudaMemcpyHostToDevice,
                        stream),
        "copying images to it");
  check(cudaEventRecord(started_.get(), stream), "taking the time");
  start_network(images);
  check(cudaEventRecord(ended_.get(), stream), "taking the time");
  check(cudaMemcpyAsync(results_.get(), network_.results(),
                        static_cast<std::size_t>(images * network_.result_bytes()),
                        cudaMemcpyDeviceToHost, stream),
        "copying results from it");
  check(cudaStreamSynchronize(stream), "running the network");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, started_.get(), ended_.get()), "taking the time");
  device_seconds_ = double{milliseconds} / 1e3;
  return static_cast<const std::byte*>(results_.get());
}

void Runner::start_network(std::int64_t images) {
  const bool full = images == network_.capacity();
  // The first run loads kernels, which a capture must not.
  if (!full || images > kLargestGraphBatch || !has_run_full_) {
    network_.run(images);
    has_run_full_ = has_run_full_ || full;
    return;
  }
  if (graph_ == nullptr) {
    check(cudaStreamBeginCapture(backend_.stream(), cudaStreamCaptureModeThreadLocal),
          "capturing a graph");
    network_.run(images);
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(backend_.stream(), &captured), "capturing a graph");
    const Graph graph(captured);
    cudaGraphExec_t runnable = nullptr;
    check(cudaGraphInstantiateWithFlags(&runnable, graph.get(), 0), "preparing a graph");
    graph_.reset(runnable);
  }
  check(cudaGraphLaunch(graph_.get(), backend_.stream()), "starting a graph");
}

}  // namespace tilewave::kernels::gpu
