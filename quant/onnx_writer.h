#pragma once

#include <cstdint>
#include <vector>

#include "models/graph.h"
#include "quant/quantized_graph.h"

namespace tilewave::quant {

/// The network as an ONNX file in QDQ form: every tensor passes through QuantizeLinear and
/// DequantizeLinear, weights and biases are integers that are dequantized. `graph` is the fp32
/// network that `quantized` was made from; its final Softmax is written too. Images are NCHW.
///
/// Values of 2 to 8 bits are stored as int8 or uint8 and clipped before they are quantized, 16 bits
/// as int16; biases are int32. The oldest opset that has what is used: 13; 19 for average pools
/// with dilation; 21 for int16. QDQ form has no mode of requantization: readers round as they do.
/// The same bytes every time. Throws InputError from 2 GiB on.
std::vector<std::uint8_t> to_onnx(const QuantizedGraph& quantized, const models::Graph& graph);

}  // namespace tilewave::quant
