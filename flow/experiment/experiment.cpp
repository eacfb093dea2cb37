#include "flow/experiment/experiment.h"

#include <sstream>
#include <utility>

#include "base/error.h"
#include "flow/experiment/variation.h"

namespace tilewave::flow {
namespace {

/// The document without what says which points there are.
yaml::Node base_of(const yaml::Node& document) {
  yaml::Node base = document;
  base.kind = yaml::Node::Kind::mapping;
  base.keys.clear();
  base.items.clear();
  for (std::size_t i = 0; i < document.keys.size(); ++i) {
    const std::string& key = document.keys[i];
    if (key == "vary" || key == "points" || key == "random") continue;
    base.keys.push_back(key);
    base.items.push_back(document.items[i]);
  }
  return base;
}

/// Refuses keys that neither an experiment nor a configuration has.
void check_keys(yaml::Map& map) {
  for (const char* key : {"vary", "points", "random"}) map.find(key);
  const sim::Json known = to_json(Configuration{});
  for (const auto& [key, value] : known.items()) map.find(key);
  map.finish();
}

Point resolve(const yaml::Node& document, const std::string& where, bool accuracy,
              PointRunner& runner) {
  Configuration configuration = read_configuration(document, where);
  if (document.find("accuracy") == nullptr) configuration.accuracy = accuracy;
  const yaml::Map map(document, where);
  const auto at_key = [&](const char* key, const auto& work) {
    try {
      return work();
    } catch (const InputError& error) {
      throw InputError(map.where(key), error.what());
    }
  };
  at_key("model", [&] { runner.load_model(configuration.model); });
  at_key("data", [&] { runner.load_data(configuration.data); });
  std::string key = at_key("images", [&] { return runner.key(configuration); });
  return {to_json(configuration), std::move(key)};
}

Experiment read(const yaml::Node& document, const std::string& where, bool accuracy,
                PointRunner& runner) {
  yaml::Map map(document, where);
  check_keys(map);
  const std::vector<Settings> points = read_variations(map, where);
  const yaml::Node base = base_of(document);
  Experiment experiment;
  experiment.columns = columns_of(points);
  for (const Settings& settings : points) {
    experiment.points.push_back(resolve(with_settings(base, settings), where, accuracy, runner));
  }
  return experiment;
}

}  // namespace

sim::Json Experiment::value(const Point& point, const std::string& column) {
  const sim::Json& configuration = point.configuration;
  if (column == "chip") return configuration["chip"]["name"];
  if (configuration.contains(column)) return configuration[column];
  const std::string path = column.starts_with("scheme.") ? column : "chip." + column;
  const sim::Json* found = &configuration;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    if (!found->is_object() || !found->contains(part)) return nullptr;
    found = &(*found)[part];
  }
  return *found;
}

Experiment read_experiment(const std::string& path, bool accuracy, PointRunner& runner) {
  return read(yaml::load(path), path, accuracy, runner);
}

Experiment parse_experiment(const std::string& yaml, const std::string& where, bool accuracy,
                            PointRunner& runner) {
  return read(yaml::parse(yaml, where), where, accuracy, runner);
}

}  // namespace tilewave::flow
