#include "sim/systemc/os_kernel.h"

#include <cstring>

#include "sim/accumulate.h"
#include "sim/systemc/vector_clones.h"

// Plain pointers and bounds in locals: a bound read from memory stops the vectorizer.

namespace tilewave::sim::systemc {
namespace {

TILEWAVE_CLONES
void add_row(const std::int16_t* __restrict activation, const std::int16_t* __restrict above,
             std::int16_t* __restrict weight, std::int32_t* __restrict psum, std::int64_t cols,
             int unused) {
  for (std::int64_t c = 0; c < cols; ++c) {
    weight[c] = above[c];
    const std::uint32_t sum =
        static_cast<std::uint32_t>(psum[c]) + static_cast<std::uint32_t>(activation[c] * above[c]);
    psum[c] = static_cast<std::int32_t>(sum << unused) >> unused;
  }
}

TILEWAVE_CLONES
void add_row_saturating(const std::int16_t* __restrict activation,
                        const std::int16_t* __restrict above, std::int16_t* __restrict weight,
                        std::int32_t* __restrict psum, std::int64_t cols, int bits) {
  for (std::int64_t c = 0; c < cols; ++c) {
    weight[c] = above[c];
    psum[c] = saturate(std::int64_t{psum[c]} + activation[c] * above[c], bits);
  }
}

TILEWAVE_CLONES
void multiply_pass(const std::int16_t* __restrict activation, const std::int16_t* __restrict above,
                   std::int16_t* __restrict weight, std::int32_t* __restrict product,
                   std::int64_t cols, const std::int32_t* __restrict product_shift,
                   const std::int32_t* __restrict keeps_product) {
  for (std::int64_t c = 0; c < cols; ++c) {
    weight[c] = above[c];
    const auto part = static_cast<std::uint32_t>(activation[c] * above[c]) << product_shift[c];
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

void move_right(std::int16_t* activation, std::int64_t cols, std::int16_t in) {
  std::memmove(activation + 1, activation, static_cast<std::size_t>(cols - 1) * sizeof(in));
  activation[0] = in;
}

}  // namespace

// From the bottom row up, so that the weight above is still the one of the clock before.

void clock_os_array(const OsRegisters& pe, const Adders& adders) {
  const std::int64_t cols = pe.cols;
  for (std::int64_t row = pe.rows - 1; row >= 0; --row) {
    std::int16_t* activation = pe.activation + row * cols;
    std::int16_t* weight = pe.weight + row * cols;
    const std::int16_t* above = row > 0 ? weight - cols : pe.top;
    std::int32_t* psum = pe.psum + row * cols;
    move_right(activation, cols, pe.left[row]);
    if (adders.saturates) {
      add_row_saturating(activation, above, weight, psum, cols, adders.bits);
    } else {
      add_row(activation, above, weight, psum, cols, 32 - adders.bits);
    }
  }
}

void clock_os_array(const OsRegisters& pe, const Adders& adders, const OsPassControl& control) {
  const std::int64_t cols = pe.cols;
  for (std::int64_t row = pe.rows - 1; row >= 0; --row) {
    std::int16_t* activation = pe.activation + row * cols;
    std::int16_t* weight = pe.weight + row * cols;
    std::int32_t* product = pe.product + row * cols;
    move_right(activation, cols, pe.left[row]);
    multiply_pass(activation, row > 0 ? weight - cols : pe.top, weight, product, cols,
                  control.product_shift + row, control.keeps_product + row);
    add_products(product, pe.psum + row * cols, cols, control.is_last + row, adders.bits,
                 adders.saturates);
  }
}

}  // namespace tilewave::sim::systemc
