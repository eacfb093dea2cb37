#include "quant/scheme.h"

#include <functional>

#include "base/error.h"
#include "base/yaml.h"

namespace tilewave::quant {
namespace {

const yaml::Names<Granularity> kGranularities = {{Granularity::per_tensor, "per_tensor"},
                                                 {Granularity::per_channel, "per_channel"}};
const yaml::Names<ObserverKind> kObservers = {{ObserverKind::min_max, "min_max"},
                                              {ObserverKind::moving_average, "moving_average"},
                                              {ObserverKind::percentile, "percentile"},
                                              {ObserverKind::mse, "mse"},
                                              {ObserverKind::entropy, "entropy"}};
const yaml::Names<WeightObserver> kWeightObservers = {{WeightObserver::min_max, "min_max"},
                                                      {WeightObserver::mse, "mse"}};
const yaml::Names<WeightRounding> kRoundings = {{WeightRounding::nearest, "nearest"},
                                                {WeightRounding::adaptive, "adaptive"}};
const yaml::Names<RequantizeMode> kModes = {
    {RequantizeMode::float_multiplier, "float"},
    {RequantizeMode::fixed_point, "fixed_point"},
    {RequantizeMode::fixed_point_single_rounding, "fixed_point_single_rounding"}};
const yaml::Names<Overflow> kOverflows = {{Overflow::wrap, "wrap"},
                                          {Overflow::saturate, "saturate"}};

template <typename Enum>
std::string name_in(const yaml::Names<Enum>& names, Enum value) {
  for (const auto& name : names) {
    if (name.first == value) return name.second;
  }
  throw InternalError("a value without a name");
}

/// Where a key stands, for errors.
using Where = std::function<std::string(const std::string& key)>;

void check_bits(int bits, const std::string& key, const Where& where) {
  if ((bits >= 2 && bits <= 8) || bits == 16) return;
  throw InputError(where(key), "is " + std::to_string(bits), "2 to 8, or 16");
}

void check_activations(const Scheme& scheme, const Where& where) {
  if (scheme.activation_signed) return;
  if (scheme.activation_symmetric) {
    throw InputError(where("activation_symmetric"), "is true with activation_signed false",
                     "symmetric activations are signed");
  }
  const auto check_width = [&](int bits, const std::string& key) {
    if (bits <= 8) return;
    throw InputError(where("activation_signed"), "is false with " + key + " 16",
                     "unsigned activations have 2 to 8 bits");
  };
  check_width(scheme.activation_bits, "activation_bits");
  for (const auto& [name, layer] : scheme.layers) {
    check_width(layer.activation_bits.value_or(0), "layers." + name + ".activation_bits");
  }
}

void check(const LayerScheme& layer, const Where& where) {
  if (layer.weight_bits) check_bits(*layer.weight_bits, "weight_bits", where);
  if (layer.activation_bits) check_bits(*layer.activation_bits, "activation_bits", where);
}

void check(const Scheme& scheme, const Where& where) {
  check_bits(scheme.weight_bits, "weight_bits", where);
  check_bits(scheme.activation_bits, "activation_bits", where);
  check_activations(scheme, where);
  if (!(scheme.percentile > 50 && scheme.percentile <= 100)) {
    throw InputError(where("percentile"), "is " + detail::printed(scheme.percentile),
                     "above 50, at most 100");
  }
  if (!(scheme.momentum >= 0 && scheme.momentum < 1)) {
    throw InputError(where("momentum"), "is " + detail::printed(scheme.momentum),
                     "0 or more, below 1");
  }
  if (scheme.calibration_images < 1) {
    throw InputError(where("calibration_images"), "is " + std::to_string(scheme.calibration_images),
                     "1 or more");
  }
  if (scheme.seed.value_or(0) < 0) {
    throw InputError(where("seed"), "is " + std::to_string(*scheme.seed), "0 or more");
  }
  const int bits = scheme.accumulator_bits.value_or(kMaxAccumulatorBits);
  if (bits < kMinAccumulatorBits || bits > kMaxAccumulatorBits) {
    throw InputError(
        where("accumulator_bits"), "is " + std::to_string(bits),
        std::to_string(kMinAccumulatorBits) + " to " + std::to_string(kMaxAccumulatorBits));
  }
}

/// Absent or null: nothing.
template <typename T, typename... Names>
void get_optional(yaml::Map& map, const std::string& key, std::optional<T>& value,
                  const Names&... names) {
  const yaml::Node* node = map.find(key);
  if (node == nullptr || node->kind == yaml::Node::Kind::null) return;
  map.get(key, value.emplace(), names...);
}

void read_layers(yaml::Map& layers, const yaml::Node& node, Scheme& scheme) {
  for (const std::string& name : node.keys) {
    layers.get(name, [&](yaml::Map& map) {
      LayerScheme& layer = scheme.layers[name];
      get_optional(map, "weight_bits", layer.weight_bits);
      get_optional(map, "activation_bits", layer.activation_bits);
      get_optional(map, "granularity", layer.granularity, kGranularities);
      check(layer, [&](const std::string& key) { return map.where(key); });
    });
  }
}

Scheme read_scheme(const yaml::Node& document, const std::string& where) {
  Scheme scheme;
  yaml::Map map(document, where);
  map.get("weight_bits", scheme.weight_bits);
  map.get("activation_bits", scheme.activation_bits);
  map.get("activation_signed", scheme.activation_signed);
  map.get("activation_symmetric", scheme.activation_symmetric);
  map.get("granularity", scheme.granularity, kGranularities);
  map.get("weight_observer", scheme.weight_observer, kWeightObservers);
  map.get("weight_rounding", scheme.weight_rounding, kRoundings);
  map.get("bias_correction", scheme.bias_correction);
  map.get("cross_layer_equalization", scheme.cross_layer_equalization);
  map.get("observer", scheme.observer, kObservers);
  map.get("percentile", scheme.percentile);
  map.get("momentum", scheme.momentum);
  map.get("calibration_images", scheme.calibration_images);
  get_optional(map, "seed", scheme.seed);
  map.get("requantize", scheme.requantize, kModes);
  get_optional(map, "accumulator_bits", scheme.accumulator_bits);
  get_optional(map, "overflow", scheme.overflow, kOverflows);
  if (const yaml::Node* layers = map.find("layers")) {
    map.get("layers", [&](yaml::Map& given) { read_layers(given, *layers, scheme); });
  }
  map.finish();
  check(scheme, [&](const std::string& key) { return map.where(key); });
  return scheme;
}

}  // namespace

std::string name_of(Granularity granularity) {
  return name_in(kGranularities, granularity);
}
std::string name_of(ObserverKind observer) {
  return name_in(kObservers, observer);
}
std::string name_of(WeightObserver observer) {
  return name_in(kWeightObservers, observer);
}
std::string name_of(WeightRounding rounding) {
  return name_in(kRoundings, rounding);
}
std::string name_of(RequantizeMode mode) {
  return name_in(kModes, mode);
}
std::string name_of(Overflow overflow) {
  return name_in(kOverflows, overflow);
}

Format Scheme::weight_format(const std::string& layer) const {
  const auto own = layers.find(layer);
  return {own == layers.end() ? weight_bits : own->second.weight_bits.value_or(weight_bits), true,
          true};
}

Format Scheme::activation_format(const std::string& layer) const {
  const auto own = layers.find(layer);
  return {
      own == layers.end() ? activation_bits : own->second.activation_bits.value_or(activation_bits),
      activation_signed, activation_symmetric};
}

Granularity Scheme::granularity_of(const std::string& layer) const {
  const auto own = layers.find(layer);
  return own == layers.end() ? granularity : own->second.granularity.value_or(granularity);
}

Scheme calibration_part(const Scheme& scheme) {
  Scheme part;
  part.weight_rounding = scheme.weight_rounding;
  part.bias_correction = scheme.bias_correction;
  part.cross_layer_equalization = scheme.cross_layer_equalization;
  part.observer = scheme.observer;
  if (scheme.observer == ObserverKind::percentile) part.percentile = scheme.percentile;
  if (scheme.observer == ObserverKind::moving_average) part.momentum = scheme.momentum;
  part.calibration_images = scheme.calibration_images;
  part.seed = scheme.seed;
  return part;
}

void validate(const Scheme& scheme) {
  check(scheme, [](const std::string& key) { return "scheme: " + key; });
  for (const auto& [name, layer] : scheme.layers) {
    check(layer, [&, &name = name](const std::string& key) {
      return "scheme: layers." + name + "." + key;
    });
  }
}

Scheme load_scheme(const std::string& path) {
  return read_scheme(yaml::load(path), path);
}

Scheme parse_scheme(const std::string& yaml, const std::string& where) {
  return read_scheme(yaml::parse(yaml, where), where);
}

Scheme parse_scheme(const yaml::Node& document, const std::string& where) {
  return read_scheme(document, where);
}

}  // namespace tilewave::quant
