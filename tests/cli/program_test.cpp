#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a program goes through its text and back, and runs like the network") {
  const TemporaryDirectory directory;
  const std::string binary = directory.path("p.twp");
  const std::string text = directory.path("p.tws");
  const std::string again = directory.path("again.twp");
  REQUIRE(run_command("compile --chip edge_32 --batch 8 -o " + binary).code == 0);
  REQUIRE(run_command("disasm " + binary + " -o " + text).code == 0);
  CHECK(run_command("disasm " + binary).out == read(text));
  REQUIRE(run_command("asm " + text + " -o " + again).code == 0);
  CHECK(read(binary) == read(again));

  const Outcome run = run_command("run --chip edge_32 --json -" + kQuick);
  const Outcome exec =
      run_command("exec " + binary + " --chip edge_32 --data mnist --images 20 --json -");
  REQUIRE(exec.code == 0);
  const auto ran = nlohmann::json::parse(run.out);
  const auto executed = nlohmann::json::parse(exec.out);
  for (const char* key : {"cycles", "accuracy", "counters", "bytes", "layers", "launches"}) {
    CHECK(ran[key] == executed[key]);
  }
  const Outcome timed =
      run_command("exec " + binary + " --chip edge_32 --launches 3 --timing-only --json -");
  CHECK(nlohmann::json::parse(timed.out)["cycles"] == ran["cycles"]);
}

TEST_CASE("a program for a larger array is refused by a smaller chip") {
  const TemporaryDirectory directory;
  const std::string binary = directory.path("p.twp");
  REQUIRE(run_command("compile --quiet --batch 1 -o " + binary).code == 0);
  const Outcome outcome = run_command("exec " + binary + " --chip tiny_8");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.error, Catch::StartsWith("tilewave: "));
}

TEST_CASE("an assembler error names the line") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("p.tws")) << "matmull\n";
  const Outcome outcome = run_command("asm " + directory.path("p.tws") + " -o -");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.error, Catch::Contains("p.tws:1"));
}
