#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/graph.h"
#include "quant/format.h"
#include "quant/requantize.h"
#include "quant/scheme.h"

namespace tilewave::quant {

struct QInput {};
/// acc[n] = bias[n] + sum over k of (x[k] - zx) * w[k][n], then the requantizer. Padded places
/// count as zx. weight is [out][kernel_height][kernel_width][in / groups].
struct QConv {
  models::Window window;
  std::int64_t groups = 1;
  Format weight_format{8, true, true};
  std::vector<std::int16_t> weight;
  std::vector<std::int32_t> bias;
  std::vector<float> weight_scale;  ///< [out]
  Requantizer requantizer;
};
/// The same with k over all elements of the input in NHWC order. weight is [out][in].
struct QDense {
  Format weight_format{8, true, true};
  std::vector<std::int16_t> weight;
  std::vector<std::int32_t> bias;
  std::vector<float> weight_scale;
  Requantizer requantizer;
};
struct QAdd {
  Adder adder;
};
/// Padding counts as qmin. Input and output share one quantization.
struct QMaxPool {
  models::Window window;
};
/// s32 sum of the raw values, then rounded_average over the places inside (all places if
/// count_include_pad, a padded place counting as zero_point). Input and output share one
/// quantization.
struct QAveragePool {
  models::Window window;
  bool count_include_pad = false;
  RequantizeMode mode = RequantizeMode::float_multiplier;
};
/// A value map for single elements: table[q - qmin of the input]. Stand-alone Relu, Clip, Sigmoid
/// and Tanh become this (activations of 8 bits and fewer: at most 256 entries; 16 bits: 65,536).
struct QLookup {
  std::string function;  ///< ONNX's name of it
  std::vector<std::int16_t> table;
};
struct QFlatten {};

using QOperation =
    std::variant<QInput, QConv, QDense, QAdd, QMaxPool, QAveragePool, QLookup, QFlatten>;
/// ONNX's name of the operation, as reports print it.
std::string operation_name(const QOperation& operation);

struct QNode {
  std::string name;
  QOperation operation;
  std::vector<models::NodeId> inputs;
  models::Shape shape;
  Quantization quantization;  ///< of the tensor it makes
};

/// A network of integers: nodes in topological order, node 0 the input, the last one the output
/// (a Softmax at the end of the fp32 graph is left to the host, which also does the argmax).
/// Relu and Clip that directly follow a Conv, Dense or Add, as its only reader, are fused into
/// the clamp range. Immutable after the quantizer made it.
struct QuantizedGraph {
  std::string name;
  Scheme scheme;
  std::vector<QNode> nodes;

  const QNode& input() const { return nodes.front(); }
  const QNode& output() const { return nodes.back(); }
  // The widest formats, of the scheme's and the layers' own: they hold the integers of all.
  Format activation_format() const;
  Format weight_format() const;
};

/// 8-bit pixels (real value p / 255) to the input's integers, by a table of 256 entries.
std::vector<std::int16_t> quantize_pixels(const Quantization& input,
                                          std::span<const std::uint8_t> pixels);

}  // namespace tilewave::quant
