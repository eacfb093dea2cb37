#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "flow/engines.h"
#include "flow/workload.h"
#include "sim/chip/chip.h"
#include "sim/isa/program.h"
#include "sim/report/report.h"

namespace tilewave::flow {

/// Called as the work goes on: what is being done, and how much of it. May throw to stop it.
using Progress = std::function<void(const std::string& what, std::int64_t done, std::int64_t of)>;

/// What is seen of the array's registers and what is broken in them. See with_registers for the
/// engine that this needs.
struct Probes {
  sim::FaultOptions faults = {};
  std::optional<sim::WaveformOptions> waveform = {};
};

struct RunOptions {
  std::optional<std::int64_t> images = {};  ///< the first so many test images; nothing: all
  std::int64_t batch = 256;                 ///< at most as many as there are images are used
  EngineChoice engine = {};
  int threads = 1;         ///< no result depends on it
  bool reference = true;   ///< also run the network in fp32, to compare with
  Progress progress = {};  ///< may be empty
  Probes probes = {};
  std::stop_token stop = {};
};

/// From a workload and a chip to all that the simulation tells: compiles, simulates with values,
/// checks what every run must hold, and scores. result.outputs has the images asked for. The chip
/// is used, and reported, with the accumulators that the scheme asks for.
/// Throws InputError where chip, scheme or options do not fit, and Stopped.
sim::Report run(const Workload& workload, const sim::Chip& chip, const RunOptions& options);

/// What `run` reports of cycles, bytes and energy, for `images` images through a program of the
/// compiler; no values, no scores.
sim::Report run_timing(const sim::Program& program, const sim::Chip& chip, std::int64_t images,
                       const std::stop_token& stop = {});

struct ExecuteOptions {
  std::int64_t launches = 1;  ///< used where there are no images
  bool values = true;         ///< else cycles only
  EngineChoice engine = {};
  int threads = 1;
  bool trace = false;
  Progress progress = {};  ///< may be empty
  Probes probes = {};
  std::stop_token stop = {};
};

/// Runs a program from elsewhere, on `images` (its launches then follow from their number) or, if
/// that is null, on images of the input's zero_point. `data` names the images.
sim::Report execute(const sim::Program& program, const sim::Chip& chip,
                    const models::ImagesView* images, const std::string& data,
                    const ExecuteOptions& options);

}  // namespace tilewave::flow
