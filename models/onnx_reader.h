#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/graph.h"

namespace tilewave::models {

/// Reads an ONNX file into a Graph: NCHW becomes NHWC, BatchNormalization is folded,
/// Identity and Dropout are removed, MatMul (+ Add of a constant) and Gemm become Dense.
/// Throws InputError naming the file, the node and the operator.
Graph read_onnx(const std::string& path);
Graph parse_onnx(std::span<const std::uint8_t> bytes, const std::string& where);

/// `name_or_path`: a network that ships with tilewave ("mnist_cnn") or a path to an .onnx file.
Graph load_model(const std::string& name_or_path);
/// The file that load_model reads. Throws as it does where there is none.
std::string model_file(const std::string& name_or_path);

/// Names of the networks that ship with tilewave.
std::vector<std::string> model_names();

}  // namespace tilewave::models
