#include "quant/scheme.h"

#include <functional>

#include "base/error.h"
#include "base/yaml.h"

namespace tilewave::quant {
namespace {

const yaml::Names<Granularity> kGranularities = {{Granularity::per_tensor, "per_tensor"},
                                                 {Granularity::per_channel, "per_channel"}};
const yaml::Names<ObserverKind> kObservers = {{ObserverKind::min_max, "min_max"},
                                              {ObserverKind::percentile, "percentile"}};
const yaml::Names<RequantizeMode> kModes = {{RequantizeMode::float_multiplier, "float"},
                                            {RequantizeMode::fixed_point, "fixed_point"}};
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

void check(const Scheme& scheme, const Where& where) {
  check_bits(scheme.weight_bits, "weight_bits", where);
  check_bits(scheme.activation_bits, "activation_bits", where);
  if (scheme.activation_bits > 8 && !scheme.activation_signed) {
    throw InputError(where("activation_signed"), "is false with activation_bits 16",
                     "unsigned activations have 2 to 8 bits");
  }
  if (!(scheme.percentile > 50 && scheme.percentile <= 100)) {
    throw InputError(where("percentile"), "is " + detail::printed(scheme.percentile),
                     "above 50, at most 100");
  }
  if (scheme.calibration_images < 1) {
    throw InputError(where("calibration_images"), "is " + std::to_string(scheme.calibration_images),
                     "1 or more");
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

Scheme read_scheme(const yaml::Node& document, const std::string& where) {
  Scheme scheme;
  yaml::Map map(document, where);
  map.get("weight_bits", scheme.weight_bits);
  map.get("activation_bits", scheme.activation_bits);
  map.get("activation_signed", scheme.activation_signed);
  map.get("granularity", scheme.granularity, kGranularities);
  map.get("observer", scheme.observer, kObservers);
  map.get("percentile", scheme.percentile);
  map.get("calibration_images", scheme.calibration_images);
  map.get("requantize", scheme.requantize, kModes);
  get_optional(map, "accumulator_bits", scheme.accumulator_bits);
  get_optional(map, "overflow", scheme.overflow, kOverflows);
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
std::string name_of(RequantizeMode mode) {
  return name_in(kModes, mode);
}
std::string name_of(Overflow overflow) {
  return name_in(kOverflows, overflow);
}

void validate(const Scheme& scheme) {
  check(scheme, [](const std::string& key) { return "scheme: " + key; });
}

Scheme load_scheme(const std::string& path) {
  return read_scheme(yaml::load(path), path);
}

Scheme parse_scheme(const std::string& yaml, const std::string& where) {
  return read_scheme(yaml::parse(yaml, where), where);
}

}  // namespace tilewave::quant
