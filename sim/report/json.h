#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "quant/scheme.h"
#include "sim/report/report.h"

namespace tilewave::sim {

/// Keys in the order in which they were put in.
using Json = nlohmann::ordered_json;

inline constexpr int kSchemaVersion = 1;

/// schema_version, tilewave_version: how every result file begins.
Json result_header();
Json chip_json(const Chip& chip);
Json scheme_json(const quant::Scheme& scheme);
/// The figures of the run as a whole, as a result file has them: from `images` to
/// `unified_buffer_peak_bytes`.
Json figures_json(const Report& report);
/// null for nothing
Json optional_json(const std::optional<double>& value);
/// The text of a result file.
std::string dumped(const Json& json);

}  // namespace tilewave::sim
