#include "models/dataset.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "models/data_directory.h"

namespace tilewave::models {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCalibrationImages = 1000;

/// The file of this name in `directory`, plain or gzip; empty if there is none.
fs::path find_idx(const fs::path& directory, const std::string& name) {
  std::error_code ignored;
  for (const char* suffix : {"", ".gz"}) {
    const fs::path path = directory / (name + suffix);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

fs::path require_idx(const fs::path& directory, const std::string& name) {
  const fs::path path = find_idx(directory, name);
  if (path.empty()) throw InputError(directory.string(), "has no " + name + "[.gz]");
  return path;
}

Images read_images(const fs::path& directory, const std::string& prefix) {
  const std::string images_path = require_idx(directory, prefix + "-images-idx3-ubyte").string();
  const std::string labels_path = require_idx(directory, prefix + "-labels-idx1-ubyte").string();
  Idx pixels = read_idx(images_path);
  Idx labels = read_idx(labels_path);
  if (pixels.dimensions.size() < 3) {
    throw InputError(images_path, "has " + std::to_string(pixels.dimensions.size()) + " dimensions",
                     "images x height x width [x channels]");
  }
  if (labels.dimensions.size() != 1 || labels.dimensions[0] != pixels.dimensions[0]) {
    throw InputError(labels_path,
                     "has " + std::to_string(labels.values.size()) + " labels in " +
                         std::to_string(labels.dimensions.size()) + " dimensions",
                     std::to_string(pixels.dimensions[0]) + " in 1, as there are images");
  }
  Images images;
  images.count = pixels.dimensions[0];
  images.shape = {pixels.dimensions[1], pixels.dimensions[2],
                  pixels.dimensions.size() == 4 ? pixels.dimensions[3] : 1};
  images.pixels = std::move(pixels.values);
  images.labels = std::move(labels.values);
  return images;
}

Images read_calibration(const fs::path& directory) {
  const auto has = [](const fs::path& where, const std::string& prefix) {
    return !find_idx(where, prefix + "-images-idx3-ubyte").empty();
  };
  if (has(directory, "calibration")) return read_images(directory, "calibration");
  const fs::path outer = directory / "..";
  if (!has(directory, "train") && has(outer, "calibration")) {
    return read_images(outer, "calibration");
  }
  return read_images(directory, "train");
}

void keep_first(Images& images, std::int64_t count) {
  images.count = std::min(images.count, count);
  images.pixels.resize(static_cast<std::size_t>(images.count * images.shape.elements()));
  images.labels.resize(static_cast<std::size_t>(images.count));
}

Dataset read_directory(const fs::path& directory, std::string name) {
  Dataset dataset{std::move(name), read_images(directory, "t10k"), {}};
  dataset.calibration = read_calibration(directory);
  keep_first(dataset.calibration, kCalibrationImages);
  if (dataset.calibration.shape != dataset.test.shape) {
    throw InputError(directory.string(), "its calibration and test images differ in shape");
  }
  return dataset;
}

}  // namespace

std::span<const std::uint8_t> Images::slice(std::int64_t first, std::int64_t n) const {
  TILEWAVE_CHECK(first, >=, 0, "a slice starts within the images");
  TILEWAVE_CHECK(n, >=, 0, "a slice has a size");
  TILEWAVE_CHECK(n, <=, count - first, "a slice ends within the images");
  const std::int64_t size = shape.elements();
  return std::span(pixels).subspan(static_cast<std::size_t>(first * size),
                                   static_cast<std::size_t>(n * size));
}

std::vector<std::string> dataset_names() {
  return {"mnist", "fashion_mnist", "mnist/fgsm_0.05", "mnist/fgsm_0.10", "mnist/fgsm_0.20"};
}

Dataset load_dataset(const std::string& name_or_directory) {
  const std::string& name = name_or_directory;
  std::error_code ignored;
  for (const std::string& known : dataset_names()) {
    if (name != known) continue;
    const fs::path own = data_directory() / "data" / name;
    if (!fs::is_directory(own, ignored)) {
      throw InputError("data set " + name, "is not in " + own.string());
    }
    return read_directory(own, name);
  }
  if (!fs::is_directory(name, ignored)) {
    throw InputError("data set " + name, "is neither a known name nor a directory",
                     suggestion(name, dataset_names()));
  }
  fs::path directory = fs::path(name).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  return read_directory(name, directory.filename().string());
}

}  // namespace tilewave::models
