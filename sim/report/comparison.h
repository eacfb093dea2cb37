#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quant/scheme.h"
#include "sim/chip/chip.h"
#include "sim/report/roofline.h"
#include "sim/report/style.h"

namespace tilewave::sim {

/// Times of one batch.
struct BatchTime {
  double median_seconds = 0;
  double p99_seconds = 0;  ///< nearest rank; the same as the median if simulated
};

/// One way to run the network, with one batch size.
struct PathFigures {
  std::string path;       ///< "cpu fp32 (Eigen)", ...
  std::string device;     ///< cpu, gpu or chip
  std::string precision;  ///< fp32, tf32, fp16, int8 or int16
  bool simulated = false;
  std::int64_t batch = 0;
  std::optional<double> accuracy;  ///< nothing without labels
  double agreement_fp32 = 0;       ///< share of images with the same class as in fp32 on the CPU
  double largest_difference = 0;   ///< of any output of any image, from the same
  BatchTime latency;               ///< one batch of bytes in, its outputs back in the host's memory
  BatchTime compute;               ///< the same between the two transfers; on a CPU there are none
  std::int64_t repeats = 0;        ///< runs that were timed; 0 if simulated
  double images_per_second = 0;    ///< simulated: of all batches in a row, transfers overlapping

  double seconds_per_image() const { return images_per_second == 0 ? 0 : 1 / images_per_second; }
  double compute_images_per_second() const {
    return compute.median_seconds == 0 ? 0 : static_cast<double>(batch) / compute.median_seconds;
  }
};

/// A path that could not be run here.
struct MissingPath {
  std::string path;
  std::string reason;  ///< one line
  bool operator==(const MissingPath&) const = default;
};

/// The same network on every path.
struct Comparison {
  std::string model;
  std::string data;
  Chip chip;
  quant::Scheme scheme;
  std::int64_t images = 0;
  std::vector<PathFigures> paths;  ///< by batch, then path
  std::vector<MissingPath> missing;
  std::vector<Roof> roofs;  ///< if asked for
  int threads = 1;
  std::string cpu;
  std::string gpu;  ///< empty if there is none
};

/// Simulated figures and numerical ones of the CPU are the same for the same input; what was
/// measured on this machine, and all that its GPU gave, is under "host".
std::string to_json(const Comparison& comparison);
std::string to_csv(const Comparison& comparison);
std::string to_text(const Comparison& comparison, const Style& style);

}  // namespace tilewave::sim
