#include "models/graph.h"

#include <pybind11/stl.h>

#include "flow/model_facts.h"
#include "models/data_directory.h"
#include "models/onnx_reader.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

py::tuple shape_tuple(const models::Shape& shape) {
  return py::make_tuple(shape.height, shape.width, shape.channels);
}

/// (name, operation, names of the inputs, shape) of every node.
py::list nodes_of(const models::Graph& graph) {
  py::list nodes;
  for (const models::Node& node : graph.nodes()) {
    py::list inputs;
    for (const models::NodeId id : node.inputs) inputs.append(graph.node(id).name);
    nodes.append(py::make_tuple(node.name, models::operation_name(node.operation),
                                py::tuple(inputs), shape_tuple(node.shape)));
  }
  return nodes;
}

models::Graph parse_onnx(const py::bytes& file, const std::string& where) {
  const auto text = static_cast<std::string_view>(file);
  const py::gil_scoped_release release;
  return models::parse_onnx({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                            where);
}

}  // namespace

void bind_graph(py::module_& module) {
  using models::Graph;
  py::class_<Graph>(module, "Graph")
      .def_property_readonly("name", &Graph::name)
      .def_property_readonly(
          "input_shape",
          [](const Graph& graph) { return shape_tuple(graph.nodes().front().shape); })
      .def_property_readonly("outputs",
                             [](const Graph& graph) { return graph.output().shape.elements(); })
      .def_property_readonly("macs",
                             [](const Graph& graph) { return flow::model_facts(graph).macs; })
      .def_property_readonly("parameters",
                             [](const Graph& graph) { return flow::model_facts(graph).parameters; })
      .def("nodes", &nodes_of);
  module.def("parse_onnx", &parse_onnx, py::arg("file"), py::arg("where"));
  module.def("model_names", &models::model_names);
  module.def("data_directory", [] { return models::data_directory().string(); });
}

}  // namespace tilewave::python
