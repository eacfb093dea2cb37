#include "sim/systemc/pe_kernel.h"

#include <cstring>

#include "sim/accumulate.h"

// Plain pointers and bounds in locals: a bound read from memory stops the vectorizer. Built for
// several processors, chosen at load time, so that one binary runs everywhere.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TILEWAVE_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TILEWAVE_CLONES
#endif

namespace tilewave::sim::systemc {
namespace {

TILEWAVE_CLONES
void add_row(const std::int16_t* __restrict activation, const std::int16_t* __restrict weight,
             const std::int32_t* __restrict above, std::int32_t* __restrict psum,
             std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int32_t product = activation[c] * weight[c];
    psum[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(above[c]) +
                                        static_cast<std::uint32_t>(product));
  }
}

/// The low bits of every sum, sign-extended.
TILEWAVE_CLONES
void wrap_row(std::int32_t* __restrict psum, std::int64_t cols, int bits) {
  const int unused = 32 - bits;
  for (std::int64_t c = 0; c < cols; ++c) {
    psum[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(psum[c]) << unused) >> unused;
  }
}

TILEWAVE_CLONES
void add_row_saturating(const std::int16_t* __restrict activation,
                        const std::int16_t* __restrict weight, const std::int32_t* __restrict above,
                        std::int32_t* __restrict psum, std::int64_t cols, int bits) {
  for (std::int64_t c = 0; c < cols; ++c) {
    psum[c] = saturate(std::int64_t{above[c]} + activation[c] * weight[c], bits);
  }
}

TILEWAVE_CLONES
void multiply_pass(const std::int16_t* __restrict activation, const std::int16_t* __restrict weight,
                   std::int32_t* __restrict product, std::int64_t cols,
                   const std::int32_t* __restrict weight_shift,
                   const std::int32_t* __restrict weight_mask,
                   const std::int32_t* __restrict product_shift,
                   const std::int32_t* __restrict keeps_product) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int32_t byte = (weight[c] >> weight_shift[c]) & weight_mask[c];
    const auto part = static_cast<std::uint32_t>(activation[c] * byte) << product_shift[c];
    product[c] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(product[c] & keeps_product[c]) + part);
  }
}

TILEWAVE_CLONES
void add_products(const std::int32_t* __restrict product, const std::int32_t* __restrict above,
                  std::int32_t* __restrict psum, std::int64_t cols,
                  const std::int32_t* __restrict is_last, int bits, bool saturates) {
  if (saturates) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const std::int32_t sum = saturate(std::int64_t{above[c]} + product[c], bits);
      psum[c] = (sum & is_last[c]) | (psum[c] & ~is_last[c]);
    }
    return;
  }
  const int unused = 32 - bits;
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::uint32_t sum =
        static_cast<std::uint32_t>(above[c]) + static_cast<std::uint32_t>(product[c]);
    const std::int32_t narrow = static_cast<std::int32_t>(sum << unused) >> unused;
    psum[c] = (narrow & is_last[c]) | (psum[c] & ~is_last[c]);
  }
}

void move_right(std::int16_t* activation, std::int64_t cols, std::int16_t in) {
  std::memmove(activation + 1, activation, static_cast<std::size_t>(cols - 1) * sizeof(in));
  activation[0] = in;
}

}  // namespace

// From the bottom row up, so that the sum above is still the one of the clock before.

void clock_array(const PeRegisters& pe, const Adders& adders) {
  const std::int64_t cols = pe.cols;
  for (std::int64_t row = pe.rows - 1; row >= 0; --row) {
    std::int16_t* activation = pe.activation + row * cols;
    const std::int16_t* weight = pe.weight + row * cols;
    std::int32_t* psum = pe.psum + row * cols;
    const std::int32_t* above = row > 0 ? psum - cols : pe.top;
    move_right(activation, cols, pe.left[row]);
    if (adders.saturates) {
      add_row_saturating(activation, weight, above, psum, cols, adders.bits);
      continue;
    }
    add_row(activation, weight, above, psum, cols);
    if (adders.bits < 32) wrap_row(psum, cols, adders.bits);
  }
}

void clock_array(const PeRegisters& pe, const Adders& adders, const PassControl& control) {
  const std::int64_t cols = pe.cols;
  for (std::int64_t row = pe.rows - 1; row >= 0; --row) {
    std::int16_t* activation = pe.activation + row * cols;
    std::int32_t* psum = pe.psum + row * cols;
    std::int32_t* product = pe.product + row * cols;
    move_right(activation, cols, pe.left[row]);
    multiply_pass(activation, pe.weight + row * cols, product, cols, control.weight_shift + row,
                  control.weight_mask + row, control.product_shift + row,
                  control.keeps_product + row);
    add_products(product, row > 0 ? psum - cols : pe.top, psum, cols, control.is_last + row,
                 adders.bits, adders.saturates);
  }
}

}  // namespace tilewave::sim::systemc
