#include "sim/compiler/spill_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "base/error.h"
#include "sim/compiler/tiling.h"

namespace tilewave::sim {
namespace {

/// About how many cycles a step takes: only to choose between plans, so what is the same for all
/// of them is left out.
struct Cost {
  double in = 0;       ///< host link, inward
  double out = 0;      ///< host link, outward
  double compute = 0;  ///< matrix or activation unit, and what the array waits for its weights

  double total(const StepBands& bands) const {
    // What overlaps with something longer still takes its time for the first or the last band.
    const auto hidden = 1.0 / static_cast<double>(bands.count);
    if (bands.buffers == 1) return compute + std::max(in, out) + hidden * std::min(in, out);
    const double longest = std::max({in, out, compute});
    return longest + hidden * (in + out + compute - longest);
  }
};

class SpillPlanner {
 public:
  SpillPlanner(const LoweredNetwork& network, const Chip& chip)
      : network_(network), chip_(chip), element_bytes_(chip.activation_bytes()) {
    for (const Step& step : network.steps) {
      tiles_.push_back(0);
      const auto* work = std::get_if<MatrixStep>(&step.work);
      if (work == nullptr) continue;
      const std::int64_t channels = layout(step.inputs.front()).shape.channels;
      for (const ColumnTile& tile : tile_weights(*work, channels, chip.array)) {
        tiles_.back() += static_cast<std::int64_t>(tile.row_tiles.size());
      }
    }
  }

  /// The more of the largest tensors lie on the host, the larger the bands of the others can be:
  /// the best of all numbers of them.
  BufferPlan run() {
    check_smallest_bands();
    std::vector<std::size_t> order(network_.tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return network_.tensors[a].layout.shape.elements() >
             network_.tensors[b].layout.shape.elements();
    });
    std::vector<bool> spilled(order.size(), false);
    std::optional<BufferPlan> best;
    double least = 0;
    for (const std::size_t id : order) {
      // What is both the network's input and its output has to pass the buffer whole.
      if (network_.output == 0 && id == 0) continue;
      spilled[id] = true;
      BufferPlan plan = plan_resident(network_, element_bytes_, spilled);
      const std::optional<double> cost = cut(plan);
      if (!cost || (best && *cost >= least)) continue;
      least = *cost;
      best = std::move(plan);
    }
    TILEWAVE_CHECK(best.has_value(), ==, true, "with all tensors on the host a band of each fits");
    give_scratch(*best);
    return std::move(*best);
  }

 private:
  const Layout& layout(int tensor) const {
    return network_.tensors[static_cast<std::size_t>(tensor)].layout;
  }

  void check_smallest_bands() const {
    const Step* largest = nullptr;
    Bytes need = 0;
    for (const Step& step : network_.steps) {
      const Bytes bytes = smallest_band_elements(network_, step) * element_bytes_;
      if (bytes <= need) continue;
      need = bytes;
      largest = &step;
    }
    if (need <= buffer_capacity(chip_)) return;
    throw InputError(chip_.name + ": unified_buffer.capacity_kib",
                     "is " + std::to_string(chip_.unified_buffer.capacity_kib) +
                         ", too small for the smallest part of one image that layer '" +
                         largest->name + "' can work on",
                     "at least " + std::to_string(ceil_div(need, 1024)));
  }

  /// Cuts the steps that have spilled tensors into bands, in the room that the others leave.
  /// Returns the plan's cost, or nothing where a step does not fit.
  std::optional<double> cut(BufferPlan& plan) const {
    double cost = 0;
    for (const int tensor : {0, network_.output}) {
      if (!plan.spilled[static_cast<std::size_t>(tensor)]) {
        cost += transfer_cost(tensor, layout(tensor).shape.elements(), 1);
      }
    }
    for (std::size_t number = 0; number < network_.steps.size(); ++number) {
      const Bytes taken = taken_at(number, plan);
      const std::optional<StepBands> bands = bands_of(number, plan, taken);
      if (!bands) return std::nullopt;
      plan.bands[number] = *bands;
      plan.peak = std::max(plan.peak, taken + bands->buffers * bands->bytes);
      cost += cost_of(number, plan, *bands).total(*bands);
    }
    return cost;
  }

