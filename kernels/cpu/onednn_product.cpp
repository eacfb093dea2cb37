#include <algorithm>

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
      : run_length_(weights.run_length),
        k_(weights.runs * weights.run_length),
        is_signed_(weights.format.is_signed),
        bias_(weights.bias.begin(), weights.bias.end()) {
    for (const std::int16_t w : weights.weight) weight_.push_back(static_cast<std::int8_t>(w));
  }

  void multiply(const FactorRows& factors, Range channels, std::int32_t* sums,
                std::int64_t sums_stride, ProductScratch& scratch) const override {
    const auto m = static_cast<std::int64_t>(factors.rows.size());
    const std::int64_t n = channels.end - channels.first;
    gather(factors, scratch.bytes);
    const std::int8_t* weight = weight_.data() + channels.first * k_;
    const std::int32_t* bias = bias_.data() + channels.first;
    std::int32_t* c = sums + channels.first;
    for (std::int64_t row = 0; row < m; ++row) std::copy_n(bias, n, c + row * sums_stride);
    const OneOpenMpThread one_thread;
    const std::int32_t no_offset = 0;
    dnnl_status_t status = dnnl_success;
    if (is_signed_) {
      status = dnnl_gemm_s8s8s32('N', 'T', 'F', m, n, k_, 1, scratch.bytes.data(), k_, 0, weight,
                                 k_, 0, 1, c, sums_stride, &no_offset);
    } else {
      // The bytes are the same; only oneDNN reads them without a sign.
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.bytes.data());
      status = dnnl_gemm_u8s8s32('N', 'T', 'F', m, n, k_, 1, bytes, k_, 0, weight, k_, 0, 1, c,
                                 sums_stride, &no_offset);
    }
    TILEWAVE_CHECK(status, ==, dnnl_success, "oneDNN's integer product failed");
  }

 private:
  /// The factors as oneDNN takes them: [row][k], packed.
  void gather(const FactorRows& factors, std::vector<std::int8_t>& bytes) const {
    const std::size_t size = factors.rows.size() * static_cast<std::size_t>(k_);
    if (bytes.size() < size) bytes.resize(size);
    std::int8_t* to = bytes.data();
    for (const std::int16_t* row : factors.rows) {
      for (const std::int64_t run : factors.runs) {
        for (std::int64_t i = 0; i < run_length_; ++i) {
          *to++ = static_cast<std::int8_t>(row[run + i]);
        }
      }
    }
  }

  std::int64_t run_length_, k_;
  bool is_signed_;
  std::vector<std::int8_t> weight_;  ///< [n][k]
  std::vector<std::int32_t> bias_;
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
