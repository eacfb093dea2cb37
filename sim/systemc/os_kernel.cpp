#include "sim/systemc/os_kernel.h"

#include "sim/accumulate.h"
#include "sim/systemc/vector_clones.h"

// Plain pointers and bounds in locals: a bound read from memory stops the vectorizer.

namespace tilewave::sim::systemc {
namespace {

TILEWAVE_CLONES
void multiply_pass(const std::int16_t* __restrict activation, const std::int16_t* __restrict weight,
                   std::int32_t* __restrict product, std::int64_t cols,
                   const std::int32_t* __restrict product_shift,
                   const std::int32_t* __restrict keeps_product) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const auto part = static_cast<std::uint32_t>(activation[c] * weight[c]) << product_shift[c];
    product[c] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(product[c] & keeps_product[c]) + part);
  }
}

TILEWAVE_CLONES
void add_products(const std::int32_t* __restrict product, std::int32_t* __restrict psum,
                  std::int64_t cols, const std::int32_t* __restrict is_last, int bits,
                  bool saturates) {
  if (saturates) {
    for (std::int64_t c = 0; c < cols; ++c) {
      psum[c] = saturate(std::int64_t{psum[c]} + (product[c] & is_last[c]), bits);
    }
    return;
  }
  const int unused = 32 - bits;
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::uint32_t sum =
        static_cast<std::uint32_t>(psum[c]) + static_cast<std::uint32_t>(product[c] & is_last[c]);
    psum[c] = static_cast<std::int32_t>(sum << unused) >> unused;
  }
}

/// Counts, too, how many additions of each sum have left the width.
TILEWAVE_CLONES
void add_products_counting(const std::int32_t* __restrict product, std::int32_t* __restrict psum,
                           std::int32_t* __restrict overflows, std::int64_t cols,
                           const std::int32_t* __restrict is_last, Adders adders) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int64_t exact = std::int64_t{psum[c]} + (product[c] & is_last[c]);
    const std::int32_t sum =
        adders.saturates ? saturate(exact, adders.bits) : wrap(exact, adders.bits);
    overflows[c] += sum != exact ? 1 : 0;
    psum[c] = sum;
  }
}

}  // namespace

void clock_os_array(const PeRegisters& pe, std::int32_t* product, const Adders& adders,
                    const OsPassControl& control) {
  const std::int64_t cols = pe.cols;
  for (std::int64_t row = 0; row < pe.rows; ++row) {
    const std::int64_t top = pe.weight_top + row;
    const std::int16_t* weight = pe.weight + (top < pe.rows ? top : top - pe.rows) * cols;
    multiply_pass(pe.activation.row(row), weight, product + row * cols, cols,
                  control.product_shift + row, control.keeps_product + row);
    if (pe.overflows == nullptr) {
      add_products(product + row * cols, pe.psum + row * cols, cols, control.is_last + row,
                   adders.bits, adders.saturates);
    } else {
      add_products_counting(product + row * cols, pe.psum + row * cols, pe.overflows + row * cols,
                            cols, control.is_last + row, adders);
    }
  }
}

}  // namespace tilewave::sim::systemc
