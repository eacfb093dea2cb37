#include <pybind11/stl.h>

#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "kernels/calibrate.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/interruptible.h"
#include "quant/onnx_writer.h"
#include "quant/quantized_graph.h"
#include "sim/report/json.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

using quant::QuantizedGraph;

py::dict tensor_dict(const quant::Quantization& q) {
  py::dict tensor;
  tensor["bits"] = q.format.bits;
  tensor["signed"] = q.format.is_signed;
  tensor["scale"] = q.scale;
  tensor["zero_point"] = q.zero_point;
  return tensor;
}

/// Adds the constants of a Conv or Dense, as views.
template <typename Layer>
void put_weights(py::dict& node, const Layer& layer, ArrayShape shape, const py::object& owner) {
  const auto channels = static_cast<py::ssize_t>(layer.bias.size());
  node["weight"] = view_of(layer.weight.data(), std::move(shape), owner);
  node["weight_bits"] = layer.weight_format.bits;
  node["bias"] = view_of(layer.bias.data(), {channels}, owner);
  node["weight_scale"] = view_of(layer.weight_scale.data(), {channels}, owner);
}

struct PutWeights {
  py::dict& node;
  const models::Shape& input;
  const py::object& owner;

  void operator()(const quant::QConv& conv) const {
    const auto out = static_cast<py::ssize_t>(conv.bias.size());
    put_weights(
        node, conv,
        {out, conv.window.kernel_height, conv.window.kernel_width, input.channels / conv.groups},
        owner);
  }
  void operator()(const quant::QDense& dense) const {
    put_weights(node, dense, {static_cast<py::ssize_t>(dense.bias.size()), input.elements()},
                owner);
  }
  template <typename Other>
  void operator()(const Other& /*operation*/) const {}
};

py::list nodes_of(const py::object& self) {
  const auto& graph = self.cast<const QuantizedGraph&>();
  py::list nodes;
  for (const quant::QNode& made : graph.nodes) {
    py::dict node;
    py::list inputs;
    for (const models::NodeId id : made.inputs) {
      inputs.append(graph.nodes[static_cast<std::size_t>(id)].name);
    }
    node["name"] = made.name;
    node["operation"] = quant::operation_name(made.operation);
    node["inputs"] = py::tuple(inputs);
    node["shape"] = py::make_tuple(made.shape.height, made.shape.width, made.shape.channels);
    node.attr("update")(tensor_dict(made.quantization));
    if (!made.inputs.empty()) {
      const auto& from = graph.nodes[static_cast<std::size_t>(made.inputs[0])];
      std::visit(PutWeights{node, from.shape, self}, made.operation);
    }
    nodes.append(node);
  }
  return nodes;
}

std::shared_ptr<QuantizedGraph> quantize(const models::Graph& graph, const py::object& calibration,
                                         const quant::Scheme& scheme,
                                         std::optional<std::int64_t> threads) {
  const models::ImagesView images =
      images_in(calibration, graph.nodes().front().shape, "calibration");
  const int workers = threads_in(threads);
  return interruptible([&](const std::stop_token& stop) {
    return std::make_shared<QuantizedGraph>(
        kernels::quantize(graph, images, scheme, workers, stop));
  });
}

py::bytes to_onnx(const QuantizedGraph& quantized, const models::Graph& graph) {
  std::vector<std::uint8_t> file;
  {
    const py::gil_scoped_release release;
    file = quant::to_onnx(quantized, graph);
  }
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

/// A scheme from its keys as YAML or JSON text.
quant::Scheme parse_scheme(const std::string& yaml, const std::string& where) {
  return quant::parse_scheme(yaml, where);
}

}  // namespace

void bind_quantize(py::module_& module) {
  py::class_<quant::Scheme>(module, "Scheme")
      .def(py::init<>())
      .def("to_json", [](const quant::Scheme& scheme) { return sim::scheme_json(scheme).dump(); });
  module.def("parse_scheme", &parse_scheme, py::arg("yaml"), py::arg("where"));
  module.def("load_scheme", &quant::load_scheme, py::arg("path"));

  py::class_<QuantizedGraph, std::shared_ptr<QuantizedGraph>>(module, "QuantizedGraph")
      .def_readonly("name", &QuantizedGraph::name)
      .def_readonly("scheme", &QuantizedGraph::scheme)
      .def("nodes", &nodes_of)
      .def("to_onnx", &to_onnx, py::arg("graph"));
  module.def("quantize", &quantize, py::arg("graph"), py::arg("calibration"), py::arg("scheme"),
             py::arg("threads"));
}

}  // namespace tilewave::python
