#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewave {

/// The whole file. InputError if it cannot be read or has more than `limit` bytes; no more than
/// that is read, whatever kind of file it is.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t limit);
std::string read_text(const std::string& path, std::size_t limit);

/// A file that is written part after part, beside its place, and then renamed there, so that `path`
/// never holds a part of it. Devices and pipes are written directly; "-" is standard output. Every
/// call throws WorkError if it fails.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  /// Without commit() nothing is left of the file.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view content);
  /// It is complete. Nothing comes after this.
  void commit();

 private:
  [[noreturn]] void fail() const;
  void discard();

  std::string path_;
  std::string target_;  ///< where it is renamed to; empty if it is written directly
  std::string aside_;
  std::FILE* file_ = nullptr;
};

/// Removes what output files that are not committed have left beside their places. A signal's
/// handler may call it before it ends the process.
void remove_unfinished_files() noexcept;

/// The whole of an OutputFile at once.
void write_file(const std::string& path, std::string_view content);
void write_file(const std::string& path, std::span<const std::uint8_t> content);

/// Where files that ship with tilewave lie: the environment's `variable` if it is set, else
/// `source` of the source tree if that is there, else share/tilewave/`name` in the nearest folder
/// above this program, or above the library that holds this function, where an installation puts
/// them; empty if there is none.
std::string shipped_directory(const char* variable, const std::string& source,
                              const std::string& name);

}  // namespace tilewave
