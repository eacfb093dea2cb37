#include "models/data_directory.h"

#include "base/file.h"

namespace tilewave::models {

std::filesystem::path data_directory() {
  return shipped_directory("TILEWAVE_DATA", TILEWAVE_MODELS_DIR, "models");
}

}  // namespace tilewave::models
