#include "sim/report/comparison.h"

#include <fmt/format.h>

#include "sim/report/json.h"

namespace tilewave::sim {
namespace {

constexpr const char* kLatency =
    "median and 99th percentile of one batch: bytes of the images from the host's memory, outputs "
    "back in it; on a GPU its copies, on the chip its transfers included";
constexpr const char* kCompute =
    "the same without the host's transfers: on a GPU between two events on its stream, on the chip "
    "from the arrival of the first input to the last result in the unified buffer; on a CPU the "
    "latency";

void put_speed(Json& json, const PathFigures& path) {
  json["latency_seconds"] = path.latency.median_seconds;
  json["compute_seconds"] = path.compute.median_seconds;
  if (!path.simulated) {
    json["latency_p99_seconds"] = path.latency.p99_seconds;
    json["compute_p99_seconds"] = path.compute.p99_seconds;
    json["repeats"] = path.repeats;
  }
  json["seconds_per_image"] = path.seconds_per_image();
  json["images_per_second"] = path.images_per_second;
  json["compute_images_per_second"] = path.compute_images_per_second();
}

void put_values(Json& json, const PathFigures& path) {
  json["accuracy"] = optional_json(path.accuracy);
  json["agreement_fp32"] = path.agreement_fp32;
  json["largest_difference"] = path.largest_difference;
}

Json key_json(const PathFigures& path) {
  return {{"path", path.path},
          {"device", path.device},
          {"precision", path.precision},
          {"batch", path.batch}};
}

Json roofs_json(const Comparison& comparison, bool simulated) {
  Json roofs = Json::array();
  for (const Roof& roof : comparison.roofs) {
    if (roof.simulated == simulated) roofs.push_back(roof_json(roof));
  }
  return roofs;
}

Json host_json(const Comparison& comparison) {
  Json measured = Json::array();
  for (const PathFigures& path : comparison.paths) {
    if (path.simulated) continue;
    Json figures = key_json(path);
    if (path.device == "gpu") put_values(figures, path);
    put_speed(figures, path);
    measured.push_back(figures);
  }
  Json missing = Json::array();
  for (const MissingPath& path : comparison.missing) {
    missing.push_back({{"path", path.path}, {"reason", path.reason}});
  }
  Json host = {{"threads", comparison.threads},
               {"cpu", comparison.cpu},
               {"gpu", comparison.gpu.empty() ? Json(nullptr) : Json(comparison.gpu)},
               {"measured", measured},
               {"missing", missing}};
  if (!comparison.roofs.empty()) host["roofline"] = roofs_json(comparison, false);
  return host;
}

std::string row(const PathFigures& path, const Style& style) {
  const std::string name = fmt::format("{:<20}", shortened(path.path, 20));
  const auto seconds = [](double value) { return with_prefix(value, "s"); };
  return fmt::format(" {:>5} {} {:>8} {:>8} {:>6.4g} {:>8} {:>8} {:>8} {:>8} {:>11}\n", path.batch,
                     style.paint(path.simulated ? Colour::green : Colour::plain, name),
                     path.accuracy ? percent(*path.accuracy, 2) : "-",
                     percent(path.agreement_fp32, 2), path.largest_difference,
                     seconds(path.latency.median_seconds),
                     path.simulated ? "cycles" : seconds(path.latency.p99_seconds),
                     seconds(path.compute.median_seconds), seconds(path.seconds_per_image()),
                     grouped(static_cast<std::int64_t>(path.images_per_second)));
}

std::string heading(const Comparison& comparison, const Style& style) {
  std::string text = style.paint(
      Colour::bold, fmt::format(" {} on {} images of {}\n", shortened(comparison.model, 40),
                                grouped(comparison.images), shortened(comparison.data, 30)));
  text +=
      style.paint(Colour::dim, fmt::format(" CPU: {}, {} thread{}\n", shortened(comparison.cpu, 60),
                                           comparison.threads, comparison.threads == 1 ? "" : "s"));
  if (!comparison.gpu.empty()) {
    text += style.paint(Colour::dim, " GPU: " + shortened(comparison.gpu, 80) + "\n");
  }
  for (const MissingPath& path : comparison.missing) {
    text += fmt::format(" {}: {}\n", path.path, shortened(path.reason, 95 - path.path.size()));
  }
  return text + "\n" +
         style.paint(Colour::bold,
                     fmt::format(" {:>5} {:<20} {:>8} {:>8} {:>6} {:>8} {:>8} {:>8} {:>8} {:>11}\n",
                                 "batch", "path", "correct", "as fp32", "differ", "latency",
                                 "99th pct", "compute", "an image", "images/s"));
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json json = result_header();
  json["chip"] = chip_json(comparison.chip);
  json["scheme"] = scheme_json(comparison.scheme);
  json["model"] = comparison.model;
  json["data"] = comparison.data;
  json["images"] = comparison.images;
  json["latency_includes"] = kLatency;
  json["compute_includes"] = kCompute;
  json["paths"] = Json::array();
  for (const PathFigures& path : comparison.paths) {
    if (path.device == "gpu") continue;
    Json figures = key_json(path);
    figures["simulated"] = path.simulated;
    put_values(figures, path);
    if (path.simulated) put_speed(figures, path);
    json["paths"].push_back(figures);
  }
  if (!comparison.roofs.empty()) json["roofline"] = roofs_json(comparison, true);
  json["host"] = host_json(comparison);
  return dumped(json);
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      "path,device,precision,batch,simulated,accuracy,agreement_fp32,largest_difference,"
      "latency_median_seconds,latency_p99_seconds,compute_median_seconds,compute_p99_seconds,"
      "repeats,seconds_per_image,images_per_second,compute_images_per_second\n";
  for (const PathFigures& p : comparison.paths) {
    text += fmt::format("{},{},{},{},{},{},{},{},", p.path, p.device, p.precision, p.batch,
                        p.simulated, p.accuracy ? fmt::format("{}", *p.accuracy) : "",
                        p.agreement_fp32, p.largest_difference);
    text +=
        fmt::format("{},{},{},{},{},{},{},{}\n", p.latency.median_seconds, p.latency.p99_seconds,
                    p.compute.median_seconds, p.compute.p99_seconds, p.repeats,
                    p.seconds_per_image(), p.images_per_second, p.compute_images_per_second());
  }
  return text;
}

std::string to_text(const Comparison& comparison, const Style& style) {
  std::string text = heading(comparison, style);
  const PathFigures* before = nullptr;
  for (const PathFigures& path : comparison.paths) {
    if (before != nullptr && before->batch != path.batch) text += "\n";
    text += row(path, style);
    before = &path;
  }
  text += "\n" +
          style.paint(Colour::dim,
                      " as fp32: images with the same class as in fp32 on the CPU. differ: largest "
                      "difference of an output.\n"
                      " latency: one batch in from the host's memory, its results out to it. "
                      "compute: without these\n"
                      " transfers. an image: one over images/s. Figures of the chip follow from "
                      "counted cycles, images/s\n"
                      " with batches that follow each other; the others were measured here, "
                      "images/s with latency.\n");
  return comparison.roofs.empty() ? text : text + "\n" + roofs_text(comparison.roofs, style);
}

}  // namespace tilewave::sim
