#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/isa/program.h"

// How validation is built; users call validate(program, where) of program.h.

namespace tilewave::sim {

/// Says where an entry of the program is, for messages: `item` is "program", "instruction" or the
/// name of a table's entry ("setup", "tile", ...), `index` its number.
using Locate = std::function<std::string(std::string_view item, std::size_t index)>;

/// As validate of program.h, with places named by `locate`: the assembler names lines.
void validate(const Program& program, const Locate& locate);
/// The part that concerns everything but the instructions.
void validate_tables(const Program& program, const Locate& locate);

/// Makes the message's place when it is needed: building it for every check would cost more than
/// the checks.
using Where = std::function<std::string()>;
/// Throws InputError unless low <= value <= high.
void check_range(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view name,
                 const Where& where);

/// Bytes of a tensor of `images` images in host memory or the unified buffer. The sizes must have
/// been checked.
Bytes tensor_bytes(const Layout& layout, std::int64_t images, const quant::Format& format);

}  // namespace tilewave::sim
