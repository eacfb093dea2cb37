#pragma once

#include <string>
#include <vector>

#include "base/yaml.h"
#include "flow/experiment/configuration.h"
#include "flow/experiment/point.h"

namespace tilewave::flow {

struct Point {
  sim::Json configuration;  ///< resolved
  std::string key;          ///< PointRunner::key
};

/// Configurations to be compared, in the order in which tables list them.
struct Experiment {
  /// What differs: "batch", "scheme.weight_bits", or a chip's key such as "array.rows".
  std::vector<std::string> columns;
  std::vector<Point> points;

  /// The point's value of a column; null if it has none.
  static sim::Json value(const Point& point, const std::string& column);
};

inline constexpr std::int64_t kMaxPoints = 100'000;

/// Reads an experiment file (docs/experiments.md). `accuracy` holds where the file does not say.
/// Every point is resolved and checked. Throws InputError: file:line: key, what is wrong.
Experiment read_experiment(const std::string& path, bool accuracy, PointRunner& runner);
Experiment parse_experiment(const std::string& yaml, const std::string& where, bool accuracy,
                            PointRunner& runner);

}  // namespace tilewave::flow
