#include "base/file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/error.h"

namespace tilewave {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string reason() {
  return std::strerror(errno);
}

template <typename Container>
Container read_whole(const std::string& path, std::size_t limit) {
  constexpr std::size_t kChunk = 1 << 16;
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw InputError(path, "cannot be read: " + reason());
  Container content;
  std::size_t used = 0;
  for (std::size_t got = 1; got > 0; used += got) {
    if (used > limit)
      throw InputError(path, "is too large", "at most " + std::to_string(limit) + " bytes");
    // Grows with what is there, never by what a header claims.
    content.resize(used + std::max(kChunk, used));
    got = std::fread(content.data() + used, 1, content.size() - used, file.get());
  }
  if (std::ferror(file.get())) throw InputError(path, "cannot be read: " + reason());
  content.resize(used);
  return content;
}

[[noreturn]] void fail(const std::string& path) {
  throw WorkError(path + ": cannot be written: " + reason());
}

/// False, with errno set, if not all of it reached the system.
bool put(std::FILE* file, std::string_view content) {
  return std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
         std::fflush(file) == 0;
}

/// For devices and pipes, which a rename would replace.
void write_directly(const std::string& path, std::string_view content) {
  const File file(std::fopen(path.c_str(), "wb"));
  if (!file || !put(file.get(), content)) fail(path);
}

void write_aside(const std::string& path, std::string_view content) {
  std::error_code ignored;
  // Through a symbolic link to its target, so that the link stays.
  const fs::path resolved = fs::weakly_canonical(path, ignored);
  const std::string target = ignored ? path : resolved.string();
  const std::string aside = target + ".part" + std::to_string(::getpid());
  std::FILE* file = std::fopen(aside.c_str(), "wb");
  if (!file) fail(path);
  const bool written = put(file, content);
  int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && !closed) error = errno;
  if (written && closed) {
    if (std::rename(aside.c_str(), target.c_str()) == 0) return;
    error = errno;
  }
  std::remove(aside.c_str());
  errno = error;
  fail(path);
}

}  // namespace

std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t limit) {
  return read_whole<std::vector<std::uint8_t>>(path, limit);
}

std::string read_text(const std::string& path, std::size_t limit) {
  return read_whole<std::string>(path, limit);
}

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    if (!put(stdout, content)) fail("standard output");
    return;
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_other(status)) {
    write_directly(path, content);
  } else {
    write_aside(path, content);
  }
}

void write_file(const std::string& path, std::span<const std::uint8_t> content) {
  write_file(path, {reinterpret_cast<const char*>(content.data()), content.size()});
}

std::string shipped_directory(const char* variable, const std::string& source,
                              const std::string& name) {
  if (const char* chosen = std::getenv(variable); chosen && *chosen) return chosen;
  std::error_code ignored;
  if (fs::is_directory(source, ignored)) return source;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  return executable.parent_path().parent_path() / "share" / "tilewave" / name;
}

}  // namespace tilewave
