#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string without_host(const std::string& text) {
  auto json = nlohmann::ordered_json::parse(text);
  json.erase("host");
  return json.dump();
}

}  // namespace

TEST_CASE("what goes to - is alone on standard output") {
  const Outcome json = run_command("run --json -" + kQuick);
  CHECK(json.code == 0);
  CHECK(json.error == "");
  CHECK(nlohmann::json::parse(json.out)["images"] == 20);
  const Outcome csv = run_command("run --csv -" + kQuick);
  CHECK_THAT(csv.out, Catch::StartsWith("name,op,"));
  CHECK(csv.out.find("where the") == std::string::npos);
}

TEST_CASE("results are the same bytes for 1 and 2 threads, except for the host's") {
  const std::string one = run_command("run --json - --images 50 --batch 8 --threads 1").out;
  const std::string two = run_command("run --json - --images 50 --batch 8 --threads 2").out;
  CHECK(nlohmann::json::parse(one)["host"]["threads"] == 1);
  CHECK(nlohmann::json::parse(two)["host"]["threads"] == 2);
  CHECK(without_host(one) == without_host(two));
}

TEST_CASE("files hold what standard output would") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_command("run --quiet --json " + directory.path("r.json") + " --csv " +
                                      directory.path("r.csv") + kQuick);
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "");
  CHECK(without_host(read(directory.path("r.json"))) ==
        without_host(run_command("run --json -" + kQuick).out));
  CHECK(read(directory.path("r.csv")) == run_command("run --csv -" + kQuick).out);
}

TEST_CASE("an output that cannot be written fails in one line and leaves nothing behind") {
  const TemporaryDirectory directory;
  const Outcome no_folder = run_command("run --json " + directory.path("absent/r.json") + kQuick);
  CHECK(no_folder.code == 1);
  CHECK_THAT(no_folder.error, Catch::StartsWith("tilewave: ") && Catch::Contains("absent"));

  std::filesystem::create_directory(directory.path("r.json"));
  const Outcome a_folder = run_command("run --json " + directory.path("r.json") + kQuick);
  CHECK(a_folder.code == 1);
  std::filesystem::remove(directory.path("r.json"));
  CHECK(std::filesystem::is_empty(directory.path()));

  const Outcome full = run_command("run --json /dev/full" + kQuick);
  CHECK(full.code == 1);
  CHECK_THAT(full.error, Catch::Contains("/dev/full"));
  CHECK(run_command("version >/dev/full").code == 1);
}

TEST_CASE("in a pipe the screen is plain and fits 100 columns") {
  const Outcome outcome = run_command("run" + kQuick);
  CHECK(outcome.code == 0);
  CHECK(outcome.error == "");
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
    for (const char letter : line) REQUIRE((letter >= ' ' && letter <= '~'));
  }
}

TEST_CASE("a terminal gets colour, blocks and progress, unless NO_COLOR is set") {
  const std::string utf8 = "TERM=xterm LC_ALL=C.UTF-8";
  const Outcome rich = run_on_terminal("run" + kQuick, utf8);
  CHECK(rich.code == 0);
  CHECK_THAT(rich.out, Catch::Contains("\x1b[32m") && Catch::Contains("█"));
  const Outcome ascii = run_on_terminal("run --quiet" + kQuick, utf8);
  CHECK(ascii.out == "");
  const Outcome plain = run_on_terminal("run" + kQuick, utf8 + " NO_COLOR=1");
  CHECK(plain.out.find("\x1b[3") == std::string::npos);
  CHECK(plain.out.find("█") == std::string::npos);
  const Outcome other = run_on_terminal("run" + kQuick, "TERM=xterm LC_ALL=C");
  CHECK_THAT(other.out, Catch::Contains("\x1b[32m"));
  CHECK(other.out.find("█") == std::string::npos);
}

TEST_CASE("the paper's table is printed on request") {
  const Outcome outcome = run_command("run --paper-table" + kQuick);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("weight stall cycles, %") && Catch::Contains("CNN1"));
}

TEST_CASE("logs go to standard error") {
  const Outcome outcome = run_command("run --json - --log-level info" + kQuick);
  CHECK_THAT(outcome.error, Catch::Contains("info: compiling"));
  CHECK(nlohmann::json::accept(outcome.out));
}

TEST_CASE("a key set on the command line is in the result") {
  const Outcome outcome =
      run_command("run --json - --set array.rows=64 --set array.cols=32" + kQuick);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["chip"]["array"]["rows"] == 64);
  CHECK(json["chip"]["array"]["cols"] == 32);
}

TEST_CASE("a comparison has a line per path and batch size") {
  const Outcome outcome = run_command("compare --images 20 --batch 1,8 --json -");
  CHECK(outcome.code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["paths"].size() == 6);
  // With a GPU there are more.
  std::size_t on_cpu = 0;
  for (const auto& path : json["host"]["measured"]) on_cpu += path["device"] == "cpu";
  CHECK(on_cpu == 4);
  CHECK(json["host"]["gpu"].is_null() == !json["host"]["missing"].empty());
}
