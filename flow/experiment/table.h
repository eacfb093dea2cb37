#pragma once

#include <string>
#include <vector>

#include "flow/experiment/experiment.h"
#include "sim/report/style.h"

namespace tilewave::flow {

// The results of an experiment, a row per point in its order. `outcomes`: one per point. The same
// outcomes give the same bytes.

/// One row: the columns that differ, `failure`, and the figures as "counters.active"; null for what
/// a failed point does not have. Every row has the same keys.
std::vector<sim::Json> table_rows(const Experiment& experiment,
                                  const std::vector<Outcome>& outcomes);
std::string to_csv(const Experiment& experiment, const std::vector<Outcome>& outcomes);
/// The rows, each with its resolved configuration.
std::string to_json(const Experiment& experiment, const std::vector<Outcome>& outcomes);
/// The most important figures of the first rows, for a screen.
std::string to_text(const Experiment& experiment, const std::vector<Outcome>& outcomes,
                    const sim::Style& style);

}  // namespace tilewave::flow
