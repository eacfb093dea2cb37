#include "flow/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "flow/scores.h"
#include "kernels/calibrate.h"
#include "kernels/reference.h"
#include "quant/quantizer.h"
#include "sim/report/json.h"

namespace tilewave::flow {
namespace {

constexpr int kFewestBits = 2;
constexpr int kMostNarrowBits = 8;

/// A layer with weights, and how narrow they are by now.
struct Narrowed {
  std::string name;
  std::int64_t weights = 0;
  int bits = 0;
  bool is_finished = false;
  std::vector<double> disturbance;  ///< by bits: of the outputs, if this layer alone has so many

  Bytes bytes(int at_bits) const { return ceil_div(weights * at_bits, 8); }
  bool can_narrow() const { return !is_finished && bits > kFewestBits; }
  int narrower() const { return bits > kMostNarrowBits ? kMostNarrowBits : bits - 1; }
  /// What one step costs, by byte that it saves.
  double price() const {
    const auto at = [this](int b) { return disturbance[static_cast<std::size_t>(b)]; };
    return (at(narrower()) - at(bits)) / static_cast<double>(bytes(bits) - bytes(narrower()));
  }
};

std::vector<Narrowed> layers_of(const quant::QuantizedGraph& graph) {
  std::vector<Narrowed> layers;
  for (const quant::QNode& node : graph.nodes) {
    const auto add = [&](const auto* layer) {
      if (layer == nullptr) return;
      const int bits = layer->weight_format.bits;
      layers.push_back({node.name, static_cast<std::int64_t>(layer->weight.size()), bits, false,
                        std::vector<double>(static_cast<std::size_t>(bits) + 1)});
    };
    add(std::get_if<quant::QConv>(&node.operation));
    add(std::get_if<quant::QDense>(&node.operation));
  }
  return layers;
}

class Search {
 public:
  Search(const Workload& workload, const SuggestOptions& options)
      : workload_(workload),
        options_(options),
        calibration_(kernels::calibrate(workload.graph, workload.data.calibration,
                                        workload.quantized.scheme, options.threads, options.stop)),
        layers_(layers_of(workload.quantized)) {
    suggestion_.images = image_count(workload.data.test.count, options.images, workload.data.name);
    suggestion_.accuracy_drop = options.accuracy_drop;
    suggestion_.scheme = workload.quantized.scheme;
    if (workload.data.test.labels.empty()) {
      throw InputError(workload.data.name, "its test images have no labels",
                       "labels, to measure accuracy with");
    }
    const auto reference = kernels::make_cpu_fp32(workload.graph, reference_options());
    real_ = reference->run(pixels()).real;
    suggestion_.accuracy_fp32 = accuracy_of(real_);
  }

  Suggestion run() {
    suggestion_.accuracy = suggestion_.accuracy_before = accuracy_of(outputs(suggestion_.scheme));
    if (!is_allowed(suggestion_.accuracy)) {
      throw InputError(
          "accuracy drop",
          fmt::format("the scheme as it is loses {:.2f} points", points_lost(suggestion_.accuracy)),
          fmt::format("a wider scheme, or more than {} points", options_.accuracy_drop));
    }
    suggestion_.weight_bytes_before = weight_bytes();
    measure_disturbances();
    while (Narrowed* const layer = cheapest()) try_narrower(*layer);
    suggestion_.weight_bytes = weight_bytes();
    return suggestion_;
  }

 private:
  kernels::ReferenceOptions reference_options() const {
    return {.threads = options_.threads, .stop = options_.stop};
  }
  std::span<const std::uint8_t> pixels() const {
    return workload_.data.test.slice(0, suggestion_.images);
  }
  double accuracy_of(const std::vector<float>& outputs) const {
    const auto classes = static_cast<std::int64_t>(outputs.size()) / suggestion_.images;
    return *accuracy(classes_of(outputs, classes), workload_.data.test.labels);
  }
  double points_lost(double accuracy) const { return 100 * (suggestion_.accuracy_fp32 - accuracy); }
  /// An image more or less is more than what the subtraction is off by.
  bool is_allowed(double accuracy) const {
    return points_lost(accuracy) <= options_.accuracy_drop + 1e-9;
  }

