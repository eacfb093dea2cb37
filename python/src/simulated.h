#pragma once

#include "quant/format.h"
#include "sim/report/report.h"

namespace tilewave::python {

/// A run, and in which format its outputs are.
struct Simulated {
  sim::Report report;
  quant::Quantization output;
};

}  // namespace tilewave::python
