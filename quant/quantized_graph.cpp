#include "quant/quantized_graph.h"

#include <array>

namespace tilewave::quant {

std::string operation_name(const QOperation& operation) {
  if (const auto* lookup = std::get_if<QLookup>(&operation)) return lookup->function;
  static constexpr std::array<const char*, std::variant_size_v<QOperation>> kNames = {
      "Input", "Conv", "Gemm", "Add", "MaxPool", "AveragePool", "Lookup", "Flatten"};
  return kNames[operation.index()];
}

Format QuantizedGraph::activation_format() const {
  Format widest = scheme.activation_format("");
  for (const QNode& node : nodes) {
    if (node.quantization.format.bits > widest.bits) widest = node.quantization.format;
  }
  return widest;
}

Format QuantizedGraph::weight_format() const {
  Format widest = scheme.weight_format("");
  const auto widen = [&](const auto* layer) {
    if (layer != nullptr && layer->weight_format.bits > widest.bits) widest = layer->weight_format;
  };
  for (const QNode& node : nodes) {
    widen(std::get_if<QConv>(&node.operation));
    widen(std::get_if<QDense>(&node.operation));
  }
  return widest;
}

std::vector<std::int16_t> quantize_pixels(const Quantization& input,
                                          std::span<const std::uint8_t> pixels) {
  std::array<std::int16_t, 256> table;
  for (std::size_t p = 0; p < table.size(); ++p) {
    table[p] = static_cast<std::int16_t>(quantize(static_cast<float>(p) / 255.0F, input));
  }
  std::vector<std::int16_t> values(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) values[i] = table[pixels[i]];
  return values;
}

}  // namespace tilewave::quant
