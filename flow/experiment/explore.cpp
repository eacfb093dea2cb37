#include "flow/experiment/explore.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "flow/experiment/store.h"
#include "flow/experiment/table.h"

namespace tilewave::flow {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw WorkError(folder + ": cannot be made: " + failure.message());
}

/// A point that stands in an experiment several times is run once.
class Pending {
 public:
  Pending(const Experiment& experiment, Store& store) {
    for (const Point& point : experiment.points) {
      const auto [entry, is_new] = outcomes_.try_emplace(point.key);
      if (!is_new) continue;
      if (auto known = store.find(point.key)) {
        entry->second = std::move(*known);
      } else {
        points_.push_back(&point);
      }
    }
  }
  const std::vector<const Point*>& points() const { return points_; }
  /// Many threads may call it, each for another point.
  void set(const Point& point, Outcome outcome) {
    outcomes_.find(point.key)->second = std::move(outcome);
  }
  const Outcome& of(const Point& point) const { return outcomes_.find(point.key)->second; }

 private:
  std::map<std::string, Outcome> outcomes_;
  std::vector<const Point*> points_;
};

}  // namespace

void write_tables(const Experiment& experiment, const std::vector<Outcome>& outcomes,
                  const std::string& folder) {
  write_file((fs::path(folder) / kCsvName).string(), to_csv(experiment, outcomes));
  write_file((fs::path(folder) / kJsonName).string(), to_json(experiment, outcomes));
}

Explored explore(const Experiment& experiment, const std::string& folder, PointRunner& runner,
                 const ExploreOptions& options) {
  make_folder(folder);
  Store store((fs::path(folder) / kStoreName).string());
  Pending pending(experiment, store);
  const auto count = static_cast<std::int64_t>(pending.points().size());
  const auto all = static_cast<std::int64_t>(experiment.points.size());
  // Threads that no point is left for help with those that there are.
  const int threads =
      static_cast<int>(std::max<std::int64_t>(1, options.jobs / std::max<std::int64_t>(count, 1)));
  std::mutex mutex;
  std::int64_t done = 0;
  const auto tell = [&] {
    if (options.progress) options.progress("points", done, count);
  };
  tell();
  parallel_for(count, options.jobs, [&](std::int64_t i) {
    check_stop(options.stop);
    const Point& point = *pending.points()[static_cast<std::size_t>(i)];
    const std::string configuration = point.configuration.dump();
    Outcome outcome = runner.run(configuration, threads, options.stop);
    if (outcome.is_final) store.put(point.key, configuration, outcome);
    pending.set(point, std::move(outcome));
    const std::scoped_lock lock(mutex);
    ++done;
    tell();
  });

  Explored explored;
  explored.computed = count;
  explored.outcomes.reserve(static_cast<std::size_t>(all));
  for (const Point& point : experiment.points) {
    explored.outcomes.push_back(pending.of(point));
    explored.failed += explored.outcomes.back().figures.empty();
  }
  write_tables(experiment, explored.outcomes, folder);
  return explored;
}

}  // namespace tilewave::flow
