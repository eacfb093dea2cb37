#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "flow/run.h"
#include "flow/workload.h"
#include "quant/scheme.h"

namespace tilewave::flow {

struct SuggestOptions {
  std::optional<std::int64_t> images = {};  ///< the first so many test images; nothing: all
  double accuracy_drop = 0.5;               ///< points of accuracy below fp32 that are allowed
  int threads = 1;                          ///< no result depends on it
  Progress progress = {};                   ///< may be empty
  std::stop_token stop = {};
};

/// A scheme with narrower weights in the layers that bear it.
struct Suggestion {
  quant::Scheme scheme;
  std::int64_t images = 0;  ///< that the accuracies are of
  double accuracy = 0;      ///< with the scheme, 0 to 1
  double accuracy_fp32 = 0;
  double accuracy_before = 0;  ///< with the workload's scheme
  double accuracy_drop = 0;    ///< points, as asked for
  Bytes weight_bytes = 0;      ///< of all layers, weights packed, rounded up by layer
  Bytes weight_bytes_before = 0;
};

/// Greedy search, described in docs/quantization.md: bit by bit, the layer whose narrower weights
/// disturb the network's outputs least for the bytes that they save, as long as the accuracy on
/// the test images stays within the bound. Throws InputError where the test images have no labels,
/// and where the workload's own scheme is not within the bound; Stopped.
Suggestion suggest_mixed(const Workload& workload, const SuggestOptions& options);

/// A scheme file that says in comments what was measured.
std::string to_yaml(const Suggestion& suggestion, const std::string& model);

}  // namespace tilewave::flow
