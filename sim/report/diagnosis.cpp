#include "sim/report/diagnosis.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "sim/report/json.h"

namespace tilewave::sim {
namespace {

struct CauseName {
  const char* name;
  const char* text;
};
/// In the order of ErrorCause.
constexpr std::array<CauseName, 5> kCauses = {{{"none", "no error"},
                                               {"overflow", "overflow"},
                                               {"clipping", "clipping"},
                                               {"step", "own rounding"},
                                               {"arithmetic", "weights, inputs"}}};

const CauseName& cause_name(ErrorCause cause) {
  return kCauses.at(static_cast<std::size_t>(cause));
}

std::string decibels(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "exact";
}

Json layer_json(const LayerDiagnosis& layer) {
  return {{"name", layer.name},
          {"op", layer.operation},
          {"activation_bits", layer.activation_bits},
          {"weight_bits", layer.weight_bits == 0 ? Json(nullptr) : Json(layer.weight_bits)},
          {"sqnr_db", optional_json(layer.sqnr_db)},
          {"own_sqnr_db", optional_json(layer.own_sqnr_db)},
          {"cosine", layer.cosine},
          {"saturated", layer.saturated},
          {"accumulator_bits",
           layer.accumulator_bits == 0 ? Json(nullptr) : Json(layer.accumulator_bits)},
          {"overflows", layer.overflows ? Json(*layer.overflows) : Json(nullptr)},
          {"cause", name_of(layer.cause)},
          {"histogram", layer.histogram}};
}

std::string heading(const Diagnosis& d, const Style& style) {
  std::string text =
      style.paint(Colour::bold, fmt::format(" {} on {} images of {}", shortened(d.model, 20),
                                            grouped(d.images), shortened(d.data, 14)));
  text += style.paint(Colour::dim, fmt::format("   accumulators of {} bits that {}\n",
                                               d.chip.precision.accumulator_bits,
                                               quant::name_of(d.chip.precision.overflow)));
  std::vector<std::string> parts;
  if (d.accuracy) parts.push_back(percent(*d.accuracy, 2) + " on the chip");
  if (d.accuracy_fp32) parts.push_back(percent(*d.accuracy_fp32, 2) + " fp32");
  if (d.agreement_fp32) parts.push_back(percent(*d.agreement_fp32, 2) + " the same class as fp32");
  return text + (parts.empty() ? "" : " accuracy  " + join(parts, "   ") + "\n");
}

std::string row(const LayerDiagnosis& layer, bool is_worst, const Style& style) {
  const std::string bits = layer.weight_bits == 0
                               ? fmt::format("{}", layer.activation_bits)
                               : fmt::format("{}x{}", layer.weight_bits, layer.activation_bits);
  const std::string text = fmt::format(
      " {} {:<12} {:<9} {:>5} {:>6} {:>6} {:>8.5f} {:>9} {:>4} {:>11}  {}\n", is_worst ? ">" : " ",
      shortened(layer.name, 12), shortened(layer.operation, 9), bits, decibels(layer.sqnr_db),
      decibels(layer.own_sqnr_db), layer.cosine, percent(layer.saturated, 2),
      layer.accumulator_bits == 0 ? "-" : std::to_string(layer.accumulator_bits),
      layer.overflows ? grouped(*layer.overflows) : "-", cause_name(layer.cause).text);
  return is_worst ? style.paint(Colour::red, text) : text;
}

}  // namespace

std::string name_of(ErrorCause cause) {
  return cause_name(cause).name;
}

std::optional<std::size_t> worst_layer(const Diagnosis& diagnosis) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < diagnosis.layers.size(); ++i) {
    const auto& own = diagnosis.layers[i].own_sqnr_db;
    if (own && (!worst || *own < *diagnosis.layers[*worst].own_sqnr_db)) worst = i;
  }
  return worst;
}

std::string to_json(const Diagnosis& diagnosis) {
  Json json = result_header();
  json["chip"] = chip_json(diagnosis.chip);
  json["scheme"] = scheme_json(diagnosis.scheme);
  json["model"] = diagnosis.model;
  json["data"] = diagnosis.data;
  json["images"] = diagnosis.images;
  json["accuracy"] = optional_json(diagnosis.accuracy);
  json["accuracy_fp32"] = optional_json(diagnosis.accuracy_fp32);
  json["agreement_fp32"] = optional_json(diagnosis.agreement_fp32);
  const auto worst = worst_layer(diagnosis);
  json["worst_layer"] = worst ? Json(diagnosis.layers[*worst].name) : Json(nullptr);
  json["layers"] = Json::array();
  for (const LayerDiagnosis& layer : diagnosis.layers) json["layers"].push_back(layer_json(layer));
  return dumped(json);
}

std::string to_csv(const Diagnosis& diagnosis) {
  std::string text =
      "name,op,activation_bits,weight_bits,sqnr_db,own_sqnr_db,cosine,saturated,"
      "accumulator_bits,overflows,cause\n";
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : ""; };
  const auto bits = [](int value) { return value == 0 ? "" : std::to_string(value); };
  for (const LayerDiagnosis& layer : diagnosis.layers) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(layer.name),
                    csv_field(layer.operation), layer.activation_bits, bits(layer.weight_bits),
                    number(layer.sqnr_db), number(layer.own_sqnr_db), layer.cosine, layer.saturated,
                    bits(layer.accumulator_bits), number(layer.overflows), name_of(layer.cause));
  }
  return text;
}

std::string to_text(const Diagnosis& diagnosis, const Style& style) {
  std::string text =
      heading(diagnosis, style) + "\n" +
      style.paint(Colour::bold,
                  fmt::format("   {:<12} {:<9} {:>5} {:>6} {:>6} {:>8} {:>9} {:>4} {:>11}  {}\n",
                              "layer", "op", "bits", "SQNR", "own", "cosine", "saturated", "sums",
                              "overflows", "error from"));
  const auto worst = worst_layer(diagnosis);
  for (std::size_t i = 0; i < diagnosis.layers.size(); ++i) {
    text += row(diagnosis.layers[i], worst == i, style);
  }
  if (worst) {
    const LayerDiagnosis& layer = diagnosis.layers[*worst];
    text += fmt::format("\n {} hurts most: alone it leaves {} dB; most of its error: {}\n",
                        shortened(layer.name, 30), decibels(layer.own_sqnr_db),
                        cause_name(layer.cause).text);
  }
  return text + "\n" +
         style.paint(
             Colour::dim,
             " bits: weights x activations. SQNR: dB, against fp32, all layers integer. own: "
             "the layer alone,\n"
             " fed with fp32's activations. saturated: values at an end of the range. sums: "
             "bits of an\n"
             " accumulator that the layer's complete sums need.\n");
}

}  // namespace tilewave::sim
