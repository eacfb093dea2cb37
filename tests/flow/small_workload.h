#pragma once

#include "flow/workload.h"

namespace tilewave::test {

/// A convolution, a pool and a dense layer with weights made from a seed, on 10 images of 6 x 6
/// with labels 0 to 2.
flow::Workload small_workload();

}  // namespace tilewave::test
