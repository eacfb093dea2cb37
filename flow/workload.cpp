#include "flow/workload.h"

#include <utility>

#include "base/error.h"
#include "flow/host.h"
#include "kernels/calibrate.h"
#include "models/onnx_reader.h"

namespace tilewave::flow {
namespace {

std::string shape_text(const models::Shape& shape) {
  return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
         std::to_string(shape.channels);
}

models::Images first_of(models::Images images, std::optional<std::int64_t> wanted,
                        const std::string& data) {
  images.count = image_count(images.count, wanted, data);
  images.pixels.resize(static_cast<std::size_t>(images.count * images.shape.elements()));
  if (!images.labels.empty()) images.labels.resize(static_cast<std::size_t>(images.count));
  return images;
}

}  // namespace

void check_shape(const models::ImagesView& images, const std::string& data,
                 const models::Shape& shape, const std::string& name) {
  if (images.shape == shape) return;
  throw InputError(data, "its images are " + shape_text(images.shape),
                   name + " takes " + shape_text(shape));
}

Workload load_workload(const std::string& model, const std::string& data,
                       const quant::Scheme& scheme, int threads, const std::stop_token& stop) {
  const Stopwatch watch;
  models::Graph graph = models::load_model(model);
  models::Dataset dataset = models::load_dataset(data);
  const models::Shape& shape = graph.nodes().front().shape;
  check_shape(dataset.test, dataset.name, shape, graph.name());
  check_shape(dataset.calibration, dataset.name + " (calibration)", shape, graph.name());
  quant::QuantizedGraph quantized =
      kernels::quantize(graph, dataset.calibration, scheme, threads, stop);
  return {std::move(graph), std::move(dataset), std::move(quantized), watch.seconds()};
}

std::int64_t image_count(std::int64_t available, std::optional<std::int64_t> wanted,
                         const std::string& data) {
  const std::int64_t count = wanted.value_or(available);
  if (count >= 1 && count <= available) return count;
  throw InputError("images", std::to_string(count) + " of the test images of " + data,
                   "1 to " + std::to_string(available));
}

models::Images test_images(const std::string& data, std::optional<std::int64_t> wanted) {
  models::Dataset dataset = models::load_dataset(data);
  return first_of(std::move(dataset.test), wanted, dataset.name);
}

models::Images idx_images(const std::string& path, std::optional<std::int64_t> wanted) {
  models::Idx idx = models::read_idx(path);
  const auto& sizes = idx.dimensions;
  if (sizes.size() != 3 && sizes.size() != 4) {
    throw InputError(path, "has " + std::to_string(sizes.size()) + " dimensions",
                     "images have 3 or 4: count, height, width, channels");
  }
  models::Images images;
  images.count = sizes[0];
  images.shape = {sizes[1], sizes[2], sizes.size() == 4 ? sizes[3] : 1};
  images.pixels = std::move(idx.values);
  return first_of(std::move(images), wanted, path);
}

}  // namespace tilewave::flow
