#include "base/file.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave;
namespace fs = std::filesystem;

TEST_CASE("what was written is read back, byte for byte") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path("a");
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
    write_file(file, bytes);
    CHECK(read_bytes(file, size) == bytes);
  }
  write_file(file, "rows: 8\n");
  CHECK(read_text(file, 100) == "rows: 8\n");
}

TEST_CASE("a file is read up to its limit and not beyond") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path("a");
  write_file(file, "12345678");
  CHECK(read_text(file, 8) == "12345678");
  CHECK_THROWS_WITH(read_text(file, 7), file + ": is too large (at most 7 bytes)");
  CHECK_THROWS_AS(read_text("/dev/zero", 1000), InputError);
}

TEST_CASE("what cannot be read is an input error with the system's reason") {
  const test::TemporaryDirectory directory;
  CHECK_THROWS_AS(read_text(directory.path("none"), 10), InputError);
  CHECK_THROWS_WITH(read_text(directory.path("none"), 10),
                    directory.path("none") + ": cannot be read: No such file or directory");
  CHECK_THROWS_WITH(read_text(directory.path(), 10), Catch::Contains("Is a directory"));
}

TEST_CASE("what cannot be written is a work error and leaves nothing behind") {
  const test::TemporaryDirectory directory;
  CHECK_THROWS_AS(write_file(directory.path("none/a"), "x"), WorkError);
  CHECK_THROWS_WITH(write_file("/dev/full", "x"),
                    "/dev/full: cannot be written: No space left on device");
  fs::create_directory(directory.path("occupied"));
  CHECK_THROWS_AS(write_file(directory.path("occupied"), "x"), WorkError);
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("a file written in parts is there when it is complete, and never before") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("a");
  const auto files = [&] { return std::distance(fs::directory_iterator(directory.path()), {}); };
  write_file(path, "old");
  {
    OutputFile file(path);
    file.write("one ");
    file.write("two");
    CHECK(read_text(path, 10) == "old");
    file.commit();
    CHECK(read_text(path, 10) == "one two");
  }
  {
    OutputFile file(path);
    file.write("three");
    CHECK(files() == 2);
  }
  CHECK(read_text(path, 10) == "one two");
  CHECK(files() == 1);
}

TEST_CASE("unfinished files are removed, finished ones stay") {
  const test::TemporaryDirectory directory;
  const auto files = [&] { return std::distance(fs::directory_iterator(directory.path()), {}); };
  OutputFile finished(directory.path("a"));
  finished.commit();
  OutputFile first(directory.path("b"));
  OutputFile second(directory.path("c"));
  CHECK(files() == 3);
  remove_unfinished_files();
  CHECK(files() == 1);
  CHECK(fs::exists(directory.path("a")));
}

TEST_CASE("writing through a symbolic link replaces its target and keeps the link") {
  const test::TemporaryDirectory directory;
  write_file(directory.path("target"), "old");
  fs::create_symlink("target", directory.path("link"));
  write_file(directory.path("link"), "new");
  CHECK(fs::is_symlink(directory.path("link")));
  CHECK(read_text(directory.path("target"), 10) == "new");
}
