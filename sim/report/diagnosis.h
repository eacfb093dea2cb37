#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quant/scheme.h"
#include "sim/chip/chip.h"
#include "sim/report/style.h"

namespace tilewave::sim {

/// What most of a layer's own error comes from.
enum class ErrorCause : std::uint8_t {
  none,       ///< there is no error
  overflow,   ///< sums that left the accumulators' width
  clipping,   ///< values outside of the tensor's range
  step,       ///< rounding to the tensor's integers
  arithmetic  ///< the integers of weights and inputs
};

/// A layer's tensor in the integer network against the same tensor in fp32. See
/// docs/diagnosis.md for the definitions.
struct LayerDiagnosis {
  std::string name;
  std::string operation;
  int activation_bits = 0;                ///< of the tensor
  int weight_bits = 0;                    ///< 0: no weights
  std::optional<double> sqnr_db;          ///< nothing where there is no error, or no signal
  std::optional<double> own_sqnr_db;      ///< likewise, where the layer's inputs are those of fp32
  double cosine = 0;                      ///< of the two tensors, all images as one vector
  double saturated = 0;                   ///< share of values at an end of the format, 0 to 1
  int accumulator_bits = 0;               ///< that the complete sums need; 0: no sums
  std::optional<std::int64_t> overflows;  ///< on the chip; nothing for a layer that it has not
  ErrorCause cause = ErrorCause::none;
  std::vector<std::int64_t> histogram;  ///< of the integers, in equal parts of the format's range
};

struct Diagnosis {
  std::string model;
  std::string data;
  Chip chip;
  quant::Scheme scheme;
  std::int64_t images = 0;
  std::optional<double> accuracy;  ///< on the chip; nothing without labels
  std::optional<double> accuracy_fp32;
  std::optional<double> agreement_fp32;
  std::vector<LayerDiagnosis> layers;
};

/// Names as in JSON: none, overflow, clipping, step, arithmetic.
std::string name_of(ErrorCause cause);
/// The layer that adds the most error in relation to its values; nothing if none adds any.
std::optional<std::size_t> worst_layer(const Diagnosis& diagnosis);

std::string to_json(const Diagnosis& diagnosis);
/// A header and a row per layer, without the histograms.
std::string to_csv(const Diagnosis& diagnosis);
/// One screen for people.
std::string to_text(const Diagnosis& diagnosis, const Style& style);

}  // namespace tilewave::sim
