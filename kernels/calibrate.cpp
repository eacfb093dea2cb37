#include "kernels/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/units.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/fp32.h"
#include "kernels/moments_collector.h"
#include "quant/equalize.h"
#include "quant/observer.h"
#include "quant/quantizer.h"

namespace tilewave::kernels {
namespace {

/// Lets groups of images pass each node in their order while several are under way, so that an
/// observer sees the same values in the same order whatever the number of threads. The first
/// group that failed, by its number, is the one whose error counts.
class Turns {
 public:
  explicit Turns(std::size_t nodes) : next_(nodes, 0) {}

  /// False if an earlier group failed: then its turn will not come.
  bool wait(std::size_t node, std::int64_t group) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_[node] == group || failed_ < group; });
    return failed_ >= group;
  }
  void pass(std::size_t node) {
    const std::lock_guard lock(mutex_);
    ++next_[node];
    changed_.notify_all();
  }
  void fail(std::int64_t group, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (group >= failed_) return;
    failed_ = group;
    error_ = std::move(error);
    changed_.notify_all();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> next_;
  std::int64_t failed_ = INT64_MAX;
  std::exception_ptr error_;
};

/// What looks at the tensors as they are made.
struct Watchers {
  std::vector<std::shared_ptr<quant::Observer>> observers;    ///< one per node
  std::vector<std::unique_ptr<MomentsCollector>> collectors;  ///< of what a node reads, if needed
  std::vector<std::vector<std::size_t>> readers;              ///< nodes with a collector

  Watchers(const models::Graph& graph, const quant::Scheme& scheme);
  /// One image's tensor that `node` makes.
  void observe(std::size_t node, std::span<const float> image) const {
    observers[node]->observe(image);
    for (const std::size_t reader : readers[node]) collectors[reader]->observe(image);
  }
};

/// The squares of more inputs than this would take too much memory.
constexpr std::int64_t kMostSquaredInputs = 8192;

Watchers::Watchers(const models::Graph& graph, const quant::Scheme& scheme)
    : collectors(graph.nodes().size()), readers(graph.nodes().size()) {
  const bool squares = scheme.weight_rounding == quant::WeightRounding::adaptive;
  for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
    const models::Node& node = graph.nodes()[id];
    observers.push_back(quant::make_observer(scheme, node.name));
    const auto* conv = std::get_if<models::Conv>(&node.operation);
    const auto* dense = std::get_if<models::Dense>(&node.operation);
    if ((conv == nullptr && dense == nullptr) || !(squares || scheme.bias_correction)) continue;
    const std::int64_t k =
        conv != nullptr ? static_cast<std::int64_t>(conv->weight.size() / conv->bias.size())
                        : static_cast<std::int64_t>(dense->weight.size() / dense->bias.size());
    if (squares && k > kMostSquaredInputs) {
      throw InputError("weight_rounding",
                       "adaptive: " + node.name + " adds up " + std::to_string(k) + " products",
                       "at most " + std::to_string(kMostSquaredInputs));
    }
    collectors[id] = std::make_unique<MomentsCollector>(graph, node, squares);
    readers[static_cast<std::size_t>(node.inputs[0])].push_back(id);
  }
}

/// Some of the images of a data set.
struct Subset {
  const models::ImagesView& images;
  const std::vector<std::int64_t>& chosen;
  std::size_t image_size;  ///< bytes

  /// Copies images [first, first + count) of the subset into `pixels`, one after the other.
  void copy(std::int64_t first, std::int64_t count, std::vector<std::uint8_t>& pixels) const {
    pixels.clear();
    for (std::int64_t i = first; i < first + count; ++i) {
      const auto at = static_cast<std::size_t>(chosen[static_cast<std::size_t>(i)]) * image_size;
      const auto image = images.pixels.subspan(at, image_size);
      pixels.insert(pixels.end(), image.begin(), image.end());
    }
  }
};

