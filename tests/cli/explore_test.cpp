#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;

namespace {

constexpr const char* kProgram = TILEWAVE_BINARY_DIR "/tilewave";

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// 24 points of about a tenth of a second each, the longer ones last.
std::string write_experiment(const TemporaryDirectory& directory) {
  const std::string path = directory.path("exp.yaml");
  std::ofstream(path)
      << "chip: tiny_8\nimages: 300\nscheme: {calibration_images: 4}\n"
         "vary:\n  scheme.weight_bits: [3, 4, 5, 6, 7, 8]\n  batch: [64, 8, 4, 2]\n";
  return path;
}

/// The command in a process of its own, which the caller waits for.
pid_t start(const std::string& experiment, const std::string& folder) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::execl(kProgram, kProgram, "sweep", experiment.c_str(), "-o", folder.c_str(), "--quiet",
          "--jobs", "2", nullptr);
  ::_exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Waits until the process has put something into its store, or is gone.
void wait_for_work(const std::string& folder, pid_t child) {
  const std::string log = folder + "/results.sqlite-wal";
  while (contents(log).size() < 20'000 && ::kill(child, 0) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (::waitpid(child, nullptr, WNOHANG) == child) return;
  }
}

}  // namespace

TEST_CASE("a sweep that is killed goes on where it was, and ends with the same files") {
  const TemporaryDirectory directory;
  const std::string experiment = write_experiment(directory);
  const Outcome whole = run_command("sweep " + experiment + " -o " + directory.path("whole"));
  REQUIRE(whole.code == 0);
  CHECK_THAT(whole.out, Catch::Contains("24 points, 24 run now, 0 failed"));

  const std::string folder = directory.path("killed");
  const pid_t child = start(experiment, folder);
  wait_for_work(folder, child);
  ::kill(child, SIGKILL);
  wait_for(child);
  CHECK_FALSE(std::filesystem::exists(folder + "/results.csv"));

  const Outcome rest = run_command("sweep " + experiment + " -o " + folder);
  CHECK(rest.code == 0);
  // Some were done before. None of them again: the store refuses a second result of a point.
  CHECK_THAT(rest.out, Catch::Contains("24 points, ") && !Catch::Contains("24 run now"));
  CHECK(contents(folder + "/results.csv") == contents(directory.path("whole/results.csv")));
  CHECK(contents(folder + "/results.json") == contents(directory.path("whole/results.json")));
}

TEST_CASE("a second process in a folder is told so, and the first goes on") {
  const TemporaryDirectory directory;
  const std::string experiment = write_experiment(directory);
  const std::string folder = directory.path("out");
  const pid_t child = start(experiment, folder);
  wait_for_work(folder, child);
  const Outcome second = run_command("sweep " + experiment + " -o " + folder);
  CHECK(wait_for(child) == 0);
  CHECK(second.code == 1);
  CHECK(second.error ==
        "tilewave: " + folder + "/results.sqlite: another process is working with it\n");
  CHECK(contents(folder + "/results.csv").size() > 1000);
}

TEST_CASE("a full disk is one line, and what was done before stays done") {
  const TemporaryDirectory directory;
  const std::string experiment = write_experiment(directory);
  const std::string arguments = experiment + " -o " + directory.path("out") + " --jobs 2";
  // 40 KiB a file, which some points fit into: 80 blocks of 512 bytes, as POSIX's ulimit counts.
  const Outcome full = run_command("sweep " + arguments, "ulimit -f 80;");
  CHECK(full.code == 1);
  CHECK_THAT(full.error, Catch::StartsWith("tilewave: " + directory.path("out/results.sqlite: ")));
  CHECK(std::count(full.error.begin(), full.error.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(directory.path("out/results.csv")));

  const Outcome rest = run_command("sweep " + arguments);
  CHECK(rest.code == 0);
  CHECK_THAT(rest.out, Catch::Contains("24 points, ") && !Catch::Contains("24 run now"));
}

TEST_CASE("a study has accuracies and a sweep has none, unless the file says so") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("exp.yaml"))
      << "chip: tiny_8\nimages: 20\nscheme: {calibration_images: 4}\n";
  const std::string arguments = " " + directory.path("exp.yaml") + " -o " + directory.path("out");
  CHECK_THAT(run_command("study" + arguments).out, Catch::Contains("accuracy"));
  CHECK_THAT(run_command("sweep" + arguments).out, !Catch::Contains("accuracy"));
}

TEST_CASE("a wrong experiment is one line and leaves no folder") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("exp.yaml")) << "vary: {array.rows: [0]}\n";
  const Outcome outcome =
      run_command("sweep " + directory.path("exp.yaml") + " -o " + directory.path("out"));
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.error,
             Catch::StartsWith("tilewave: " + directory.path("exp.yaml:1: array.rows")));
  CHECK_FALSE(std::filesystem::exists(directory.path("out")));
  CHECK(run_command("sweep " + directory.path("exp.yaml")).error ==
        "tilewave: --output: is required\n");
}