  /// End of the tensors that are in the buffer during the step.
  Bytes taken_at(std::size_t number, const BufferPlan& plan) const {
    Bytes taken = 0;
    for (std::size_t id = 0; id < network_.tensors.size(); ++id) {
      const Tensor& tensor = network_.tensors[id];
      const int step = static_cast<int>(number);
      if (plan.spilled[id] || step < tensor.made_by || step > tensor.last_read_by) continue;
      taken = std::max(taken, plan.address[id] + tensor.layout.shape.elements() * element_bytes_);
    }
    return taken;
  }

  /// The fastest of bands of several sizes, in one buffer or taking turns in two.
  std::optional<StepBands> bands_of(std::size_t number, const BufferPlan& plan, Bytes taken) const {
    const Step& step = network_.steps[number];
    const Bytes room = buffer_capacity(chip_) - taken;
    if (room < 0) return std::nullopt;
    if (staged_tensors(step, plan.spilled).empty()) return StepBands{};
    const std::int64_t all = layout(step.output).shape.height;
    std::optional<StepBands> best;
    double least = 0;
    for (const std::int64_t buffers : {1, 2}) {
      const std::int64_t most = most_rows(step, plan, room / buffers);
      for (const std::int64_t count : band_counts(all, most, smallest_band(network_, step))) {
        StepBands bands;
        bands.rows = ceil_div(all, count);
        bands.count = ceil_div(all, bands.rows);
        bands.buffers = std::min(buffers, bands.count);
        bands.address = taken;
        bands.bytes = staged_bytes(step, plan, bands.rows);
        const double cost = cost_of(number, plan, bands).total(bands);
        if (best && cost >= least) continue;
        least = cost;
        best = bands;
      }
    }
    return best;
  }

  /// Numbers of bands to choose from: the fewest that are possible, and some that are the same for
  /// all sizes of the buffer, so that a larger one has all the choices of a smaller one and more.
  static std::vector<std::int64_t> band_counts(std::int64_t all, std::int64_t most,
                                               std::int64_t smallest) {
    std::vector<std::int64_t> counts;
    if (most < smallest) return counts;
    const std::int64_t fewest = ceil_div(all, most);
    const std::int64_t greatest = all / smallest;
    counts.push_back(fewest);
    for (std::int64_t power = 1; power <= greatest; power *= 2) {
      for (const std::int64_t count : {power, power + power / 2}) {
        if (count > fewest && count <= greatest) counts.push_back(count);
      }
    }
    return counts;
  }

  Bytes staged_bytes(const Step& step, const BufferPlan& plan, std::int64_t rows) const {
    std::int64_t elements = 0;
    for (const int tensor : staged_tensors(step, plan.spilled)) {
      elements += staged_elements(network_, step, tensor, rows);
    }
    return elements * element_bytes_;
  }

  /// Rows of the largest band that `room` bytes hold; 0 if not even the smallest one fits.
  std::int64_t most_rows(const Step& step, const BufferPlan& plan, Bytes room) const {
    std::int64_t fits = smallest_band(network_, step);
    if (staged_bytes(step, plan, fits) > room) return 0;
    for (std::int64_t too_many = layout(step.output).shape.height + 1; too_many - fits > 1;) {
      const std::int64_t rows = std::midpoint(fits, too_many);
      (staged_bytes(step, plan, rows) <= room ? fits : too_many) = rows;
    }
    return fits;
  }

  /// Of `elements` in each of `bands`; a plane is a transfer of its own.
  double transfer_cost(int tensor, std::int64_t elements, std::int64_t bands) const {
    const Bytes bytes = elements * element_bytes_;
    const Cycles latency = chip_.latency_cycles(chip_.host_link.latency_us * 1000);
    const Cycles one = layout(tensor).planes() * latency +
                       std::max(chip_.transfer_cycles(bytes, chip_.host_link.bandwidth),
                                ceil_div(bytes, chip_.unified_buffer.row_bytes));
    return static_cast<double>(bands) * static_cast<double>(one);
  }

