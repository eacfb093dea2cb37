#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "kernels/cpu/integer_product.h"
#include "kernels/cpu/vector_kernels.h"
#include "python/src/bindings.h"
#include "quant/quantize_weights.h"
#include "quant/requantize.h"

// The integer arithmetic on arrays, for tilewave.onnx_backend: every element by quant/, matrix
// products by kernels/. The Python side sees to shapes and types.

namespace py = pybind11;

namespace tilewave::python {
namespace {

template <typename T>
using Array = py::array_t<T, py::array::c_style>;

quant::Format format_of(int bits, bool is_signed) {
  return {bits, is_signed, false};
}

template <typename T>
std::span<const T> values_of(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

Array<std::int32_t> quantize_linear(const Array<float>& x, const Array<float>& scale,
                                    const Array<std::int32_t>& zero_point, int bits,
                                    bool is_signed) {
  TILEWAVE_CHECK(x.size(), ==, scale.size(), "a scale for each value");
  TILEWAVE_CHECK(x.size(), ==, zero_point.size(), "a zero_point for each value");
  Array<std::int32_t> made(x.size());
  for (py::ssize_t i = 0; i < x.size(); ++i) {
    made.mutable_data()[i] = quant::quantize(
        x.data()[i], {format_of(bits, is_signed), scale.data()[i], zero_point.data()[i]});
  }
  return made;
}

Array<float> dequantize_linear(const Array<std::int32_t>& x, const Array<float>& scale,
                               const Array<std::int32_t>& zero_point) {
  TILEWAVE_CHECK(x.size(), ==, scale.size(), "a scale for each value");
  TILEWAVE_CHECK(x.size(), ==, zero_point.size(), "a zero_point for each value");
  Array<float> made(x.size());
  for (py::ssize_t i = 0; i < x.size(); ++i) {
    made.mutable_data()[i] =
        quant::dequantize(x.data()[i], {{}, scale.data()[i], zero_point.data()[i]});
  }
  return made;
}

/// acc[m][n] = bias[n] + sum over k of (a[m][k] - a_zero_point) * weight[n][k], a of 8 bits. As the
/// networks do it: raw a, and what its zero_point adds put into the bias.
Array<std::int32_t> integer_product(const Array<std::int16_t>& a, std::int32_t a_zero_point,
                                    bool a_is_signed, const Array<std::int16_t>& weight,
                                    int weight_bits, const Array<std::int32_t>& bias) {
  const std::int64_t m = a.shape(0);
  const std::int64_t k = a.shape(1);
  const std::int64_t n = weight.shape(0);
  TILEWAVE_CHECK(weight.shape(1), ==, k, "inputs of the weight");
  TILEWAVE_CHECK(bias.size(), ==, n, "outputs of the weight");
  std::vector<std::int32_t> start;
  for (std::int64_t column = 0; column < n; ++column) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += weight.data()[column * k + i];
    start.push_back(static_cast<std::int32_t>(bias.data()[column] - a_zero_point * sum));
  }
  const kernels::ProductWeights weights{
      values_of(weight), start, 1, k, format_of(8, a_is_signed), format_of(weight_bits, true)};
  const bool use_onednn = kernels::onednn_refusal()[0] == '\0' && weight_bits <= 8;
  const auto product = use_onednn
                           ? kernels::make_onednn_product(weights)
                           : kernels::make_packed_product(weights, kernels::best_vector_kernels());
  // One value more, which is read.
  std::vector<std::int16_t> factors(a.data(), a.data() + a.size());
  factors.push_back(0);
  std::vector<const std::int16_t*> rows;
  for (std::int64_t row = 0; row < m; ++row) rows.push_back(factors.data() + row * k);
  const std::vector<std::int64_t> runs = {0};
  const std::int64_t stride = ceil_div(n, kernels::kPanel) * kernels::kPanel;
  std::vector<std::int32_t> sums(static_cast<std::size_t>(m * stride));
  kernels::ProductScratch scratch;
  product->multiply({rows, runs}, {0, n}, sums.data(), stride, scratch);
  Array<std::int32_t> acc(std::vector<py::ssize_t>{m, n});
  for (std::int64_t row = 0; row < m; ++row) {
    std::copy_n(sums.data() + row * stride, n, acc.mutable_data() + row * n);
  }
  return acc;
}

/// `float` requantization of acc [m][n].
Array<std::int16_t> requantize(const Array<std::int32_t>& acc, float input_scale,
                               const std::vector<float>& weight_scale, float scale,
                               std::int32_t zero_point, bool is_signed) {
  const std::int64_t channels = acc.shape(1);
  TILEWAVE_CHECK(std::ssize(weight_scale), ==, channels, "a scale for each column");
  const quant::Format format = format_of(8, is_signed);
  const auto requantizer = quant::make_requantizer(
      input_scale, weight_scale, {format, scale, zero_point},
      quant::RequantizeMode::float_multiplier, format.qmin(), format.qmax(), "requantize");
  Array<std::int16_t> made(std::vector<py::ssize_t>{acc.shape(0), acc.shape(1)});
  for (std::int64_t row = 0; row < acc.shape(0); ++row) {
    quant::requantize_row(acc.data() + row * channels, channels, requantizer,
                          made.mutable_data() + row * channels);
  }
  return made;
}

}  // namespace

void bind_operators(py::module_& module) {
  module.def("quantize_linear", &quantize_linear, py::arg("x").noconvert(),
             py::arg("scale").noconvert(), py::arg("zero_point").noconvert(), py::arg("bits"),
             py::arg("is_signed"));
  module.def("dequantize_linear", &dequantize_linear, py::arg("x").noconvert(),
             py::arg("scale").noconvert(), py::arg("zero_point").noconvert());
  module.def("integer_product", &integer_product, py::arg("a").noconvert(), py::arg("a_zero_point"),
             py::arg("a_is_signed"), py::arg("weight").noconvert(), py::arg("weight_bits"),
             py::arg("bias").noconvert());
  module.def("requantize", &requantize, py::arg("acc").noconvert(), py::arg("input_scale"),
             py::arg("weight_scale"), py::arg("scale"), py::arg("zero_point"),
             py::arg("is_signed"));
}

}  // namespace tilewave::python
