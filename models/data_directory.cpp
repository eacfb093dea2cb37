#include "models/data_directory.h"

#include <cstdlib>
#include <system_error>

namespace tilewave::models {

namespace fs = std::filesystem;

fs::path data_directory() {
  if (const char* chosen = std::getenv("TILEWAVE_DATA"); chosen && *chosen) return chosen;
  std::error_code ignored;
  const fs::path source = TILEWAVE_MODELS_DIR;
  if (fs::is_directory(source, ignored)) return source;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  return executable.parent_path().parent_path() / "share" / "tilewave";
}

}  // namespace tilewave::models
