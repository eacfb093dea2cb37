#include "base/file.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

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

/// Names of the files that are not committed, for remove_unfinished_files(): one for each of the
/// few that are written at the same time. More than that only lose this service.
std::array<std::atomic<const char*>, 8>& unfinished() {
  static std::array<std::atomic<const char*>, 8> names{};
  return names;
}

void replace_unfinished(const char* from, const char* to) {
  for (std::atomic<const char*>& name : unfinished()) {
    const char* expected = from;
    if (name.compare_exchange_strong(expected, to)) return;
  }
}

/// The program that runs this, or the library that it was linked into.
fs::path own_file() {
  std::error_code ignored;
  Dl_info info{};
  const auto* here = reinterpret_cast<const void*>(&own_file);
  if (dladdr(here, &info) != 0 && info.dli_fname != nullptr) {
    const fs::path file = info.dli_fname;
    // A program's name is what the shell was told, which may be found from elsewhere only.
    if (file.extension() == ".so") return fs::canonical(file, ignored);
  }
  return fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace

std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t limit) {
  return read_whole<std::vector<std::uint8_t>>(path, limit);
}

std::string read_text(const std::string& path, std::size_t limit) {
  return read_whole<std::string>(path, limit);
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    file_ = stdout;
    return;
  }
  std::error_code ignored;
  if (fs::is_other(fs::status(path_, ignored))) {  // which a rename would replace
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) fail();
    return;
  }
  // Through a symbolic link to its target, so that the link stays.
  const fs::path resolved = fs::weakly_canonical(path_, ignored);
  target_ = ignored ? path_ : resolved.string();
  aside_ = target_ + ".part" + std::to_string(::getpid());
  file_ = std::fopen(aside_.c_str(), "wb");
  if (file_ == nullptr) fail();
  replace_unfinished(nullptr, aside_.c_str());
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  file_ = nullptr;
  if (target_.empty()) return;
  std::remove(aside_.c_str());
  replace_unfinished(aside_.c_str(), nullptr);
  target_.clear();
}

void OutputFile::fail() const {
  throw WorkError((path_ == "-" ? "standard output" : path_) + ": cannot be written: " + reason());
}

void OutputFile::write(std::string_view content) {
  if (std::fwrite(content.data(), 1, content.size(), file_) != content.size()) fail();
}

void OutputFile::commit() {
  if (std::fflush(file_) != 0) fail();
  std::FILE* const file = std::exchange(file_, nullptr);
  if (file != stdout && std::fclose(file) != 0) fail();
  if (target_.empty()) return;
  if (std::rename(aside_.c_str(), target_.c_str()) != 0) fail();
  replace_unfinished(aside_.c_str(), nullptr);
  target_.clear();
}

void remove_unfinished_files() noexcept {
  for (const std::atomic<const char*>& name : unfinished()) {
    if (const char* file = name.load()) ::unlink(file);
  }
}

void write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

void write_file(const std::string& path, std::span<const std::uint8_t> content) {
  write_file(path, {reinterpret_cast<const char*>(content.data()), content.size()});
}

std::string shipped_directory(const char* variable, const std::string& source,
                              const std::string& name) {
  if (const char* chosen = std::getenv(variable); chosen && *chosen) return chosen;
  std::error_code ignored;
  if (fs::is_directory(source, ignored)) return source;
  for (fs::path folder = own_file().parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    const fs::path shipped = folder / "share" / "tilewave" / name;
    if (fs::is_directory(shipped, ignored)) return shipped;
  }
  return {};
}

}  // namespace tilewave
