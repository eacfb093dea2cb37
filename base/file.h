#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewave {

/// The whole file. InputError if it cannot be read or has more than `limit` bytes; no more than
/// that is read, whatever kind of file it is.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t limit);
std::string read_text(const std::string& path, std::size_t limit);

/// Writes the file beside its place, then renames it there, so that `path` never holds a part of
/// it. Devices and pipes are written directly; "-" is standard output. WorkError if it fails.
void write_file(const std::string& path, std::string_view content);
void write_file(const std::string& path, std::span<const std::uint8_t> content);

/// Where files that ship with tilewave lie: the environment's `variable` if it is set, else
/// `source` of the source tree if that is there, else ../share/tilewave/`name` beside the
/// executable's folder, where an installation puts them.
std::string shipped_directory(const char* variable, const std::string& source,
                              const std::string& name);

}  // namespace tilewave
