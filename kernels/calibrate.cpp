#include "kernels/calibrate.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/units.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/fp32.h"
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

using Observers = std::vector<std::unique_ptr<quant::Observer>>;

void observe(const Fp32Network& network, std::span<const std::uint8_t> pixels,
             std::int64_t image_size, int threads, const std::stop_token& stop,
             Observers& observers) {
  const auto group_size = static_cast<std::size_t>(network.group() * image_size);
  const auto groups = static_cast<std::int64_t>((pixels.size() + group_size - 1) / group_size);
  Turns turns(observers.size());
  std::atomic<std::int64_t> next_group = 0;
  parallel_for(threads, threads, [&](std::int64_t) {
    auto workspace = network.make_workspace();
    bool abandoned = false;
    for (std::int64_t group = next_group++; group < groups && !abandoned; group = next_group++) {
      const std::size_t first = static_cast<std::size_t>(group) * group_size;
      try {
        check_stop(stop);
        network.forward(pixels.subspan(first, std::min(group_size, pixels.size() - first)),
                        workspace, [&](models::NodeId id, std::span<const float> values) {
                          const auto node = static_cast<std::size_t>(id);
                          abandoned = !turns.wait(node, group);
                          if (abandoned) return;
                          observers[node]->observe(values);
                          turns.pass(node);
                        });
      } catch (...) {
        turns.fail(group, std::current_exception());
        return;
      }
    }
  });
  turns.rethrow();
}

}  // namespace

quant::QuantizedGraph quantize(const models::Graph& graph, const models::ImagesView& calibration,
                               const quant::Scheme& scheme, int threads,
                               const std::stop_token& stop) {
  quant::validate(scheme);
  validate(ReferenceOptions{.threads = threads});
  const models::Shape& input = graph.nodes().front().shape;
  if (calibration.shape.elements() != input.elements()) {
    throw InputError("calibration images",
                     "have " + std::to_string(calibration.shape.elements()) + " values each",
                     "the network's " + std::to_string(input.elements()));
  }
  if (calibration.count < scheme.calibration_images) {
    throw InputError("calibration_images",
                     "the scheme asks for " + std::to_string(scheme.calibration_images) +
                         ", more than the data set has for calibration",
                     "a scheme with at most " + std::to_string(calibration.count));
  }
  Observers observers;
  for (const models::Node& node : graph.nodes()) {
    observers.push_back(quant::make_observer(scheme, node.name));
  }
  // The portable kernels, so that every processor of an architecture finds the same ranges.
  const Fp32Network network(graph, portable_vector_kernels(), Fp32Network::Fusion::none);
  const auto pixels = static_cast<std::size_t>(scheme.calibration_images * input.elements());
  observe(network, calibration.pixels.first(pixels), input.elements(), threads, stop, observers);
  std::vector<quant::Observer::Range> ranges;
  for (const auto& observer : observers) ranges.push_back(observer->range());
  return quant::quantize_graph(graph, ranges, scheme);
}

}  // namespace tilewave::kernels
