#pragma once

#include <memory>
#include <vector>

#include "quant/quantizer.h"

namespace tilewave::test {

/// Has seen a range, without any values.
class FixedRange final : public quant::Observer {
 public:
  explicit FixedRange(Range range) : range_(range) {}
  void observe(std::span<const float> /*values*/) override {}
  Range range(const quant::Format& /*format*/) const override { return range_; }

 private:
  Range range_;
};

/// Quantizes with one given range per node.
inline quant::QuantizedGraph quantize_with(const models::Graph& graph,
                                           const std::vector<quant::Observer::Range>& ranges,
                                           const quant::Scheme& scheme) {
  quant::Calibration calibration{
      std::make_shared<const models::Graph>(graph), quant::calibration_part(scheme), {}};
  for (const quant::Observer::Range& range : ranges) {
    calibration.observers.push_back(std::make_shared<FixedRange>(range));
  }
  return quant::quantize_graph(calibration, scheme);
}

}  // namespace tilewave::test
