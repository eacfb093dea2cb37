#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/json.h"
#include "sim/report/style.h"

namespace tilewave::sim {

/// A layer under a roof, for a batch.
struct RooflineLayer {
  std::string name;
  std::int64_t batch = 0;
  double operations = 0;  ///< two per multiply-accumulate
  double bytes = 0;       ///< that have to pass the roof's memory at least
};

/// What a device can do at most in one precision, and what this network's layers can get of it.
struct Roof {
  std::string device;                      ///< "cpu", "gpu", the chip's name
  std::string precision;                   ///< "fp32", ...
  bool simulated = false;                  ///< known from a description, not from this machine
  std::optional<double> peak;              ///< operations per second; nothing: not known
  std::optional<double> bytes_per_second;  ///< nothing: unlimited
  std::string source;                      ///< where the two come from
  std::vector<RooflineLayer> layers;       ///< those with weights
};

/// Operations per byte.
double intensity(const RooflineLayer& layer);
/// Operations per second that the roof leaves the layer; nothing if its peak is not known.
std::optional<double> attainable(const Roof& roof, const RooflineLayer& layer);
/// Whether the memory bounds the layer, and not the arithmetic.
bool is_memory_bound(const Roof& roof, const RooflineLayer& layer);

Json roof_json(const Roof& roof);
/// The layers of the largest batch under each roof, the largest layers if there are many.
std::string roofs_text(const std::vector<Roof>& roofs, const Style& style);

}  // namespace tilewave::sim
