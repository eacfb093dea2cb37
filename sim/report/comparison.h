#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quant/scheme.h"
#include "sim/chip/chip.h"
#include "sim/report/style.h"

namespace tilewave::sim {

/// One way to run the network, with one batch size.
struct PathFigures {
  std::string path;  ///< "CPU fp32 (Eigen)", ...
  bool simulated = false;
  std::int64_t batch = 0;
  std::optional<double> accuracy;     ///< nothing without labels
  double agreement_fp32 = 0;          ///< share of images with the same class as in fp32
  double largest_difference = 0;      ///< of any output of any image, from fp32
  double latency_median_seconds = 0;  ///< one batch in, its results out
  double latency_p99_seconds = 0;     ///< nearest rank; the same as the median if simulated
  std::int64_t repeats = 0;           ///< runs that were timed; 0 if simulated
  double images_per_second = 0;       ///< simulated: of all batches in a row, transfers overlapping
};

/// The same quantized network on every path.
struct Comparison {
  std::string model;
  std::string data;
  Chip chip;
  quant::Scheme scheme;
  std::int64_t images = 0;
  std::vector<PathFigures> paths;  ///< by batch, then path
  int threads = 1;
  std::string cpu;
};

/// Simulated figures and numerical ones are the same for the same input; what was measured on
/// this machine is under "host".
std::string to_json(const Comparison& comparison);
std::string to_csv(const Comparison& comparison);
std::string to_text(const Comparison& comparison, const Style& style);

}  // namespace tilewave::sim
