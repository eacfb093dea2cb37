#pragma once

#include "quant/format.h"
#include "quant/histogram.h"
#include "quant/observer.h"

// Ranges narrower than what was seen, which clip a few values to hold the others more finely. The
// candidates are the fractions i / 128 of the range seen, i = 128, 127, ..., 1; of equals the
// widest is taken. Sums are in double.

namespace tilewave::quant {

inline constexpr int kRangeCandidates = 128;

/// The least sum of count * (value - dequantize(quantize(value)))^2 over the bins.
Observer::Range least_squares_range(const Bins& bins, Observer::Range seen, const Format& format);

/// The least Kullback-Leibler divergence of Q from P, both over the bins within a candidate but for
/// the one that holds 0 (which every format holds exactly), both with the sum 1. P: their counts,
/// what lies beyond an end added to the outermost bin. Q: their counts, those of each quantized
/// value spread evenly over its bins. A candidate with fewer bins (that are not empty) than the
/// format has values does not count, but for the range seen.
Observer::Range least_divergence_range(const Bins& bins, Observer::Range seen,
                                       const Format& format);

}  // namespace tilewave::quant