  std::vector<float> outputs(const quant::Scheme& scheme) const {
    const quant::QuantizedGraph quantized = quant::quantize_graph(calibration_, scheme);
    return kernels::make_cpu_int8(quantized, reference_options())->run(pixels()).real;
  }

  /// Sum of the squares of what the outputs are off from fp32.
  double disturbance(const quant::Scheme& scheme) const {
    const std::vector<float> values = outputs(scheme);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double error = double{values[i]} - double{real_[i]};
      sum += error * error;
    }
    return sum;
  }

  quant::Scheme with(const Narrowed& layer, int bits) const {
    quant::Scheme scheme = suggestion_.scheme;
    scheme.layers[layer.name].weight_bits = bits;
    return scheme;
  }

  void measure_disturbances() {
    const double before = disturbance(suggestion_.scheme);
    std::int64_t done = 0;
    for (Narrowed& layer : layers_) {
      tell("trying layers alone", done++);
      layer.disturbance[static_cast<std::size_t>(layer.bits)] = before;
      for (int bits = std::min(layer.bits - 1, kMostNarrowBits); bits >= kFewestBits; --bits) {
        layer.disturbance[static_cast<std::size_t>(bits)] = disturbance(with(layer, bits));
      }
    }
  }

  void tell(const std::string& what, std::int64_t done) const {
    if (options_.progress) options_.progress(what, done, static_cast<std::int64_t>(layers_.size()));
  }

  Narrowed* cheapest() {
    Narrowed* best = nullptr;
    for (Narrowed& layer : layers_) {
      if (!layer.can_narrow()) continue;
      if (best == nullptr || layer.price() < best->price()) best = &layer;
    }
    return best;
  }

  void try_narrower(Narrowed& layer) {
    tell("narrowing", std::count_if(layers_.begin(), layers_.end(),
                                    [](const Narrowed& l) { return l.is_finished; }));
    const quant::Scheme scheme = with(layer, layer.narrower());
    const double accuracy = accuracy_of(outputs(scheme));
    if (!is_allowed(accuracy)) {
      layer.is_finished = true;
      return;
    }
    layer.bits = layer.narrower();
    suggestion_.scheme = scheme;
    suggestion_.accuracy = accuracy;
  }

  Bytes weight_bytes() const {
    Bytes bytes = 0;
    for (const Narrowed& layer : layers_) bytes += layer.bytes(layer.bits);
    return bytes;
  }

  const Workload& workload_;
  const SuggestOptions& options_;
  quant::Calibration calibration_;
  std::vector<Narrowed> layers_;
  std::vector<float> real_;  ///< outputs in fp32
  Suggestion suggestion_;
};

}  // namespace

Suggestion suggest_mixed(const Workload& workload, const SuggestOptions& options) {
  return Search(workload, options).run();
}

std::string to_yaml(const Suggestion& s, const std::string& model) {
  std::string text = fmt::format(
      "# Suggested for {} by tilewave {}, allowed to lose {} points against fp32.\n"
      "# On the first {} test images: {:.2f} %, fp32 {:.2f} %, all layers alike {:.2f} %.\n"
      "# Weights, packed: {} bytes of {}.\n",
      excerpt(model), sim::version(), s.accuracy_drop, s.images, 100 * s.accuracy,
      100 * s.accuracy_fp32, 100 * s.accuracy_before, s.weight_bytes, s.weight_bytes_before);
  const sim::Json json = sim::scheme_json(s.scheme);
  for (const auto& [key, value] : json.items()) {
    if (value.is_null() || value.empty()) continue;
    text += key + ": " + value.dump() + "\n";
  }
  return text;
}

}  // namespace tilewave::flow
