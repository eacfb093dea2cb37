#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quant/scheme.h"
#include "sim/chip/chip.h"
#include "sim/engine.h"
#include "sim/report/style.h"

namespace tilewave::sim {

/// What depends on the machine that simulated, apart from everything else.
struct HostFigures {
  double load_seconds = 0;       ///< reading the network and the data, calibrating, quantizing
  double compile_seconds = 0;    ///< network to program
  double simulate_seconds = 0;   ///< cycles and values
  double reference_seconds = 0;  ///< the fp32 network on this CPU
  int threads = 1;
  std::string cpu;

  double wall_seconds() const {
    return load_seconds + compile_seconds + simulate_seconds + reference_seconds;
  }
};

/// What the faults of a run changed, compared with the same run without them.
struct FaultEffect {
  FaultOptions faults;
  std::int64_t outputs = 0;  ///< numbers: images times classes
  std::int64_t outputs_changed = 0;
  std::int64_t classes_changed = 0;  ///< of as many as there are images
};

/// Everything that is known about one simulated run.
struct Report {
  std::string model;
  std::string data;
  std::string engine;
  Chip chip;
  std::optional<quant::Scheme> scheme;  ///< nothing for a program from a file
  std::int64_t batch = 0;
  std::int64_t launches = 0;
  std::int64_t images = 0;         ///< without those that fill up the last batch
  std::int64_t padded_images = 0;  ///< those
  std::vector<Layer> layers;
  Bytes unified_buffer_peak = 0;
  std::optional<double> accuracy;        ///< 0 to 1; nothing without labels
  std::optional<double> accuracy_fp32;   ///< nothing without a reference run
  std::optional<double> agreement_fp32;  ///< share of images with the same class as in fp32
  RunResult result;
  std::optional<FaultEffect> fault_effect;  ///< nothing if nothing was broken
  HostFigures host;

  double seconds() const { return chip.seconds(result.cycles); }
  /// Of one launch, host transfers in and out.
  double latency_seconds() const { return chip.seconds(result.first_launch_end); }
  double images_per_second() const {
    return result.cycles == 0 ? 0 : static_cast<double>(images) / seconds();
  }
};

/// The result file of docs/interfaces: the same bytes for the same run, except under "host".
std::string to_json(const Report& report);
/// A header, one row per layer, one row "total".
std::string to_csv(const Report& report);
/// One screen for people.
std::string to_text(const Report& report, const Style& style);
/// The run in the form of table 3 of the TPU v1 paper, beside that paper's own figures.
std::string to_paper_table(const Report& report);

/// Version of tilewave, "0.1.0".
std::string version();

}  // namespace tilewave::sim
