#include "kernels/reference.h"

#include <pybind11/stl.h>

#include <memory>

#include "base/error.h"
#include "flow/host.h"
#include "kernels/gpu.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/interruptible.h"
#include "quant/quantized_graph.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

struct Native {
  std::string name;
  kernels::Outputs outputs;
  double seconds = 0;
};

template <typename T>
py::object outputs_array(const std::vector<T>& values, const kernels::Outputs& outputs,
                         const py::object& owner) {
  if (values.empty()) return py::none();
  const auto classes = static_cast<py::ssize_t>(outputs.classes);
  return view_of(values.data(), {static_cast<py::ssize_t>(values.size()) / classes, classes},
                 owner);
}

/// `make`: from ReferenceOptions to the path.
template <typename Make>
std::shared_ptr<Native> run(const models::ImagesView& images, std::int64_t batch,
                            std::optional<std::int64_t> threads, Make make) {
  kernels::ReferenceOptions options{.threads = threads_in(threads), .batch = batch};
  return interruptible([&](const std::stop_token& stop) {
    options.stop = stop;
    const auto reference = make(options);
    const flow::Stopwatch watch;
    kernels::Outputs outputs = reference->run(images.pixels);
    return std::make_shared<Native>(Native{reference->name(), std::move(outputs), watch.seconds()});
  });
}

std::shared_ptr<Native> cpu_fp32(const models::Graph& graph, const py::object& images,
                                 std::int64_t batch, std::optional<std::int64_t> threads) {
  const auto view = images_in(images, graph.nodes().front().shape, "images");
  return run(view, batch, threads,
             [&](const auto& options) { return kernels::make_cpu_fp32(graph, options); });
}

std::shared_ptr<Native> cpu_int8(const quant::QuantizedGraph& graph, const py::object& images,
                                 std::int64_t batch, std::optional<std::int64_t> threads) {
  const auto view = images_in(images, graph.input().shape, "images");
  return run(view, batch, threads,
             [&](const auto& options) { return kernels::make_cpu_int8(graph, options); });
}

std::shared_ptr<Native> gpu_real(const models::Graph& graph, const py::object& images,
                                 const std::string& precision, std::int64_t batch) {
  using kernels::GpuPrecision;
  const auto view = images_in(images, graph.nodes().front().shape, "images");
  const GpuPrecision real = precision == "tf32"   ? GpuPrecision::tf32
                            : precision == "fp16" ? GpuPrecision::fp16
                                                  : GpuPrecision::fp32;
  return run(view, batch, {},
             [&](const auto& options) { return kernels::make_gpu_real(graph, real, options); });
}

std::shared_ptr<Native> gpu_int8(const quant::QuantizedGraph& graph, const py::object& images,
                                 std::int64_t batch) {
  const auto view = images_in(images, graph.input().shape, "images");
  return run(view, batch, {},
             [&](const auto& options) { return kernels::make_gpu_int8(graph, options); });
}

}  // namespace

void bind_reference(py::module_& module) {
  py::class_<Native, std::shared_ptr<Native>>(module, "Native")
      .def_readonly("name", &Native::name)
      .def_readonly("seconds", &Native::seconds)
      .def("real",
           [](const py::object& self) {
             const auto& outputs = self.cast<const Native&>().outputs;
             return outputs_array(outputs.real, outputs, self);
           })
      .def("integers", [](const py::object& self) {
        const auto& outputs = self.cast<const Native&>().outputs;
        return outputs_array(outputs.integers, outputs, self);
      });
  module.def("cpu_fp32", &cpu_fp32, py::arg("graph"), py::arg("images"), py::arg("batch"),
             py::arg("threads"));
  module.def("cpu_int8", &cpu_int8, py::arg("graph"), py::arg("images"), py::arg("batch"),
             py::arg("threads"));
  module.def("gpu_real", &gpu_real, py::arg("graph"), py::arg("images"), py::arg("precision"),
             py::arg("batch"));
  module.def("gpu_int8", &gpu_int8, py::arg("graph"), py::arg("images"), py::arg("batch"));
}

}  // namespace tilewave::python
