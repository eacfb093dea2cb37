#pragma once

#include <filesystem>

namespace tilewave::models {

/// Where the networks and data sets that ship with tilewave lie: the environment's TILEWAVE_DATA
/// if set, else models/ of the source tree it was built from, else what base/file.h says for an
/// installation.
std::filesystem::path data_directory();

}  // namespace tilewave::models