  Cost cost_of(std::size_t number, const BufferPlan& plan, const StepBands& bands) const {
    const Step& step = network_.steps[number];
    Cost cost;
    for (const int tensor : staged_tensors(step, plan.spilled)) {
      const std::int64_t elements = staged_elements(network_, step, tensor, bands.rows);
      (tensor == step.output ? cost.out : cost.in) += transfer_cost(tensor, elements, bands.count);
    }
    cost.compute = compute_cost(number, bands);
    return cost;
  }

  double compute_cost(std::size_t number, const StepBands& bands) const {
    const Step& step = network_.steps[number];
    const auto* work = std::get_if<MatrixStep>(&step.work);
    Cycles start = chip_.activation_unit.pipeline_depth;  // of each band
    if (work == nullptr) {
      // A pool takes in the rows under its windows.
      const std::int64_t in = staged_elements(network_, step, step.inputs.front(), bands.rows);
      const std::int64_t pixels = in / layout(step.inputs.front()).shape.channels;
      return static_cast<double>(bands.count) *
             static_cast<double>(start + activation_cost(step, pixels));
    }
    start += chip_.array.rows + chip_.array.cols;
    const std::int64_t pixels = work->output.pixels();
    const std::int64_t loads = std::max(bands.count, ceil_div(pixels, chip_.accumulators.depth));
    const Bytes tile = chip_.tile_bytes(chip_.array.rows, chip_.array.cols);
    const Cycles load = std::max(chip_.transfer_cycles(tile, chip_.weight_memory.bandwidth),
                                 ceil_div(chip_.array.rows, chip_.array.weight_rows_per_cycle));
    const Cycles interval =
        std::max<Cycles>({chip_.passes(), chip_.gather_interval(),
                          ceil_div(std::min(chip_.array.rows, contraction(*work)) * element_bytes_,
                                   chip_.unified_buffer.row_bytes)});
    const auto tiles = static_cast<double>(tiles_[number]);
    return static_cast<double>(bands.count * start) +
           std::max({tiles * static_cast<double>(loads) * static_cast<double>(load),
                     tiles * multiply_cost(*work, pixels, interval),
                     static_cast<double>(activation_cost(step, pixels))});
  }

  /// Of one tile and all pixels; `interval`: of the rows of activations.
  double multiply_cost(const MatrixStep& work, std::int64_t pixels, Cycles interval) const {
    const Array& array = chip_.array;
    switch (array.dataflow) {
      case Dataflow::weight_stationary:
        break;
      case Dataflow::output_stationary:
        return static_cast<double>(ceil_div(pixels, array.rows)) *
               static_cast<double>(std::max(contraction(work) * interval, array.rows));
      case Dataflow::input_stationary:
        return static_cast<double>(ceil_div(pixels, array.cols)) *
               static_cast<double>(std::max(array.rows, array.cols * chip_.passes()));
    }
    return static_cast<double>(pixels * interval);
  }

  /// Of the activation unit, for as many rows in each plane of the step's output.
  Cycles activation_cost(const Step& step, std::int64_t rows) const {
    const Layout& out = layout(step.output);
    const std::int64_t elements = out.plane_channels(0);
    return out.planes() * rows *
           std::max<Cycles>({1, ceil_div(elements, chip_.array.cols),
                             ceil_div(elements * element_bytes_, chip_.unified_buffer.row_bytes)});
  }

  /// A place of its own for each tensor that is neither the network's input nor its output.
  void give_scratch(BufferPlan& plan) const {
    for (std::size_t id = 0; id < network_.tensors.size(); ++id) {
      if (!plan.spilled[id] || id == 0 || static_cast<int>(id) == network_.output) continue;
      plan.scratch[id] = plan.scratch_bytes;
      plan.scratch_bytes += network_.tensors[id].layout.shape.elements() * element_bytes_;
    }
  }

  const LoweredNetwork& network_;
  const Chip& chip_;
  int element_bytes_;
  std::vector<std::int64_t> tiles_;  ///< of weights, by step
};

}  // namespace

BufferPlan plan_spills(const LoweredNetwork& network, const Chip& chip) {
  return SpillPlanner(network, chip).run();
}

}  // namespace tilewave::sim
