#include "flow/engines.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace tilewave::flow {
namespace {

void check_name(const std::string& option, const std::string& name,
                const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw InputError(option, "'" + name + "' is not one", suggestion(name, names));
}

}  // namespace

std::vector<std::string> engine_names() {
  return {"timeline", "systemc"};
}

std::vector<std::string> matrix_unit_names() {
  return {"tile", "pe"};
}

std::string engine_label(const EngineChoice& choice) {
  check_name("engine", choice.engine, engine_names());
  if (choice.engine == "timeline") {
    if (!choice.matrix_unit.empty()) {
      throw InputError("matrix-unit", "'" + choice.matrix_unit + "' is for another engine",
                       "--engine systemc has it");
    }
    return choice.engine;
  }
  const std::string unit = choice.matrix_unit.empty() ? "tile" : choice.matrix_unit;
  check_name("matrix-unit", unit, matrix_unit_names());
  return choice.engine + "/" + unit;
}

EngineChoice with_registers(const EngineChoice& choice, const std::string& option) {
  EngineChoice result = choice;
  if (result.engine == "systemc" && result.matrix_unit.empty()) result.matrix_unit = "pe";
  const std::string label = engine_label(result);
  if (label == "systemc/pe") return result;
  throw InputError(option, "engine " + label + " does not model the array's registers",
                   "--engine systemc --matrix-unit pe does");
}

std::unique_ptr<sim::Engine> make_engine(const EngineChoice& choice) {
  const std::string label = engine_label(choice);
  if (label == "timeline") return sim::make_timeline();
  return sim::make_systemc(label == "systemc/pe" ? sim::MatrixUnit::pe : sim::MatrixUnit::tile);
}

}  // namespace tilewave::flow
