#pragma once

namespace tilewave::kernels {

// What this CPU does at most, found out by doing it: the figures of a roofline. Each takes about
// `seconds`, after a warm-up.

/// Operations per second, two per multiply-add, of fp32 products of matrices that fit the cache,
/// one per thread, through the code that the fp32 path multiplies with.
double measured_fp32_peak(int threads, double seconds);
/// The same of the int8 path's products.
double measured_int8_peak(int threads, double seconds);
/// Bytes per second of a[i] = b[i] + s * c[i] on arrays far larger than caches: 24 bytes per i.
double measured_bandwidth(int threads, double seconds);

}  // namespace tilewave::kernels
