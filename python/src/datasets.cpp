#include <memory>

#include "models/dataset.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

/// (images, labels), views of memory that they keep alive together.
py::tuple arrays_of(const models::Images& images, const py::object& owner) {
  return py::make_tuple(
      view_of(images.pixels.data(), array_shape(images.count, images.shape), owner),
      view_of(images.labels.data(), {images.count}, owner));
}

/// A Python object that owns `value`.
template <typename T>
py::capsule keep(std::unique_ptr<T> value) {
  py::capsule owner(value.get(), [](void* pointer) { delete static_cast<T*>(pointer); });
  value.release();
  return owner;
}

/// (name, test, calibration)
py::tuple load(const std::string& name_or_directory) {
  auto dataset = [&] {
    const py::gil_scoped_release release;
    return std::make_unique<models::Dataset>(models::load_dataset(name_or_directory));
  }();
  const models::Dataset& data = *dataset;
  const py::capsule owner = keep(std::move(dataset));
  return py::make_tuple(data.name, arrays_of(data.test, owner), arrays_of(data.calibration, owner));
}

py::array read_idx(const std::string& path) {
  auto idx = [&] {
    const py::gil_scoped_release release;
    return std::make_unique<models::Idx>(models::read_idx(path));
  }();
  const models::Idx& data = *idx;
  return view_of(data.values.data(), {data.dimensions.begin(), data.dimensions.end()},
                 keep(std::move(idx)));
}

}  // namespace

void bind_datasets(py::module_& module) {
  module.def("load_dataset", &load, py::arg("name_or_directory"));
  module.def("read_idx", &read_idx, py::arg("path"));
}

}  // namespace tilewave::python
