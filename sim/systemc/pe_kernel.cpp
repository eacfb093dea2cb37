#include "sim/systemc/pe_kernel.h"

#include "sim/accumulate.h"
#include "sim/systemc/vector_clones.h"

// Plain pointers and bounds in locals: a bound read from memory stops the vectorizer.

namespace tilewave::sim::systemc {
namespace {

inline std::int32_t end_sum(std::int64_t exact, Adders adders) {
  return adders.saturates ? saturate(exact, adders.bits) : wrap(exact, adders.bits);
}

TILEWAVE_CLONES
void add_row(const std::int16_t* __restrict activation, const std::int16_t* __restrict weight,
             std::int32_t* __restrict psum, std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int32_t product = activation[c] * weight[c];
    psum[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(psum[c]) +
                                        static_cast<std::uint32_t>(product));
  }
}

/// Of every sum the low bits, sign-extended.
TILEWAVE_CLONES
void add_row_wrapping(const std::int16_t* __restrict activation,
                      const std::int16_t* __restrict weight, std::int32_t* __restrict psum,
                      std::int64_t cols, int bits) {
  const int unused = 32 - bits;
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::uint32_t sum =
        static_cast<std::uint32_t>(psum[c]) + static_cast<std::uint32_t>(activation[c] * weight[c]);
    psum[c] = static_cast<std::int32_t>(sum << unused) >> unused;
  }
}

TILEWAVE_CLONES
void add_row_saturating(const std::int16_t* __restrict activation,
                        const std::int16_t* __restrict weight, std::int32_t* __restrict psum,
                        std::int64_t cols, int bits) {
  for (std::int64_t c = 0; c < cols; ++c) {
    psum[c] = saturate(std::int64_t{psum[c]} + activation[c] * weight[c], bits);
  }
}

/// Counts, too; at full width as well.
TILEWAVE_CLONES
void add_row_counting(const std::int16_t* __restrict activation,
                      const std::int16_t* __restrict weight, std::int32_t* __restrict psum,
                      std::int32_t* __restrict overflows, std::int64_t cols, Adders adders) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int64_t exact = std::int64_t{psum[c]} + activation[c] * weight[c];
    const std::int32_t sum = end_sum(exact, adders);
    overflows[c] += sum != exact ? 1 : 0;
    psum[c] = sum;
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

/// Counts, too, how many additions of each sum have left the width; those of the sum above are
/// among them.
TILEWAVE_CLONES
void add_products_counting(const std::int32_t* __restrict product,
                           const std::int32_t* __restrict above, std::int32_t* __restrict psum,
                           const std::int32_t* __restrict above_overflows,
                           std::int32_t* __restrict overflows, std::int64_t cols,
                           const std::int32_t* __restrict is_last, Adders adders) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int64_t exact = std::int64_t{above[c]} + product[c];
    const std::int32_t sum = end_sum(exact, adders);
    const std::int32_t count = above_overflows[c] + (sum != exact ? 1 : 0);
    psum[c] = (sum & is_last[c]) | (psum[c] & ~is_last[c]);
    overflows[c] = (count & is_last[c]) | (overflows[c] & ~is_last[c]);
  }
}

}  // namespace

void clock_array(const PeRegisters& pe, std::int64_t psum_top, const Adders& adders) {
  for (std::int64_t row = 0; row < pe.rows; ++row) {
    const ActivationLines::Columns busy = pe.activation.busy(row);
    const std::int64_t count = busy.end - busy.begin;
    if (count <= 0) continue;
    const auto place = [&](std::int64_t top) {
      return (top + row < pe.rows ? top + row : top + row - pe.rows) * pe.cols + busy.begin;
    };
    const std::int16_t* activation = pe.activation.row(row) + busy.begin;
    const std::int16_t* weight = pe.weight + place(pe.weight_top);
    std::int32_t* psum = pe.psum + place(psum_top);
    if (pe.overflows != nullptr) {
      add_row_counting(activation, weight, psum, pe.overflows + place(psum_top), count, adders);
    } else if (adders.saturates) {
      add_row_saturating(activation, weight, psum, count, adders.bits);
    } else if (adders.bits < 32) {
      add_row_wrapping(activation, weight, psum, count, adders.bits);
    } else {
      add_row(activation, weight, psum, count);
    }
  }
}

// From the bottom row up, so that the sum above is still the one of the clock before.
void clock_array(const PeRegisters& pe, std::int32_t* product, const std::int32_t* top,
                 const Adders& adders, const PassControl& control) {
  const std::int64_t cols = pe.cols;
  for (std::int64_t row = pe.rows - 1; row >= 0; --row) {
    std::int32_t* psum = pe.psum + row * cols;
    multiply_pass(pe.activation.row(row), pe.weight + row * cols, product + row * cols, cols,
                  control.weight_shift + row, control.weight_mask + row,
                  control.product_shift + row, control.keeps_product + row);
    const std::int32_t* const above = row > 0 ? psum - cols : top;
    if (pe.overflows == nullptr) {
      add_products(product + row * cols, above, psum, cols, control.is_last + row, adders.bits,
                   adders.saturates);
      continue;
    }
    std::int32_t* const overflows = pe.overflows + row * cols;
    add_products_counting(product + row * cols, above, psum, row > 0 ? overflows - cols : top,
                          overflows, cols, control.is_last + row, adders);
  }
}

}  // namespace tilewave::sim::systemc
