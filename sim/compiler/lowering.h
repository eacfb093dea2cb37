#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "quant/quantized_graph.h"
#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::sim {

/// A tensor in the unified buffer, alive from the step that makes it to the last that reads it.
/// The network's input is made by step -1; its output is read by step number steps.size().
struct Tensor {
  std::string name;
  Layout layout;
  quant::Quantization quantization;
  int made_by = -1;
  int last_read_by = -1;
};

/// A layer for the matrix unit: a convolution (a Dense is one whose kernel covers its input), with
/// the pooling that follows it, if the activation unit can do that on the way.
struct MatrixStep {
  models::Window window;
  std::int64_t groups = 1;
  const std::vector<std::int16_t>* weight = nullptr;  ///< [out][kernel row][column][in / groups]
  const std::vector<std::int32_t>* bias = nullptr;
  const quant::Requantizer* requantizer = nullptr;
  models::Shape output;      ///< before pooling
  std::optional<Pool> pool;  ///< channels: those of the whole tensor
};
struct AddStep {
  const quant::Adder* adder = nullptr;
};
struct PoolStep {
  Pool pool;  ///< channels: those of the whole tensor
};
struct LookupStep {
  const quant::QLookup* lookup = nullptr;
  quant::Format format;  ///< of its input
};

using Work = std::variant<MatrixStep, AddStep, PoolStep, LookupStep>;

struct Step {
  std::string name;
  std::string operation;
  std::vector<int> inputs;  ///< tensors
  int output = 0;
  Work work;
};

/// The network as what the chip does, in order. Points into the QuantizedGraph.
struct LoweredNetwork {
  std::vector<Tensor> tensors;  ///< 0: the network's input
  std::vector<Step> steps;
  int output = 0;
};

/// Rows of accumulators that a step's results come in: a chunk of a multiply is a whole number of
/// them. 1 without pooling; else rows of windows, or whole images where windows overlap.
std::int64_t rows_per_unit(const MatrixStep& step);

/// Throws InputError naming the node where the chip cannot do what it asks for.
LoweredNetwork lower(const quant::QuantizedGraph& graph, const Chip& chip);

}  // namespace tilewave::sim