void observe(const Fp32Network& network, const Subset& subset, int threads,
             const std::stop_token& stop, const Watchers& watchers) {
  const auto images = static_cast<std::int64_t>(subset.chosen.size());
  const std::int64_t groups = (images + network.group() - 1) / network.group();
  Turns turns(watchers.observers.size());
  std::atomic<std::int64_t> next_group = 0;
  parallel_for(threads, threads, [&](std::int64_t) {
    auto tensors = network.make_tensors();
    auto scratch = network.make_scratch();
    std::vector<std::uint8_t> pixels;
    bool abandoned = false;
    for (std::int64_t group = next_group++; group < groups && !abandoned; group = next_group++) {
      const std::int64_t first = group * network.group();
      const std::int64_t count = std::min(network.group(), images - first);
      try {
        check_stop(stop);
        subset.copy(first, count, pixels);
        const auto visit = [&](models::NodeId id, std::span<const float> values) {
          const auto node = static_cast<std::size_t>(id);
          abandoned = !turns.wait(node, group);
          if (abandoned) return;
          const std::size_t size = values.size() / static_cast<std::size_t>(count);
          for (std::size_t at = 0; at < values.size(); at += size) {
            watchers.observe(node, values.subspan(at, size));
          }
          turns.pass(node);
        };
        network.forward(pixels, tensors, scratch, visit);
      } catch (...) {
        turns.fail(group, std::current_exception());
        return;
      }
    }
  });
  turns.rethrow();
}

}  // namespace

std::vector<std::int64_t> calibration_subset(std::int64_t available, const quant::Scheme& scheme) {
  std::int64_t wanted = scheme.calibration_images;
  if (available < wanted) {
    throw InputError("calibration_images",
                     "the scheme asks for " + std::to_string(wanted) +
                         ", more than the data set has for calibration",
                     "a scheme with at most " + std::to_string(available));
  }
  // Selection sampling (Knuth, The Art of Computer Programming, volume 2, algorithm S). The engine
  // is the same everywhere, which std::sample and the distributions are not.
  std::mt19937_64 random(static_cast<std::uint64_t>(scheme.seed.value_or(0)));
  std::vector<std::int64_t> chosen;
  for (std::int64_t image = 0; wanted > 0; ++image) {
    const std::int64_t left = available - image;
    const double share = std::ldexp(static_cast<double>(random() >> 11), -53);  // in [0, 1)
    if (scheme.seed && share * static_cast<double>(left) >= static_cast<double>(wanted)) continue;
    chosen.push_back(image);
    --wanted;
  }
  return chosen;
}

quant::Calibration calibrate(const models::Graph& graph, const models::ImagesView& images,
                             const quant::Scheme& scheme, int threads,
                             const std::stop_token& stop) {
  quant::validate(scheme);
  validate(ReferenceOptions{.threads = threads});
  const models::Shape& input = graph.nodes().front().shape;
  if (images.shape.elements() != input.elements()) {
    throw InputError("calibration images",
                     "have " + std::to_string(images.shape.elements()) + " values each",
                     "the network's " + std::to_string(input.elements()));
  }
  const std::vector<std::int64_t> chosen = calibration_subset(images.count, scheme);
  quant::Calibration calibration;
  calibration.graph = std::make_shared<const models::Graph>(
      scheme.cross_layer_equalization ? quant::equalized(graph) : graph);
  calibration.scheme = quant::calibration_part(scheme);
  const Watchers watchers(*calibration.graph, scheme);
  // The portable kernels, so that every processor of an architecture finds the same ranges.
  const Fp32Network network(*calibration.graph, portable_vector_kernels(),
                            Fp32Network::Fusion::none);
  observe(network, {images, chosen, static_cast<std::size_t>(input.elements())}, threads, stop,
          watchers);
  calibration.observers = {watchers.observers.begin(), watchers.observers.end()};
  if (scheme.bias_correction || scheme.weight_rounding == quant::WeightRounding::adaptive) {
    for (const auto& collector : watchers.collectors) {
      calibration.moments.push_back(collector ? collector->result() : quant::InputMoments{});
    }
  }
  return calibration;
}

quant::QuantizedGraph quantize(const models::Graph& graph, const models::ImagesView& calibration,
                               const quant::Scheme& scheme, int threads,
                               const std::stop_token& stop) {
  return quant::quantize_graph(calibrate(graph, calibration, scheme, threads, stop), scheme);
}

}  // namespace tilewave::kernels
