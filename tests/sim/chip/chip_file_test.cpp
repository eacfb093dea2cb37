#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "sim/chip/chip.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave;
using namespace tilewave::sim;
namespace fs = std::filesystem;

namespace {

/// A directory for chip files, with a folder in it.
struct Directory : test::TemporaryDirectory {
  Directory() { fs::create_directory(path("below")); }
  std::string add(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return path(name);
  }
};

}  // namespace

TEST_CASE("the presets are found by name and say their own name") {
  CHECK(chip_names() == std::vector<std::string>{"edge_32", "tiny_8", "tpu_v1"});
  for (const std::string& name : chip_names()) CHECK(load_chip(name).name == name);
}

TEST_CASE("tpu_v1 is the chip that one gets without asking") {
  CHECK(load_chip("tpu_v1") == Chip{});
}

TEST_CASE("every number of a preset has its source or is an assumption") {
  for (const std::string& name : chip_names()) {
    const std::string text = read_text(configs_directory() + "/" + name + ".yaml", 1 << 20);
    std::size_t line_number = 0;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      ++line_number;
      const bool has_number =
          line.find_first_of("0123456789") < line.find('#') && !Catch::startsWith(line, "name:");
      const bool has_comment = line.find('#') != std::string::npos;
      CAPTURE(name, line_number, line);
      CHECK((!has_number || has_comment));
    }
  }
}

TEST_CASE("a file extends a preset and overrides its keys") {
  const Directory directory;
  const Chip chip =
      load_chip(directory.add("mine.yaml", "extends: tiny_8\nname: mine\narray: {rows: 16}\n"));
  Chip expected = load_chip("tiny_8");
  expected.name = "mine";
  expected.array.rows = 16;
  CHECK(chip == expected);
}

TEST_CASE("a file extends another by a path relative to itself") {
  const Directory directory;
  directory.add("base.yaml", "extends: edge_32\nclock_mhz: 250\n");
  const Chip chip = load_chip(directory.add("below/mine.yaml", "extends: ../base.yaml\n"));
  CHECK(chip.clock_mhz == 250);
  CHECK(chip.array.rows == 32);
}

TEST_CASE("files that extend themselves are refused") {
  const Directory directory;
  const std::string self = directory.add("self.yaml", "\nextends: self.yaml\n");
  CHECK_THROWS_WITH(load_chip(self), self + ":2: extends: self.yaml extends itself");
  const std::string a = directory.add("a.yaml", "extends: b.yaml\n");
  const std::string b = directory.add("b.yaml", "extends: ./below/../a.yaml\n");
  CHECK_THROWS_WITH(load_chip(a), b + ":1: extends: ./below/../a.yaml extends itself");
  CHECK_THROWS_AS(parse_chip("extends: " + a, "f.yaml"), InputError);
}

TEST_CASE("an error in an extended file names that file and its line") {
  const Directory directory;
  const std::string base = directory.add("base.yaml", "array:\n  rows: 0\n");
  const std::string mine = directory.add("mine.yaml", "extends: base.yaml\nname: mine\n");
  CHECK_THROWS_WITH(load_chip(mine), base + ":2: array.rows: 0 is not allowed (1 to 65536)");
  CHECK(load_chip(directory.add("ok.yaml", "extends: base.yaml\narray: {rows: 8}\n")).array.rows ==
        8);
}

TEST_CASE("an unknown chip is refused with the nearest name") {
  CHECK_THROWS_WITH(load_chip("tpu_v2"), "tpu_v2: there is no chip tpu_v2 (did you mean tpu_v1?)");
  CHECK_THROWS_WITH(load_chip("gpu"), "gpu: there is no chip gpu (one of edge_32, tiny_8, tpu_v1)");
  CHECK_THROWS_WITH(parse_chip("extends: tpu1", "f.yaml"),
                    "f.yaml:1: extends: there is no chip tpu1 (did you mean tpu_v1?)");
  CHECK_THROWS_WITH(load_chip("none.yaml"), "none.yaml: cannot be read: No such file or directory");
  CHECK_THROWS_AS(load_chip(""), InputError);
}

TEST_CASE("another directory of presets can be named") {
  const Directory directory;
  directory.add("mine.yaml", "name: mine\n");
  ::setenv("TILEWAVE_CONFIGS", directory.path().c_str(), 1);
  const std::vector<std::string> names = chip_names();
  const Chip chip = load_chip("mine");
  ::unsetenv("TILEWAVE_CONFIGS");
  CHECK(names == std::vector<std::string>{"mine"});
  CHECK(chip.name == "mine");
}
