#include "python/src/arrays.h"

#include "base/error.h"
#include "flow/host.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

/// As the command takes.
constexpr std::int64_t kMaxThreads = 1024;

std::string shape_text(const py::array& array) {
  return py::str(array.attr("shape")).cast<std::string>();
}

py::array bytes_array(const py::object& object, const std::string& name,
                      const std::string& expected) {
  if (!py::isinstance<py::array>(object)) {
    throw py::type_error(name + ": expected " + expected + ", got " +
                         py::str(py::type::of(object).attr("__name__")).cast<std::string>());
  }
  auto array = py::reinterpret_borrow<py::array>(object);
  if (!array.dtype().is(py::dtype::of<std::uint8_t>()) &&
      !array.dtype().equal(py::dtype::of<std::uint8_t>())) {
    throw py::type_error(name + ": expected " + expected + ", got dtype " +
                         py::str(array.dtype()).cast<std::string>());
  }
  if ((array.flags() & py::array::c_style) == 0) {
    throw py::value_error(name + ": expected " + expected +
                          " in C order, got one with other strides (numpy.ascontiguousarray "
                          "copies it)");
  }
  return array;
}

std::span<const std::uint8_t> values_of(const py::array& array) {
  return {static_cast<const std::uint8_t*>(array.data()), static_cast<std::size_t>(array.size())};
}

std::string expected_images(const models::Shape& shape) {
  const std::string dims =
      shape.pixels() == 1 && shape.channels > 1
          ? std::to_string(shape.channels)
          : std::to_string(shape.height) + ", " + std::to_string(shape.width) +
                (shape.channels == 1 ? "" : ", " + std::to_string(shape.channels));
  return "a NumPy array of uint8, [n, " + dims + "]";
}

bool has_shape(const py::array& array, const models::Shape& shape) {
  std::vector<std::int64_t> dims(array.shape() + 1, array.shape() + array.ndim());
  if (dims == std::vector{shape.height, shape.width, shape.channels}) return true;
  if (shape.channels == 1 && dims == std::vector{shape.height, shape.width}) return true;
  return shape.pixels() == 1 && dims == std::vector{shape.channels};
}

}  // namespace

models::ImagesView images_in(const py::object& object, const models::Shape& shape,
                             const std::string& name) {
  const std::string expected = expected_images(shape);
  const py::array array = bytes_array(object, name, expected);
  if (array.ndim() < 2 || !has_shape(array, shape)) {
    throw py::value_error(name + ": expected " + expected + ", got shape " + shape_text(array));
  }
  if (array.shape(0) == 0) throw py::value_error(name + ": expected at least one image, got none");
  models::ImagesView view;
  view.shape = shape;
  view.count = array.shape(0);
  view.pixels = values_of(array);
  return view;
}

models::Shape image_shape(const py::object& object, const std::string& name) {
  const std::string expected =
      "a NumPy array of uint8, [n, height, width] or [n, height, width, "
      "channels]";
  const py::array array = bytes_array(object, name, expected);
  if (array.ndim() != 3 && array.ndim() != 4) {
    throw py::value_error(name + ": expected " + expected + ", got shape " + shape_text(array));
  }
  return {array.shape(1), array.shape(2), array.ndim() == 4 ? array.shape(3) : 1};
}

std::span<const std::uint8_t> labels_in(const py::object& object, std::int64_t count,
                                        const std::string& name) {
  if (object.is_none()) return {};
  const std::string expected = "a NumPy array of uint8, [" + std::to_string(count) + "]";
  const py::array array = bytes_array(object, name, expected);
  if (array.ndim() != 1 || array.shape(0) != count) {
    throw py::value_error(name + ": expected " + expected + ", got shape " + shape_text(array));
  }
  return values_of(array);
}

models::Images copy_of(const models::ImagesView& view) {
  return {view.shape,
          view.count,
          {view.pixels.begin(), view.pixels.end()},
          {view.labels.begin(), view.labels.end()}};
}

int threads_in(std::optional<std::int64_t> threads) {
  if (!threads) return flow::available_threads();
  if (*threads >= 1 && *threads <= kMaxThreads) return static_cast<int>(*threads);
  throw InputError("threads", std::to_string(*threads), "1 to " + std::to_string(kMaxThreads));
}

ArrayShape array_shape(std::int64_t count, const models::Shape& shape) {
  ArrayShape dims = {count, shape.height, shape.width};
  if (shape.channels != 1) dims.push_back(shape.channels);
  return dims;
}

}  // namespace tilewave::python
