#include "sim/report/comparison.h"

#include <fmt/format.h>

#include "sim/report/json.h"

namespace tilewave::sim {
namespace {

void put_speed(Json& json, const PathFigures& path) {
  json["latency_seconds"] = path.latency_median_seconds;
  if (!path.simulated) {
    json["latency_p99_seconds"] = path.latency_p99_seconds;
    json["repeats"] = path.repeats;
  }
  json["seconds_per_image"] = path.images_per_second == 0 ? 0 : 1 / path.images_per_second;
  json["images_per_second"] = path.images_per_second;
}

std::string row(const PathFigures& path, const PathFigures& baseline, const Style& style) {
  const double relative = path.images_per_second / baseline.images_per_second;
  const std::string name = fmt::format("{:<24}", shortened(path.path, 24));
  return fmt::format(" {:>5}  {} {:>9} {:>9} {:>7.3f} {:>9} {:>9} {:>11} {:>7}\n", path.batch,
                     style.paint(path.simulated ? Colour::green : Colour::plain, name),
                     path.accuracy ? percent(*path.accuracy, 2) : "-",
                     percent(path.agreement_fp32, 2), path.largest_difference,
                     with_prefix(path.latency_median_seconds, "s"),
                     path.simulated ? "cycles" : with_prefix(path.latency_p99_seconds, "s"),
                     grouped(static_cast<std::int64_t>(path.images_per_second)),
                     fmt::format("{:.{}f} x", relative, relative < 99.5 ? 1 : 0));
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json json = result_header();
  json["chip"] = chip_json(comparison.chip);
  json["scheme"] = scheme_json(comparison.scheme);
  json["model"] = comparison.model;
  json["data"] = comparison.data;
  json["images"] = comparison.images;
  json["paths"] = Json::array();
  Json measured = Json::array();
  for (const PathFigures& path : comparison.paths) {
    const Json key = {{"path", path.path}, {"batch", path.batch}};
    Json figures = key;
    figures["simulated"] = path.simulated;
    figures["accuracy"] = optional_json(path.accuracy);
    figures["agreement_fp32"] = path.agreement_fp32;
    figures["largest_difference"] = path.largest_difference;
    Json speed = key;
    put_speed(path.simulated ? figures : speed, path);
    if (!path.simulated) measured.push_back(speed);
    json["paths"].push_back(figures);
  }
  json["host"] = {{"threads", comparison.threads}, {"cpu", comparison.cpu}, {"measured", measured}};
  return dumped(json);
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      "path,batch,simulated,accuracy,agreement_fp32,largest_difference,latency_median_seconds,"
      "latency_p99_seconds,repeats,images_per_second\n";
  for (const PathFigures& p : comparison.paths) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", p.path, p.batch, p.simulated,
                        p.accuracy ? fmt::format("{}", *p.accuracy) : "", p.agreement_fp32,
                        p.largest_difference, p.latency_median_seconds, p.latency_p99_seconds,
                        p.repeats, p.images_per_second);
  }
  return text;
}

std::string to_text(const Comparison& comparison, const Style& style) {
  std::string text = style.paint(
      Colour::bold, fmt::format(" {} on {} images of {}\n", shortened(comparison.model, 40),
                                grouped(comparison.images), shortened(comparison.data, 30)));
  text +=
      style.paint(Colour::dim, fmt::format(" CPU: {}, {} thread{}\n", shortened(comparison.cpu, 60),
                                           comparison.threads, comparison.threads == 1 ? "" : "s"));
  text +=
      "\n" + style.paint(Colour::bold,
                         fmt::format(" {:>5}  {:<24} {:>9} {:>9} {:>7} {:>9} {:>9} {:>11} {:>7}\n",
                                     "batch", "path", "accuracy", "as fp32", "differ", "latency",
                                     "99th pct", "images/s", "speed"));
  const PathFigures* baseline = nullptr;
  for (const PathFigures& path : comparison.paths) {
    const bool first_of_batch = baseline == nullptr || baseline->batch != path.batch;
    if (baseline != nullptr && first_of_batch) text += "\n";
    if (first_of_batch) baseline = &path;
    text += row(path, *baseline, style);
  }
  return text + "\n" +
         style.paint(
             Colour::dim,
             " as fp32: images with the same class as in fp32. differ: largest difference "
             "of an output from fp32.\n"
             " latency: one batch in, its results out. speed: images/s over the first path's"
             " of that batch.\n"
             " Simulated figures follow from counted cycles, the others are wall time on "
             "this CPU.\n");
}

}  // namespace tilewave::sim
