#pragma once

#include <functional>
#include <string>

#include "sim/chip/chip.h"

namespace tilewave::sim::chip_file {

/// As validate(); `place` says where the user wrote a key, "file.yaml:3: array.rows".
void check(const Chip& chip, const std::function<std::string(const std::string& path)>& place);

}  // namespace tilewave::sim::chip_file
