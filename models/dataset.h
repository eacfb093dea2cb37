#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/graph.h"

namespace tilewave::models {

/// 8-bit images, [count][height][width][channels], and their class labels (empty if unknown).
/// A pixel p stands for the real value p / 255.
struct Images {
  Shape shape;
  std::int64_t count = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  /// Images [first, first + n), without a copy.
  std::span<const std::uint8_t> slice(std::int64_t first, std::int64_t n) const;
};

/// Images, in somebody else's memory.
struct ImagesView {
  ImagesView() = default;
  ImagesView(const Images& images)  // NOLINT(google-explicit-constructor): they are the same thing
      : shape(images.shape), count(images.count), pixels(images.pixels), labels(images.labels) {}

  Shape shape;
  std::int64_t count = 0;
  std::span<const std::uint8_t> pixels;
  std::span<const std::uint8_t> labels;
};

struct Dataset {
  std::string name;
  Images test;
  Images calibration;  ///< never overlaps with test
};

/// An IDX file of unsigned bytes, plain or gzip. Throws InputError for anything malformed.
struct Idx {
  std::vector<std::int64_t> dimensions;
  std::vector<std::uint8_t> values;
};
Idx read_idx(const std::string& path);
/// The same from memory; `where` names it in errors.
Idx parse_idx(std::span<const std::uint8_t> bytes, const std::string& where);

/// Names of the data sets that ship with tilewave.
std::vector<std::string> dataset_names();

/// `name_or_directory`: a data set that ships with tilewave ("mnist") or a directory with IDX files
/// named as MNIST's: t10k-images-idx3-ubyte[.gz], ..., and calibration-* or train-*, of which the
/// first 1,000 images are used. A directory with neither takes the calibration images of the one
/// that it lies in: it holds a variant of that one's test set. Throws InputError naming what is
/// missing.
Dataset load_dataset(const std::string& name_or_directory);

}  // namespace tilewave::models
