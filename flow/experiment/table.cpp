#include "flow/experiment/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tilewave::flow {
namespace {

using sim::Json;

constexpr std::size_t kShownRows = 30;
constexpr std::size_t kSettingWidth = 16;

/// {"counters.active": 1, ...} of {counters: {active: 1}, ...}.
Json flattened(const Json& figures) {
  Json flat = Json::object();
  for (const auto& [key, value] : figures.items()) {
    if (!value.is_object()) {
      flat[key] = value;
      continue;
    }
    for (const auto& [inner, number] : value.items()) flat[key + "." + inner] = number;
  }
  return flat;
}

/// Quoted as RFC 4180 says where it has to be.
std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

std::string setting_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

struct ShownFigure {
  std::string title;
  std::string key;
  std::string (*text)(double);
};

const std::vector<ShownFigure>& shown_figures() {
  static const std::vector<ShownFigure> kFigures = {
      {"accuracy", "accuracy", [](double v) { return sim::percent(v, 2); }},
      {"as fp32", "agreement_fp32", [](double v) { return sim::percent(v, 2); }},
      {"cycles", "cycles", [](double v) { return sim::grouped(static_cast<std::int64_t>(v)); }},
      {"images/s", "images_per_second",
       [](double v) { return sim::grouped(static_cast<std::int64_t>(v)); }},
      {"useful", "utilization", [](double v) { return sim::percent(v, 1); }},
      {"energy", "energy_joules.total", [](double v) { return sim::with_prefix(v, "J"); }}};
  return kFigures;
}

/// Figures that some row has.
std::vector<ShownFigure> figures_of(const std::vector<Json>& rows) {
  std::vector<ShownFigure> figures;
  for (const ShownFigure& figure : shown_figures()) {
    const bool is_known = std::any_of(rows.begin(), rows.end(),
                                      [&](const Json& row) { return row[figure.key].is_number(); });
    if (is_known) figures.push_back(figure);
  }
  return figures;
}

/// The last part of a key tells more than the first.
std::string title_of(const std::string& column) {
  return sim::shortened(column.substr(column.rfind('.') + 1), kSettingWidth);
}

}  // namespace

std::vector<Json> table_rows(const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  Json unknown = flattened(sim::figures_json({}));
  for (auto& [key, value] : unknown.items()) value = nullptr;
  std::vector<Json> rows;
  for (std::size_t i = 0; i < experiment.points.size(); ++i) {
    Json row = Json::object();
    for (const std::string& column : experiment.columns) {
      row[column] = Experiment::value(experiment.points[i], column);
    }
    const Outcome& outcome = outcomes[i];
    row["failure"] = outcome.failure.empty() ? Json(nullptr) : Json(outcome.failure);
    row.update(outcome.figures.empty() ? unknown : flattened(Json::parse(outcome.figures)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string to_csv(const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Json& row : table_rows(experiment, outcomes)) {
    std::string header;
    std::string line;
    for (const auto& [key, value] : row.items()) {
      header += (header.empty() ? "" : ",") + csv_field(key);
      line += (&value == &row.front() ? "" : ",") + csv_field(value);
    }
    if (text.empty()) text = header + "\n";
    text += line + "\n";
  }
  return text;
}

std::string to_json(const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  Json document = sim::result_header();
  document["columns"] = experiment.columns;
  document["points"] = Json::array();
  std::vector<Json> rows = table_rows(experiment, outcomes);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]["configuration"] = experiment.points[i].configuration;
    document["points"].push_back(std::move(rows[i]));
  }
  return sim::dumped(document);
}

std::string to_text(const Experiment& experiment, const std::vector<Outcome>& outcomes,
                    const sim::Style& style) {
  const std::vector<Json> rows = table_rows(experiment, outcomes);
  const std::vector<ShownFigure> figures = figures_of(rows);
  std::string text;
  std::string header;
  for (const std::string& column : experiment.columns) {
    header +=
        fmt::format(" {:>{}}", title_of(column), std::max<std::size_t>(8, title_of(column).size()));
  }
  for (const ShownFigure& figure : figures) header += fmt::format(" {:>13}", figure.title);
  text += style.paint(sim::Colour::bold, sim::shortened(header, sim::Style::kWidth)) + "\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kShownRows); ++i) {
    std::string line;
    for (const std::string& column : experiment.columns) {
      const std::size_t width = std::max<std::size_t>(8, title_of(column).size());
      line += fmt::format(" {:>{}}", sim::shortened(setting_text(rows[i][column]), width), width);
    }
    if (!rows[i]["failure"].is_null()) {
      line += "  " + outcomes[i].failure;
    } else {
      for (const ShownFigure& figure : figures) {
        const Json& value = rows[i][figure.key];
        line += fmt::format(" {:>13}", value.is_number() ? figure.text(value.get<double>()) : "-");
      }
    }
    text += line.substr(0, sim::Style::kWidth) + "\n";
  }
  return text;
}

}  // namespace tilewave::flow
