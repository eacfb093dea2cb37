#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "flow/experiment/explore.h"
#include "flow/experiment/store.h"
#include "flow/experiment/table.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/interruptible.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

/// Figures, failure and is_final of an Outcome: what crosses from process to process.
using Fields = std::tuple<std::string, std::string, bool>;

Fields fields_of(const flow::Outcome& outcome) {
  return {outcome.figures, outcome.failure, outcome.is_final};
}

std::vector<flow::Outcome> outcomes_in(const std::vector<Fields>& fields) {
  std::vector<flow::Outcome> outcomes;
  for (const auto& [figures, failure, is_final] : fields) {
    outcomes.push_back({figures, failure, is_final});
  }
  return outcomes;
}

flow::Experiment read(flow::PointRunner& runner, const std::string& path, bool accuracy) {
  return interruptible(
      [&](const std::stop_token&) { return flow::read_experiment(path, accuracy, runner); });
}

flow::Experiment parse(flow::PointRunner& runner, const std::string& yaml, bool accuracy) {
  return interruptible([&](const std::stop_token&) {
    return flow::parse_experiment(yaml, "experiment", accuracy, runner);
  });
}

Fields run(flow::PointRunner& runner, const std::string& configuration,
           std::optional<std::int64_t> threads) {
  const int workers = threads_in(threads);
  return interruptible([&](const std::stop_token& stop) {
    return fields_of(runner.run(configuration, workers, stop));
  });
}

/// [(key, configuration)]
std::vector<std::pair<std::string, std::string>> points_of(const flow::Experiment& experiment) {
  std::vector<std::pair<std::string, std::string>> points;
  for (const flow::Point& point : experiment.points) {
    points.emplace_back(point.key, point.configuration.dump());
  }
  return points;
}

std::string rows(const flow::Experiment& experiment, const std::vector<Fields>& outcomes) {
  return sim::Json(flow::table_rows(experiment, outcomes_in(outcomes))).dump();
}

void write_tables(const flow::Experiment& experiment, const std::vector<Fields>& outcomes,
                  const std::string& folder) {
  flow::write_tables(experiment, outcomes_in(outcomes), folder);
}

std::optional<Fields> find(flow::Store& store, const std::string& key) {
  const auto outcome = store.find(key);
  if (!outcome) return std::nullopt;
  return fields_of(*outcome);
}

void put(flow::Store& store, const std::string& key, const std::string& configuration,
         const Fields& outcome) {
  const auto& [figures, failure, is_final] = outcome;
  store.put(key, configuration, {figures, failure, is_final});
}

}  // namespace

void bind_experiment(py::module_& module) {
  py::class_<flow::Experiment>(module, "Experiment")
      .def_readonly("columns", &flow::Experiment::columns)
      .def("points", &points_of)
      .def("rows", &rows, py::arg("outcomes"))
      .def("write_tables", &write_tables, py::arg("outcomes"), py::arg("folder"));

  py::class_<flow::PointRunner>(module, "PointRunner")
      .def(py::init<>())
      .def("read", &read, py::arg("path"), py::arg("accuracy"))
      .def("parse", &parse, py::arg("yaml"), py::arg("accuracy"))
      .def("run", &run, py::arg("configuration"), py::arg("threads"));

  py::class_<flow::Store>(module, "Store")
      .def(py::init<std::string>(), py::arg("path"))
      .def("find", &find, py::arg("key"))
      .def("put", &put, py::arg("key"), py::arg("configuration"), py::arg("outcome"));
  module.attr("store_name") = flow::kStoreName;
}

}  // namespace tilewave::python
