#include "flow/experiment/configuration.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "models/dataset.h"
#include "models/onnx_reader.h"

namespace tilewave::flow {
namespace {

/// A name of what ships stays as it is, a name without a "/" too, which then is a mistake; a path
/// is taken from the folder of the file that it stands in.
std::string located(const std::string& name, const std::vector<std::string>& shipped,
                    const std::string& where) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".onnx");
  if (!is_path || std::find(shipped.begin(), shipped.end(), name) != shipped.end()) return name;
  return (std::filesystem::path(where).parent_path() / name).lexically_normal().string();
}

void check_positive(yaml::Map& map, const std::string& key, std::int64_t value) {
  if (value >= 1) return;
  throw InputError(map.where(key), std::to_string(value) + " is not allowed", "1 or more");
}

sim::Chip read_chip(const yaml::Node& node, const std::string& where) {
  if (node.kind != yaml::Node::Kind::scalar) return sim::parse_chip(node, where);
  yaml::Node extending;
  extending.kind = yaml::Node::Kind::mapping;
  extending.line = node.line;
  extending.keys = {"extends"};
  extending.items = {node};
  return sim::parse_chip(extending, where);
}

/// Whether the chip's part of the document has precision.`key`.
bool sets_precision(const yaml::Node* chip, const std::string& key) {
  const yaml::Node* precision = chip == nullptr ? nullptr : chip->find("precision");
  return precision != nullptr && precision->find(key) != nullptr;
}

/// The most bits that the scheme gives a layer: of weights, of activations.
std::pair<int, int> widest(const quant::Scheme& scheme) {
  int weights = scheme.weight_bits;
  int activations = scheme.activation_bits;
  for (const auto& [name, layer] : scheme.layers) {
    weights = std::max(weights, layer.weight_bits.value_or(0));
    activations = std::max(activations, layer.activation_bits.value_or(0));
  }
  return {weights, activations};
}

}  // namespace

Configuration read_configuration(const yaml::Node& document, const std::string& where) {
  Configuration result;
  yaml::Map map(document, where);
  const yaml::Node* chip = map.find("chip");
  if (chip != nullptr) result.chip = read_chip(*chip, where);
  if (const yaml::Node* scheme = map.find("scheme")) {
    result.scheme = quant::parse_scheme(*scheme, where);
  }
  const auto [weight_bits, activation_bits] = widest(result.scheme);
  if (!sets_precision(chip, "weight_bits")) result.chip.precision.weight_bits = weight_bits;
  if (!sets_precision(chip, "activation_bits")) {
    result.chip.precision.activation_bits = activation_bits;
  }
  map.get("model", result.model);
  map.get("data", result.data);
  const yaml::Node* images = map.find("images");
  if (images != nullptr && images->kind != yaml::Node::Kind::null) {
    map.get("images", result.images.emplace());
    check_positive(map, "images", *result.images);
  }
  map.get("batch", result.batch);
  check_positive(map, "batch", result.batch);
  map.get("accuracy", result.accuracy);
  map.finish();
  result.model = located(result.model, models::model_names(), where);
  result.data = located(result.data, models::dataset_names(), where);
  return result;
}

sim::Json to_json(const Configuration& configuration) {
  const auto& images = configuration.images;
  return {{"chip", sim::chip_json(configuration.chip)},
          {"scheme", sim::scheme_json(configuration.scheme)},
          {"model", configuration.model},
          {"data", configuration.data},
          {"images", images ? sim::Json(*images) : sim::Json(nullptr)},
          {"batch", configuration.batch},
          {"accuracy", configuration.accuracy}};
}

Configuration parse_configuration(const std::string& text) {
  return read_configuration(yaml::parse(text, "point"), "point");
}

}  // namespace tilewave::flow
