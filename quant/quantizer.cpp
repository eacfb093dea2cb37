#include "quant/quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "quant/quantize_weights.h"

namespace tilewave::quant {
namespace {

using models::NodeId;

/// The real range that an activation function lets through.
struct RealClamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

std::optional<RealClamp> as_clamp(const models::Operation& operation) {
  if (std::holds_alternative<models::Relu>(operation)) return RealClamp{.low = 0};
  if (const auto* clip = std::get_if<models::Clip>(&operation)) {
    return RealClamp{clip->low, clip->high};
  }
  return std::nullopt;
}

bool takes_fusion(const models::Operation& operation) {
  return std::holds_alternative<models::Conv>(operation) ||
         std::holds_alternative<models::Dense>(operation) ||
         std::holds_alternative<models::Add>(operation);
}

class Quantizer {
 public:
  Quantizer(const Calibration& calibration, const Scheme& scheme)
      : calibration_(calibration),
        graph_(*calibration.graph),
        scheme_(scheme),
        quantized_ids_(graph_.nodes().size(), -1) {
    result_.name = graph_.name();
    result_.scheme = scheme;
  }

  QuantizedGraph run() {
    find_readers();
    for (NodeId id = 0; id < count(); ++id) {
      if (live_[index(id)] && quantized_ids_[index(id)] < 0) add(id);
    }
    for (const auto& [name, layer] : scheme_.layers) check_layer(name, layer);
    return std::move(result_);
  }

 private:
  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }
  NodeId count() const { return static_cast<NodeId>(graph_.nodes().size()); }

  /// Which nodes the output depends on (the input always stays), and who of those reads each.
  void find_readers() {
    const bool softmax = std::holds_alternative<models::Softmax>(graph_.output().operation);
    const NodeId output = softmax ? graph_.output().inputs.front() : count() - 1;
    live_.assign(graph_.nodes().size(), false);
    readers_.resize(graph_.nodes().size());
    live_[0] = true;
    live_[index(output)] = true;
    for (NodeId id = output; id > 0; --id) {
      if (!live_[index(id)]) continue;
      for (const NodeId input : graph_.node(id).inputs) {
        live_[index(input)] = true;
        readers_[index(input)].push_back(id);
      }
    }
  }

  /// The Relu or Clip that becomes part of `id`, or `id` itself.
  NodeId fused_end(NodeId id) const {
    const auto& readers = readers_[index(id)];
    const bool fuses = takes_fusion(graph_.node(id).operation) && readers.size() == 1 &&
                       as_clamp(graph_.node(readers.front()).operation).has_value();
    return fuses ? readers.front() : id;
  }

  void add(NodeId id) {
    const models::Node& node = graph_.node(id);
    QNode made;
    made.name = node.name;
    made.shape = node.shape;
    for (const NodeId input : node.inputs) made.inputs.push_back(quantized_ids_[index(input)]);
    const NodeId end = fused_end(id);
    const Format format = scheme_.activation_format(node.name);
    made.quantization = choose_quantization(observer(end).range(format), format);
    moments_ = calibration_.moments.empty() ? nullptr : &calibration_.moments[index(id)];
    clamp_ = as_clamp(graph_.node(end).operation).value_or(RealClamp{});
    made.operation =
        std::visit([&](const auto& operation) { return convert(operation, made); }, node.operation);
    const auto made_id = static_cast<NodeId>(result_.nodes.size());
    quantized_ids_[index(id)] = made_id;
    quantized_ids_[index(end)] = made_id;
    result_.nodes.push_back(std::move(made));
  }

  const Observer& observer(NodeId id) const { return *calibration_.observers[index(id)]; }

  const QNode& input_of(const QNode& node, std::size_t which = 0) const {
    return result_.nodes[index(node.inputs.at(which))];
  }
  std::int32_t low(const QNode& node) const { return quantize(clamp_.low, node.quantization); }
  std::int32_t high(const QNode& node) const { return quantize(clamp_.high, node.quantization); }

  QOperation convert(const models::Input&, QNode&) const { return QInput{}; }

  QOperation convert(const models::Conv& conv, QNode& node) const {
    QConv made;
    made.window = conv.window;
    made.groups = conv.groups;
    fill_matrix(conv, node, made);
    return made;
  }

  QOperation convert(const models::Dense& dense, QNode& node) const {
    QDense made;
    fill_matrix(dense, node, made);
    return made;
  }

  template <typename From, typename To>
  void fill_matrix(const From& from, const QNode& node, To& made) const {
    const float input_scale = input_of(node).quantization.scale;
    made.weight_format = scheme_.weight_format(node.name);
    const WeightRule rule{made.weight_format,      scheme_.granularity_of(node.name),
                          scheme_.weight_observer, scheme_.weight_rounding,
                          scheme_.bias_correction, moments_};
    QuantizedWeights weights = quantize_weights(from.weight, from.bias, input_scale, rule);
    made.weight = std::move(weights.weight);
    made.bias = std::move(weights.bias);
    made.weight_scale = std::move(weights.scale);
    made.requantizer = make_requantizer(input_scale, made.weight_scale, node.quantization,
                                        scheme_.requantize, low(node), high(node), node.name);
  }

  QOperation convert(const models::Add&, QNode& node) const {
    return QAdd{make_adder(input_of(node, 0).quantization, input_of(node, 1).quantization,
                           node.quantization, scheme_.requantize, low(node), high(node))};
  }

