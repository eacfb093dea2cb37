#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "flow/experiment/experiment.h"
#include "flow/run.h"

namespace tilewave::flow {

struct ExploreOptions {
  int jobs = 1;            ///< points at the same time; no result depends on it
  Progress progress = {};  ///< may be empty
  std::stop_token stop = {};
};

struct Explored {
  std::vector<Outcome> outcomes;  ///< one per point
  std::int64_t computed = 0;      ///< points that ran now; the others were in the store
  std::int64_t failed = 0;        ///< rows without figures
};

/// The files that explore leaves in its folder.
inline constexpr const char* kStoreName = "results.sqlite";
inline constexpr const char* kCsvName = "results.csv";
inline constexpr const char* kJsonName = "results.json";

/// Writes the tables into the folder, each aside and then renamed.
void write_tables(const Experiment& experiment, const std::vector<Outcome>& outcomes,
                  const std::string& folder);

/// Runs the points that the store in `folder` (made if it is not there) does not have, puts each
/// into it as it is done, and writes the tables at the end. Throws WorkError where the folder
/// cannot be written, with what was done before kept, and Stopped.
Explored explore(const Experiment& experiment, const std::string& folder, PointRunner& runner,
                 const ExploreOptions& options);

}  // namespace tilewave::flow
