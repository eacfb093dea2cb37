#include "sim/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewave::sim {
namespace {

constexpr std::size_t kLayersShown = 6;

std::string bound_of(const Roof& roof, const RooflineLayer& layer) {
  return is_memory_bound(roof, layer) ? "memory" : "arithmetic";
}

std::vector<RooflineLayer> layers_shown(const Roof& roof) {
  std::int64_t batch = 0;
  for (const RooflineLayer& layer : roof.layers) batch = std::max(batch, layer.batch);
  std::vector<RooflineLayer> shown;
  for (const RooflineLayer& layer : roof.layers) {
    if (layer.batch == batch) shown.push_back(layer);
  }
  if (shown.size() <= kLayersShown) return shown;
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto& a, const auto& b) { return a.operations > b.operations; });
  shown.resize(kLayersShown);
  return shown;
}

std::string roof_line(const Roof& roof) {
  const std::string peak = roof.peak ? with_prefix(*roof.peak, "op/s") : "not known";
  const std::string memory =
      roof.bytes_per_second ? with_prefix(*roof.bytes_per_second, "B/s") : "unlimited";
  std::string ridge;
  if (roof.peak && roof.bytes_per_second) {
    ridge = fmt::format("   ridge {:.1f} op/B", *roof.peak / *roof.bytes_per_second);
  }
  return fmt::format(" {:<18} {:<5}  peak {:<10}  memory {:<10}{}\n", shortened(roof.device, 18),
                     roof.precision, peak, memory, ridge);
}

std::string layer_line(const Roof& roof, const RooflineLayer& layer) {
  const std::optional<double> most = attainable(roof, layer);
  return fmt::format("   {:<24} {:>6} {:>12.1f} {:>14} {:>9}  {}\n", shortened(layer.name, 24),
                     layer.batch, intensity(layer), most ? with_prefix(*most, "op/s") : "-",
                     most ? percent(*most / *roof.peak) : "-", most ? bound_of(roof, layer) : "-");
}

}  // namespace

double intensity(const RooflineLayer& layer) {
  return layer.operations / layer.bytes;
}

std::optional<double> attainable(const Roof& roof, const RooflineLayer& layer) {
  if (!roof.peak || !roof.bytes_per_second) return roof.peak;
  return std::min(*roof.peak, intensity(layer) * *roof.bytes_per_second);
}

bool is_memory_bound(const Roof& roof, const RooflineLayer& layer) {
  return roof.peak && roof.bytes_per_second &&
         intensity(layer) * *roof.bytes_per_second < *roof.peak;
}

Json roof_json(const Roof& roof) {
  Json json = {{"device", roof.device},
               {"precision", roof.precision},
               {"peak_operations_per_second", optional_json(roof.peak)},
               {"bytes_per_second", optional_json(roof.bytes_per_second)},
               {"source", roof.source},
               {"layers", Json::array()}};
  for (const RooflineLayer& layer : roof.layers) {
    json["layers"].push_back(
        {{"name", layer.name},
         {"batch", layer.batch},
         {"operations", layer.operations},
         {"bytes", layer.bytes},
         {"operations_per_byte", intensity(layer)},
         {"attainable_operations_per_second", optional_json(attainable(roof, layer))},
         {"bound", roof.peak ? Json(bound_of(roof, layer)) : Json(nullptr)}});
  }
  return json;
}

std::string roofs_text(const std::vector<Roof>& roofs, const Style& style) {
  std::string text = style.paint(
      Colour::bold, fmt::format("   {:<24} {:>6} {:>12} {:>14} {:>9}  {}\n", "roofline", "batch",
                                "op per byte", "attainable", "of peak", "bound by"));
  for (const Roof& roof : roofs) {
    text += "\n" + style.paint(roof.simulated ? Colour::green : Colour::plain, roof_line(roof)) +
            style.paint(Colour::dim, "   " + roof.source + "\n");
    const std::vector<RooflineLayer> shown = layers_shown(roof);
    for (const RooflineLayer& layer : shown) text += layer_line(roof, layer);
  }
  return text + "\n" +
         style.paint(Colour::dim,
                     " op: two per multiply-accumulate. Bytes of the CPU and of a GPU: weights, "
                     "inputs and outputs, each\n once. Bytes of the chip: weights, once; "
                     "activations stay in it. Of many, the largest "
                     "are shown.\n");
}

}  // namespace tilewave::sim
