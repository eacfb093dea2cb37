#include "sim/compiler/lowering.h"

#include <algorithm>

#include "base/error.h"
#include "sim/compiler/bands.h"
#include "sim/compiler/buffer_plan.h"
#include "sim/compiler/tiling.h"

namespace tilewave::sim {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

bool is_pool(const quant::QNode& node) {
  return std::holds_alternative<quant::QMaxPool>(node.operation) ||
         std::holds_alternative<quant::QAveragePool>(node.operation);
}

Pool make_pool(const quant::QNode& node, const models::Shape& input) {
  Pool pool;
  pool.input = input;
  pool.output = node.shape;
  if (const auto* max = std::get_if<quant::QMaxPool>(&node.operation)) {
    pool.kind = Pool::Kind::max;
    pool.window = max->window;
    pool.pad_value = node.quantization.format.qmin();
  } else {
    const auto& average = std::get<quant::QAveragePool>(node.operation);
    pool.kind = Pool::Kind::average;
    pool.window = average.window;
    pool.count_include_pad = average.count_include_pad;
    pool.pad_value = average.count_include_pad ? node.quantization.zero_point : 0;
    pool.mode = average.mode;
  }
  return pool;
}

class Lowering {
 public:
  Lowering(const quant::QuantizedGraph& graph, const Chip& chip)
      : graph_(graph), chip_(chip), tensor_of_(graph.nodes.size(), -1) {
    readers_.resize(graph.nodes.size());
    for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
      for (const models::NodeId input : graph.nodes[id].inputs) {
        readers_[static_cast<std::size_t>(input)].push_back(id);
      }
    }
  }

  LoweredNetwork run() {
    const quant::QNode& input = graph_.input();
    network_.tensors.push_back(
        {input.name, {input.shape, input.shape.channels}, input.quantization, -1, -1});
    tensor_of_[0] = 0;
    for (std::size_t id = 1; id < graph_.nodes.size(); ++id) {
      if (tensor_of_[id] < 0) lower_node(id);
    }
    if (network_.steps.empty()) {
      throw InputError(graph_.name, "has no layer for the chip to run",
                       "at least one Conv, Gemm, Add, pooling or activation");
    }
    network_.output = tensor_of_.back();
    network_.tensors[static_cast<std::size_t>(network_.output)].last_read_by =
        static_cast<int>(network_.steps.size());
    return std::move(network_);
  }

 private:
  int input_tensor(const quant::QNode& node, std::size_t which) const {
    return tensor_of_[static_cast<std::size_t>(node.inputs.at(which))];
  }

  void lower_node(std::size_t id) {
    const quant::QNode& node = graph_.nodes[id];
    std::visit(
        Overloaded{
            [&](const quant::QInput&) {
              throw InputError(graph_.name, "has a second input '" + node.name + "'", "one input");
            },
            [&](const quant::QConv& conv) {
              MatrixStep step{conv.window,       conv.groups, &conv.weight, &conv.bias,
                              &conv.requantizer, node.shape,  std::nullopt};
              add_matrix_step(id, std::move(step));
            },
            [&](const quant::QDense& dense) {
              const Tensor& in = tensor(input_tensor(node, 0));
              models::Window window;
              window.kernel_height = in.layout.shape.height;
              window.kernel_width = in.layout.shape.width;
              MatrixStep step{
                  window,     1,           &dense.weight, &dense.bias, &dense.requantizer,
                  node.shape, std::nullopt};
              add_matrix_step(id, std::move(step));
            },
            [&](const quant::QAdd& add) { add_add_step(id, add); },
            [&](const quant::QMaxPool&) { add_pool_step(id); },
            [&](const quant::QAveragePool&) { add_pool_step(id); },
            [&](const quant::QLookup& lookup) {
              add_step(id, id, LookupStep{&lookup, input_format(node)}, input_layout(node).block);
            },
            // The elements stay where they are: the reader's data setup finds them.
            [&](const quant::QFlatten&) { tensor_of_[id] = input_tensor(node, 0); },
        },
        node.operation);
  }

