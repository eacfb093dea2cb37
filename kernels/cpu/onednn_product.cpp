#include "base/error.h"
#include "kernels/cpu/integer_product.h"

#ifdef TILEWAVE_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace tilewave::kernels {

#ifdef TILEWAVE_ONEDNN
namespace {

/// The network's threads are ours; oneDNN's OpenMP adds none of its own while this lives.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMpThread() { omp_set_num_threads(before_); }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

class OnednnProduct final : public IntegerProduct {
 public:
  explicit OnednnProduct(const ProductWeights& weights)
      : n_(weights.n), k_(weights.k), is_signed_(weights.format.is_signed) {
    for (const std::int16_t w : weights.weight) weight_.push_back(static_cast<std::int8_t>(w));
  }

  void multiply(const std::int16_t* a, std::int64_t m, std::int32_t* acc, std::int64_t acc_stride,
                ProductScratch& scratch) const override {
    scratch.bytes.resize(static_cast<std::size_t>(m * k_));
    scratch.integers.resize(static_cast<std::size_t>(m * n_));
    for (std::size_t i = 0; i < scratch.bytes.size(); ++i) {
      scratch.bytes[i] = static_cast<std::int8_t>(a[i]);
    }
    std::int32_t* sum = scratch.integers.data();
    const OneOpenMpThread one_thread;
    const std::int32_t no_offset = 0;
    dnnl_status_t status = dnnl_success;
    if (is_signed_) {
      status = dnnl_gemm_s8s8s32('N', 'T', 'F', m, n_, k_, 1, scratch.bytes.data(), k_, 0,
                                 weight_.data(), k_, 0, 0, sum, n_, &no_offset);
    } else {
      // The bytes are the same; only oneDNN reads them without a sign.
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.bytes.data());
      status = dnnl_gemm_u8s8s32('N', 'T', 'F', m, n_, k_, 1, bytes, k_, 0, weight_.data(), k_, 0,
                                 0, sum, n_, &no_offset);
    }
    TILEWAVE_CHECK(status, ==, dnnl_success, "oneDNN's integer product failed");
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t n = 0; n < n_; ++n) {
        std::int32_t& total = acc[row * acc_stride + n];
        total = static_cast<std::int32_t>(static_cast<std::uint32_t>(total) +
                                          static_cast<std::uint32_t>(sum[row * n_ + n]));
      }
    }
  }

 private:
  std::int64_t n_, k_;
  bool is_signed_;
  std::vector<std::int8_t> weight_;  ///< [n][k]
};

}  // namespace

const char* onednn_refusal() {
  // Without VNNI (which AMX implies) oneDNN adds pairs of products in 16 bits that saturate.
  const unsigned isa = dnnl_get_effective_cpu_isa();
  const bool has_vnni = (isa & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni;
  return has_vnni ? "" : "oneDNN's integer products are not exact without AVX512-VNNI";
}

std::unique_ptr<IntegerProduct> make_onednn_product(const ProductWeights& weights) {
  return std::make_unique<OnednnProduct>(weights);
}

#else

const char* onednn_refusal() {
  return "tilewave was built without oneDNN";
}

std::unique_ptr<IntegerProduct> make_onednn_product(const ProductWeights&) {
  throw InternalError(onednn_refusal());
}

#endif

}  // namespace tilewave::kernels
