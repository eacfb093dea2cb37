#pragma once

#include <rapidcheck.h>

#include "models/graph.h"

namespace tilewave::tests {

/// A random number from low to high, both included. Within a RapidCheck property.
inline int pick(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}

/// Kernels of up to so many places each way; strides, dilations and padding of up to 3.
inline models::Window random_window(int largest_kernel) {
  return {.kernel_height = pick(1, largest_kernel),
          .kernel_width = pick(1, largest_kernel),
          .stride_height = pick(1, 3),
          .stride_width = pick(1, 3),
          .dilation_height = pick(1, 3),
          .dilation_width = pick(1, 3),
          .pad_top = pick(0, 3),
          .pad_left = pick(0, 3),
          .pad_bottom = pick(0, 3),
          .pad_right = pick(0, 3)};
}

}  // namespace tilewave::tests
