#include "flow/experiment/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tilewave::flow {
namespace {

using sim::Json;

constexpr std::size_t kShownRows = 30;
constexpr std::size_t kSettingWidth = 16;
constexpr std::size_t kFigureWidth = 13;

/// {"counters.active": 1, ...} of {counters: {active: 1}, ...}.
Json flattened(const Json& figures) {
  Json flat = Json::object();
  for (const auto& [key, value] : figures.items()) {
    if (!value.is_object()) {
      flat[key] = value;
      continue;
    }
    for (const auto& [inner, number] : value.items())
      flat[fmt::format("{}.{}", key, inner)] = number;
  }
  return flat;
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? sim::csv_field(value.get<std::string>()) : value.dump();
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

/// Figures that some row has, as many as fit beside `used` columns of the screen.
std::vector<ShownFigure> figures_of(const std::vector<Json>& rows, std::size_t used) {
  std::vector<ShownFigure> figures;
  for (const ShownFigure& figure : shown_figures()) {
    const bool is_known = std::any_of(rows.begin(), rows.end(),
                                      [&](const Json& row) { return row[figure.key].is_number(); });
    const std::size_t width = used + (figures.size() + 1) * (1 + kFigureWidth);
    if (is_known && width <= sim::Style::kWidth) figures.push_back(figure);
  }
  return figures;
}

/// A column of settings, as wide as its widest text.
struct ShownSetting {
  std::string title;
  std::vector<std::string> texts;
  std::size_t width = 0;
};

ShownSetting shown_setting(const std::vector<Json>& rows, const std::string& column) {
  ShownSetting setting;
  // The last part of a key tells more than the first.
  setting.title = sim::shortened(column.substr(column.rfind('.') + 1), kSettingWidth);
  setting.width = setting.title.size();
  for (const Json& row : rows) {
    const Json& value = row[column];
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    setting.texts.push_back(sim::shortened(text, kSettingWidth));
    setting.width = std::max(setting.width, setting.texts.back().size());
  }
  return setting;
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
  std::vector<Json> rows = table_rows(experiment, outcomes);
  rows.resize(std::min(rows.size(), kShownRows));
  std::vector<ShownSetting> settings;
  std::string header;
  for (const std::string& column : experiment.columns) {
    settings.push_back(shown_setting(rows, column));
    header += fmt::format(" {:>{}}", settings.back().title, settings.back().width);
  }
  const std::vector<ShownFigure> figures = figures_of(rows, header.size());
  for (const ShownFigure& figure : figures) {
    header += fmt::format(" {:>{}}", figure.title, kFigureWidth);
  }
  std::string text =
      style.paint(sim::Colour::bold, sim::shortened(header, sim::Style::kWidth)) + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line;
    for (const ShownSetting& setting : settings) {
      line += fmt::format(" {:>{}}", setting.texts[i], setting.width);
    }
    if (!rows[i]["failure"].is_null()) {
      line += "  " + outcomes[i].failure;
    } else {
      for (const ShownFigure& figure : figures) {
        const Json& value = rows[i][figure.key];
        line += fmt::format(" {:>{}}", value.is_number() ? figure.text(value.get<double>()) : "-",
                            kFigureWidth);
      }
    }
    text += sim::shortened(line, sim::Style::kWidth) + "\n";
  }
  return text;
}

}  // namespace tilewave::flow
