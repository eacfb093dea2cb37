#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "models/onnx/model.h"

namespace tilewave::models::onnx_reader {
namespace {

/// `count` values, each in [least, kMaxElements].
Integers take_sizes(Attributes& attributes, const std::string& name, const Integers& otherwise,
                    std::int64_t least, const std::string& where) {
  Integers sizes = attributes.integers(name, otherwise);
  const bool right = sizes.size() == otherwise.size() &&
                     std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) {
                       return size >= least && size <= kMaxElements;
                     });
  if (!right) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < std::min<std::size_t>(sizes.size(), 8); ++i) {
      values.push_back(std::to_string(sizes[i]));
    }
    throw InputError(where, name + " is [" + join(values, ", ") + "]",
                     std::to_string(otherwise.size()) + " values of " + std::to_string(least) +
                         " to " + std::to_string(kMaxElements));
  }
  return sizes;
}

/// The padding, in all, with which ceil(input / stride) windows fit.
std::int64_t same_padding(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                          std::int64_t dilation) {
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  return std::max<std::int64_t>(0, (ceil_div(input, stride) - 1) * stride + reach - input);
}

/// How much padding after the end ceil_mode needs in one direction.
std::int64_t missing_padding(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                             std::int64_t dilation, std::int64_t before, std::int64_t after) {
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  const std::int64_t free = input + before + after - reach;
  if (free < 0) return 0;
  const std::int64_t last_start = ceil_div(free, stride) * stride;
  // A window that would start after the input and the padding before it is left out.
  if (last_start >= input + before) return 0;
  return last_start - free;
}

}  // namespace

template <typename T>
T Attributes::take(const std::string& name, const T& otherwise, const char* type) {
  const auto found = left_.find(name);
  if (found == left_.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  if (!value) throw InputError(node_.where(), "attribute " + name + " has another type", type);
  T taken = *value;
  left_.erase(found);
  return taken;
}

std::int64_t Attributes::integer(const std::string& name, std::int64_t otherwise) {
  return take(name, otherwise, "INT");
}
float Attributes::real(const std::string& name, float otherwise) {
  return take(name, otherwise, "FLOAT");
}
std::string Attributes::text(const std::string& name, const std::string& otherwise) {
  return take(name, otherwise, "STRING");
}
Integers Attributes::integers(const std::string& name, const Integers& otherwise) {
  return take(name, otherwise, "INTS");
}

Tensor Attributes::constant() {
  const auto one = [&](const auto& value, const char* type) -> Tensor {
    return {node_.name, type, {}, std::vector{value}};
  };
  const auto many = [&](const auto& values, const char* type) -> Tensor {
    return {node_.name, type, {static_cast<std::int64_t>(values.size())}, values};
  };
  if (has("value")) return take("value", Tensor{}, "TENSOR");
  if (has("value_float")) return one(take("value_float", 0.0f, "FLOAT"), "FLOAT");
  if (has("value_floats")) return many(take("value_floats", Floats{}, "FLOATS"), "FLOAT");
  if (has("value_int")) return one(take("value_int", std::int64_t{0}, "INT"), "INT64");
  if (has("value_ints")) return many(take("value_ints", Integers{}, "INTS"), "INT64");
  throw InputError(node_.where(), "has no value", "a tensor, numbers or a number");
}

void Attributes::finish() const {
  if (!left_.empty()) {
    throw InputError(node_.where(), "attribute " + left_.begin()->first + " is not known");
  }
}

Window take_window(Attributes& attributes, const Integers& kernel, const Shape& input,
                   const std::string& where) {
  const Integers strides = take_sizes(attributes, "strides", {1, 1}, 1, where);
  const Integers dilations = take_sizes(attributes, "dilations", {1, 1}, 1, where);
  const Integers pads = take_sizes(attributes, "pads", {0, 0, 0, 0}, 0, where);
  const std::string automatic = attributes.text("auto_pad", "NOTSET");
  Window window{kernel[0],    kernel[1], strides[0], strides[1], dilations[0],
                dilations[1], pads[0],   pads[1],    pads[2],    pads[3]};
  if (automatic == "NOTSET") return window;
  if (pads != Integers{0, 0, 0, 0}) {
    throw InputError(where, "has both pads and auto_pad " + automatic, "one of them");
  }
  if (automatic == "VALID") return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER") {
    throw InputError(where, "auto_pad is " + automatic, "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  const std::int64_t vertical = same_padding(input.height, kernel[0], strides[0], dilations[0]);
  const std::int64_t horizontal = same_padding(input.width, kernel[1], strides[1], dilations[1]);
  const std::int64_t odd_before = automatic == "SAME_LOWER" ? 1 : 0;
  window.pad_top = (vertical + odd_before) / 2;
  window.pad_left = (horizontal + odd_before) / 2;
  window.pad_bottom = vertical - window.pad_top;
  window.pad_right = horizontal - window.pad_left;
  return window;
}

bool pad_to_ceiling(Window& window, const Shape& input) {
  const std::int64_t bottom =
      missing_padding(input.height, window.kernel_height, window.stride_height,
                      window.dilation_height, window.pad_top, window.pad_bottom);
  const std::int64_t right =
      missing_padding(input.width, window.kernel_width, window.stride_width, window.dilation_width,
                      window.pad_left, window.pad_right);
  window.pad_bottom += bottom;
  window.pad_right += right;
  return bottom > 0 || right > 0;
}

}  // namespace tilewave::models::onnx_reader