  QOperation convert(const models::MaxPool& pool, QNode& node) const {
    node.quantization = input_of(node).quantization;
    return QMaxPool{pool.window};
  }

  QOperation convert(const models::AveragePool& pool, QNode& node) const {
    node.quantization = input_of(node).quantization;
    const std::int64_t places = pool.window.kernel_height * pool.window.kernel_width;
    const std::int64_t most = most_averaged_places(node.quantization.format);
    if (places > most) {
      throw InputError(node.name,
                       "averages " + std::to_string(places) + " values of " +
                           std::to_string(node.quantization.format.bits) +
                           " bits, more than a 32-bit sum holds",
                       "at most " + std::to_string(most));
    }
    return QAveragePool{pool.window, pool.count_include_pad, scheme_.requantize};
  }

  QOperation convert(const models::Flatten&, QNode& node) const {
    node.quantization = input_of(node).quantization;
    return QFlatten{};
  }

  QOperation convert(const models::Relu&, QNode& node) const { return clamp_table("Relu", node); }
  QOperation convert(const models::Clip&, QNode& node) const { return clamp_table("Clip", node); }

  QOperation clamp_table(const char* name, QNode& node) const {
    node.quantization = input_of(node).quantization;
    const std::int32_t least = low(node);
    const std::int32_t most = high(node);
    return table(name, node, [=](std::int32_t q) { return std::clamp(q, least, most); });
  }

  QOperation convert(const models::Sigmoid&, QNode& node) const {
    return function_table("Sigmoid", node, {0, 1}, [](double x) { return 1 / (1 + std::exp(-x)); });
  }

  QOperation convert(const models::Tanh&, QNode& node) const {
    return function_table("Tanh", node, {-1, 1}, [](double x) { return std::tanh(x); });
  }

  /// The function is taken in double and rounded to fp32, so that tables do not depend on the
  /// last place of a math library.
  template <typename Function>
  QOperation function_table(const char* name, QNode& node, Observer::Range range,
                            Function function) const {
    node.quantization = choose_quantization(range, scheme_.activation_format(node.name));
    const Quantization& from = input_of(node).quantization;
    return table(name, node, [&](std::int32_t q) {
      const auto real = static_cast<double>(dequantize(q, from));
      return quantize(static_cast<float>(function(real)), node.quantization);
    });
  }

  template <typename Map>
  QOperation table(const char* name, const QNode& node, Map map) const {
    QLookup lookup{name, {}};
    const Format& format = input_of(node).quantization.format;
    for (std::int32_t q = format.qmin(); q <= format.qmax(); ++q) {
      lookup.table.push_back(static_cast<std::int16_t>(map(q)));
    }
    return lookup;
  }

  QOperation convert(const models::Softmax&, QNode& node) const {
    throw InputError(node.name, "is a Softmax before the network's end",
                     "a Softmax only as the last node");
  }

  /// Throws InputError unless the keys that a scheme has for a layer can be followed.
  void check_layer(const std::string& name, const LayerScheme& layer) const {
    const std::string where = "scheme: layers." + excerpt(name);
    const auto made = std::ranges::find(result_.nodes, name, &QNode::name);
    if (made == result_.nodes.end()) refuse_unknown(where, name);
    const bool has_weights = std::holds_alternative<QConv>(made->operation) ||
                             std::holds_alternative<QDense>(made->operation);
    const std::string what =
        " is for a layer with weights, not for " + operation_name(made->operation);
    if (!has_weights && layer.weight_bits) throw InputError(where, "weight_bits" + what);
    if (!has_weights && layer.granularity) throw InputError(where, "granularity" + what);
    if (layer.activation_bits && made->quantization.format != scheme_.activation_format(name)) {
      throw InputError(where, operation_name(made->operation) + " keeps its input's quantization",
                       "activation_bits for the layer before it");
    }
  }

  [[noreturn]] void refuse_unknown(const std::string& where, const std::string& name) const {
    const auto node = std::ranges::find(graph_.nodes(), name, &models::Node::name);
    if (node != graph_.nodes().end()) {
      const NodeId made = quantized_ids_[static_cast<std::size_t>(node - graph_.nodes().begin())];
      if (made < 0) throw InputError(where, "the output does not depend on it");
      throw InputError(where, "is fused into another layer", result_.nodes[index(made)].name);
    }
    std::vector<std::string> names;
    for (const QNode& node_made : result_.nodes) names.push_back(node_made.name);
    throw InputError(where, "no layer has this name", suggestion(name, names));
  }

  const Calibration& calibration_;
  const models::Graph& graph_;
  const Scheme& scheme_;
  std::vector<bool> live_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<NodeId> quantized_ids_;      // -1: not made yet
  RealClamp clamp_;                        // of the node being made
  const InputMoments* moments_ = nullptr;  // of the node being made, if the scheme needs any
  QuantizedGraph result_;
};

}  // namespace

QuantizedGraph quantize_graph(const Calibration& calibration, const Scheme& scheme) {
  validate(scheme);
  TILEWAVE_CHECK(calibration.observers.size(), ==, calibration.graph->nodes().size(),
                 "one observer per node");
  TILEWAVE_CHECK(calibration.scheme == calibration_part(scheme), ==, true,
                 "calibrated as the scheme asks for");
  return Quantizer(calibration, scheme).run();
}

}  // namespace tilewave::quant
