#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <string>
#include <vector>

#include "models/dataset.h"

namespace tilewave::python {

/// The images in a NumPy array, not copied: uint8, C order, [n, height, width, channels]; without
/// the last if that is 1, and [n, channels] for flat ones. `name` is that of the argument. Throws
/// TypeError or ValueError that say what is expected.
models::ImagesView images_in(const pybind11::object& array, const models::Shape& shape,
                             const std::string& name);
/// The shape of one image of an array as above, for images of any size.
models::Shape image_shape(const pybind11::object& array, const std::string& name);
/// The same images and labels in memory of their own.
models::Images copy_of(const models::ImagesView& view);
/// Labels of `count` images, uint8; none for None.
std::span<const std::uint8_t> labels_in(const pybind11::object& array, std::int64_t count,
                                        const std::string& name);

/// Threads to use: as many as the process may run for None. Throws ValueError.
int threads_in(std::optional<std::int64_t> threads);

using ArrayShape = std::vector<pybind11::ssize_t>;
/// [n, height, width], with the channels if there are several.
ArrayShape array_shape(std::int64_t count, const models::Shape& shape);

/// A read-only array of what `owner` keeps alive.
template <typename T>
pybind11::array view_of(const T* data, ArrayShape shape, const pybind11::object& owner) {
  pybind11::array array(pybind11::dtype::of<T>(), std::move(shape), data, owner);
  array.attr("setflags")(false);
  return array;
}

}  // namespace tilewave::python