  const Tensor& tensor(int id) const { return network_.tensors[static_cast<std::size_t>(id)]; }
  const quant::Format& input_format(const quant::QNode& node) const {
    return graph_.nodes[static_cast<std::size_t>(node.inputs[0])].quantization.format;
  }
  const Layout& input_layout(const quant::QNode& node) const {
    return tensor(input_tensor(node, 0)).layout;
  }

  /// The step for node `id` that makes the tensor of node `made` (a pooling done on the way, or
  /// `id` itself), in planes of `block` channels.
  void add_step(std::size_t id, std::size_t made, Work work, std::int64_t block) {
    const quant::QNode& node = graph_.nodes[id];
    const quant::QNode& result = graph_.nodes[made];
    const int number = static_cast<int>(network_.steps.size());
    Step step{node.name, quant::operation_name(node.operation), {}, 0, std::move(work)};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const int input = input_tensor(node, i);
      step.inputs.push_back(input);
      network_.tensors[static_cast<std::size_t>(input)].last_read_by = number;
    }
    step.output = static_cast<int>(network_.tensors.size());
    // Element-wise steps keep the layout of a flattened tensor as it lies.
    const models::Shape shape =
        std::holds_alternative<LookupStep>(step.work) || std::holds_alternative<AddStep>(step.work)
            ? input_layout(node).shape
            : result.shape;
    network_.tensors.push_back({result.name, {shape, block}, result.quantization, number, number});
    tensor_of_[id] = step.output;
    tensor_of_[made] = step.output;
    network_.steps.push_back(std::move(step));
  }

  void add_matrix_step(std::size_t id, MatrixStep step) {
    std::size_t made = id;
    const std::vector<std::size_t>& readers = readers_[id];
    if (readers.size() == 1 && is_pool(graph_.nodes[readers.front()])) {
      step.pool = make_pool(graph_.nodes[readers.front()], step.output);
      if (rows_per_unit(step) <= chip_.accumulators.depth &&
          fits_with_pooling(input_layout(graph_.nodes[id]).shape, step)) {
        made = readers.front();
      } else {
        step.pool.reset();
      }
    }
    const std::int64_t block = column_block(step, chip_.array);
    add_step(id, made, std::move(step), block);
  }

  /// Whether there is room for the smallest part of the step's tensors that it can work on; or no
  /// more room is needed with the pooling on the way than with one after the other.
  bool fits_with_pooling(const models::Shape& input, const MatrixStep& step) const {
    const Pool& pool = *step.pool;
    const std::int64_t together = smallest_band_elements(input, pool.output, step);
    if (together * chip_.activation_bytes() <= buffer_capacity(chip_)) return true;
    MatrixStep alone = step;
    alone.pool.reset();
    return together <= std::max(smallest_band_elements(input, step.output, alone),
                                smallest_band_elements(step.output, pool.output, PoolStep{pool}));
  }

  void add_add_step(std::size_t id, const quant::QAdd& add) {
    const quant::QNode& node = graph_.nodes[id];
    const models::Shape& a = tensor(input_tensor(node, 0)).layout.shape;
    const models::Shape& b = tensor(input_tensor(node, 1)).layout.shape;
    if (!(a == b)) {
      throw InputError(graph_.name + ": node '" + node.name + "' (Add)",
                       "adds a flattened tensor to one that was never flattened",
                       "two tensors of the same shape before Flatten");
    }
    add_step(id, id, AddStep{&add.adder}, input_layout(node).block);
  }

  void add_pool_step(std::size_t id) {
    const quant::QNode& node = graph_.nodes[id];
    add_step(id, id, PoolStep{make_pool(node, input_layout(node).shape)}, input_layout(node).block);
  }

  const quant::QuantizedGraph& graph_;
  const Chip& chip_;
  LoweredNetwork network_;
  std::vector<int> tensor_of_;  ///< by node
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace

std::int64_t rows_per_unit(const MatrixStep& step) {
  return step.pool ? step.pool->unit_pixels() : 1;
}

LoweredNetwork lower(const quant::QuantizedGraph& graph, const Chip& chip) {
  return Lowering(graph, chip).run();
}

}  // namespace tilewave::sim
