#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "models/dataset.h"
#include "models/graph.h"
#include "quant/quantized_graph.h"
#include "quant/scheme.h"

namespace tilewave::flow {

/// A network, what it is tested on, and its quantized form: what chips are compared on.
struct Workload {
  models::Graph graph;
  models::Dataset data;
  quant::QuantizedGraph quantized;
  double load_seconds = 0;  ///< wall time that making it took
};

/// `model`: as models::load_model; `data`: as models::load_dataset. Calibrates on
/// data.calibration. Throws InputError, also where the images do not fit the network's input.
Workload load_workload(const std::string& model, const std::string& data,
                       const quant::Scheme& scheme, int threads, const std::stop_token& stop = {});

/// Throws InputError unless the images have the shape that the network or program called `name`
/// takes.
void check_shape(const models::ImagesView& images, const std::string& data,
                 const models::Shape& shape, const std::string& name);

/// How many of `available` images to use: all, or the first `wanted`. InputError, naming `data`,
/// if there are fewer.
std::int64_t image_count(std::int64_t available, std::optional<std::int64_t> wanted,
                         const std::string& data);

/// The first test images of a data set, or of an IDX file with 3 or 4 dimensions ([count][height]
/// [width], channels last; no labels).
models::Images test_images(const std::string& data, std::optional<std::int64_t> wanted);
models::Images idx_images(const std::string& path, std::optional<std::int64_t> wanted);

}  // namespace tilewave::flow
