#pragma once

namespace tilewave::quant {

/// How accumulators are rescaled: float_multiplier as ONNX Runtime's QLinear kernels do it ("float"
/// in YAML), fixed_point as TFLite's reference kernels, which round twice, and
/// fixed_point_single_rounding as those built with TFLITE_SINGLE_ROUNDING.
enum class RequantizeMode { float_multiplier, fixed_point, fixed_point_single_rounding };

}  // namespace tilewave::quant
