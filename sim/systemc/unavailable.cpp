#include "base/error.h"
#include "sim/engine.h"

namespace tilewave::sim {

std::unique_ptr<Engine> make_systemc(MatrixUnit /*matrix_unit*/) {
  throw InputError("engine systemc", "this build of tilewave has no SystemC", "timeline");
}

}  // namespace tilewave::sim
