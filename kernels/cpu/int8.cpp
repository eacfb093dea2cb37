#include <algorithm>

#include "base/error.h"
#include "base/workers.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/integer_network.h"
#include "kernels/reference.h"

namespace tilewave::kernels {
namespace {

using quant::QNode;

bool has_wide_products(const quant::QuantizedGraph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const QNode& node) {
    const bool reads_wide =
        !node.inputs.empty() &&
        graph.nodes[static_cast<std::size_t>(node.inputs[0])].quantization.format.bits > 8;
    const auto is_wide = [&](const auto* layer) {
      return layer != nullptr && (reads_wide || layer->weight_format.bits > 8);
    };
    return is_wide(std::get_if<quant::QConv>(&node.operation)) ||
           is_wide(std::get_if<quant::QDense>(&node.operation));
  });
}

class CpuInt8 final : public Reference {
 public:
  CpuInt8(const quant::QuantizedGraph& graph, ReferenceOptions options, IntegerGemm gemm,
          std::string name)
      : graph_(graph),
        network_(graph, gemm),
        options_(std::move(options)),
        name_(std::move(name)),
        workers_(options_.threads),
        stages_(graph.nodes.size()) {
    for (int worker = 0; worker < workers_.count(); ++worker) {
      tensors_.push_back(network_.make_tensors());
      scratch_.push_back(network_.make_scratch());
    }
  }

  std::string name() const override { return name_; }

  void run_into(std::span<const std::uint8_t> pixels, Outputs& outputs) override {
    const auto image_size = static_cast<std::size_t>(graph_.input().shape.elements());
    const std::int64_t images = count_images(pixels, graph_.input().shape);
    outputs.classes = graph_.output().shape.elements();
    outputs.integers.resize(static_cast<std::size_t>(images * outputs.classes));
    outputs.real.resize(outputs.integers.size());
    for_each_group(
        images, network_.group(), options_, workers_,
        [&] { std::ranges::for_each(stages_, &Stage::reset); },
        [&](const GroupTask& task) {
          const auto values =
              network_.forward(pixels.subspan(static_cast<std::size_t>(task.first) * image_size,
                                              static_cast<std::size_t>(task.count) * image_size),
                               tensors_[task.owner], scratch_[task.worker], stages_, task.parts);
          if (task.worker != task.owner) return;
          const auto at = static_cast<std::ptrdiff_t>(task.first * outputs.classes);
          std::ranges::copy(values, outputs.integers.begin() + at);
          std::ranges::transform(values, outputs.real.begin() + at, [&](std::int16_t value) {
            return quant::dequantize(value, graph_.output().quantization);
          });
        });
  }

 private:
  const quant::QuantizedGraph& graph_;
  IntegerNetwork network_;
  ReferenceOptions options_;
  std::string name_;
  Workers workers_;
  std::vector<Stage> stages_;                     ///< [nodes]
  std::vector<IntegerNetwork::Tensors> tensors_;  ///< [workers]
  std::vector<IntegerNetwork::Scratch> scratch_;  ///< [workers]
};

}  // namespace

std::unique_ptr<Reference> make_cpu_int8(const quant::QuantizedGraph& graph,
                                         ReferenceOptions options, IntegerGemm gemm) {
  validate(options);
  check_accumulators(graph.scheme);
  const bool wide = has_wide_products(graph);
  const std::string refusal =
      wide ? "oneDNN multiplies no formats wider than 8 bits" : onednn_refusal();
  if (gemm == IntegerGemm::onednn && !refusal.empty()) {
    throw InputError("integer products", refusal, "automatic, packed or baseline");
  }
  if (gemm == IntegerGemm::automatic) {
    gemm = refusal.empty() ? IntegerGemm::onednn : IntegerGemm::packed;
  }
  const std::string library = gemm == IntegerGemm::onednn ? "oneDNN" : "packed";
  const std::string precision = wide ? "int16" : "int8";
  return std::make_unique<CpuInt8>(graph, std::move(options), gemm,
                                   "cpu " + precision + " (" + library + ")");
}

}  // namespace tilewave::kernels
