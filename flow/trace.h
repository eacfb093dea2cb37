#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::flow {

/// Writes, part after part, the Chrome trace (docs/trace.md) of `launches` launches of a program.
/// Every engine has the same times, so the fastest gives them here. Returns what is left out, in a
/// line such as "shows the first 3 of 40 launches"; empty if nothing is. Throws InputError if the
/// program does not fit the chip, and Stopped.
std::string write_trace(const sim::Program& program, const sim::Chip& chip, std::int64_t launches,
                        const std::stop_token& stop,
                        const std::function<void(std::string_view)>& write);

}  // namespace tilewave::flow
