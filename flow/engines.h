#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/engine.h"

namespace tilewave::flow {

/// Which engine simulates, as users name it.
struct EngineChoice {
  std::string engine = "timeline";
  std::string matrix_unit;  ///< of systemc alone: how it models the array; empty: tile
};

/// Names of the engines, the default one first.
std::vector<std::string> engine_names();
std::vector<std::string> matrix_unit_names();

/// "timeline", "systemc/tile", ...: what results carry. Throws InputError on an unknown name and on
/// a matrix unit for an engine that has one way only.
std::string engine_label(const EngineChoice& choice);
/// The choice for a run that needs the array's registers, which only systemc with matrix unit pe
/// has; that is chosen where the matrix unit is left open. Throws as engine_label does, and
/// InputError that names `option`, which needs them, for other choices.
EngineChoice with_registers(const EngineChoice& choice, const std::string& option);
/// Throws as engine_label does, and where this build has no SystemC.
std::unique_ptr<sim::Engine> make_engine(const EngineChoice& choice);

}  // namespace tilewave::flow
