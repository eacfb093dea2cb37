#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/cublas.h"
#include "kernels/cuda/handles.h"
#include "kernels/cuda/network.h"

namespace tilewave::kernels::gpu {

/// The first GPU: one stream, own kernels, cuBLAS for products.
class CudaBackend final : public Backend {
 public:
  CudaBackend();
  void* allocate(std::int64_t bytes) override;
  void upload(void* to, const void* from, std::int64_t bytes) override;
  void run(const Work& work, std::int64_t elements) override;
  void multiply(const Product& product) override;

  cudaStream_t stream() const { return stream_.get(); }

 private:
  Stream stream_;
  Cublas cublas_;
  std::vector<DeviceMemory> memory_;
};

/// Takes images to a network on a GPU and results back, and the time between.
class Runner {
 public:
  /// Both must outlive it.
  Runner(CudaBackend& backend, const Network& network);
  /// The results of `images` images, valid until the next run.
  const std::byte* run(std::span<const std::uint8_t> pixels, std::int64_t images);
  /// Of the last run, from the images' arrival in the GPU's memory until the results are there.
  double device_seconds() const { return device_seconds_; }

 private:
  void start_network(std::int64_t images);

  CudaBackend& backend_;
  const Network& network_;
  PinnedMemory pixels_, results_;
  Event started_, ended_;
  RunnableGraph graph_;  ///< of a full, small batch, once one has run without
  bool has_run_full_ = false;
  double device_seconds_ = 0;
};

}  // namespace tilewave::kernels::gpu
