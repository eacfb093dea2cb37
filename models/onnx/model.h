#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/graph.h"

/// The ONNX reader's inside, in the order of the work: decode, order, convert, fold.
namespace tilewave::models::onnx_reader {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

/// A constant. Floating-point types are held as fp32 without NaN, whole numbers as int64.
struct Tensor {
  std::string name;
  std::string type;  ///< ONNX's name of the type, as "FLOAT"
  Integers dims;
  /// Nothing where the type is none that the reader uses.
  std::variant<std::monostate, Floats, Integers> values;
};

/// Nothing where the attribute is of a kind that the reader uses nowhere (subgraphs).
using Attribute =
    std::variant<std::monostate, std::int64_t, float, std::string, Integers, Floats, Tensor>;

struct OnnxNode {
  std::string name;                 ///< never empty, unique in the model
  std::string op;                   ///< with its domain in front unless that is ONNX's own
  std::vector<std::string> inputs;  ///< names of tensors; "" where an optional one is left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;

  /// For errors: "node conv1 (Conv)".
  std::string where() const { return "node " + name + " (" + op + ")"; }
};

/// What the file says, checked one by one but not yet against each other.
struct Model {
  std::int64_t opset = 0;
  std::vector<OnnxNode> nodes;
  std::map<std::string, Tensor> constants;  ///< initializers, by name
  std::string input;
  /// -1 for a batch that may have any size; all others are fixed and positive.
  Integers input_dims;
  std::string output;
  std::int64_t file_bytes = 0;
};

Model decode(std::span<const std::uint8_t> bytes);

/// Sorts the nodes so that each comes after those it reads, and drops those that the output does
/// not depend on. Throws for cycles, tensors that no node makes, and tensors made twice.
void sort_nodes(Model& model);

/// A graph that computes what the model does; `affine` are the nodes, all 1 x 1 depthwise Convs,
/// that stand for a BatchNormalization or an Add of a constant.
struct Converted {
  Graph graph;
  std::vector<NodeId> affine;
};
/// `model` is sorted; `name` becomes the graph's.
Converted convert(Model model, const std::string& name);

/// Folds the affine nodes into the Conv or Dense before them where nothing else reads that.
Graph fold_affine(const Converted& converted);

/// The text with its control characters replaced, so that it stays on one line.
std::string printable(std::string text);

/// The attributes of one node, each taken once, so that what is left over is known.
class Attributes {
 public:
  explicit Attributes(const OnnxNode& node) : node_(node), left_(node.attributes) {}

  /// The attribute's value, or `otherwise` if there is none. Throws if it has another type.
  std::int64_t integer(const std::string& name, std::int64_t otherwise);
  float real(const std::string& name, float otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  Integers integers(const std::string& name, const Integers& otherwise);
  /// The value of a Constant node.
  Tensor constant();
  bool has(const std::string& name) const { return left_.contains(name); }
  /// Throws if an attribute was not taken.
  void finish() const;

 private:
  template <typename T>
  T take(const std::string& name, const T& otherwise, const char* type);

  const OnnxNode& node_;
  std::map<std::string, Attribute> left_;
};

/// Takes strides, pads, dilations and auto_pad (and ceil_mode, for pools). `kernel` is the height
/// and width that the window has.
Window take_window(Attributes& attributes, const Integers& kernel, const Shape& input,
                   const std::string& where);
/// Adds the bottom and right padding that makes ceil_mode's windows fit. Returns false if there
/// is nothing to add.
bool pad_to_ceiling(Window& window, const Shape& input);

}  // namespace tilewave::models::onnx_reader
