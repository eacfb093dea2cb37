#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "models/dataset.h"
#include "models/graph.h"
#include "quant/calibration.h"
#include "quant/quantized_graph.h"
#include "quant/scheme.h"

namespace tilewave::kernels {

/// The images that a scheme calibrates with: the first scheme.calibration_images of `available` or,
/// with a seed, as many drawn at random, in increasing order. InputError if there are fewer.
std::vector<std::int64_t> calibration_subset(std::int64_t available, const quant::Scheme& scheme);

/// Runs the fp32 network on the scheme's images of `images` and observes every tensor. Depends only
/// on quant::calibration_part(scheme) of the scheme, and not on `threads`. Throws Stopped if that
/// is asked for.
quant::Calibration calibrate(const models::Graph& graph, const models::ImagesView& images,
                             const quant::Scheme& scheme, int threads = 1,
                             const std::stop_token& stop = {});

/// Calibrates and quantizes once; for many schemes, quant::quantize_graph on one calibration.
quant::QuantizedGraph quantize(const models::Graph& graph, const models::ImagesView& calibration,
                               const quant::Scheme& scheme, int threads = 1,
                               const std::stop_token& stop = {});

}  // namespace tilewave::kernels
