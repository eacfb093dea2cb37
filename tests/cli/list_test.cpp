#include <catch2/catch.hpp>
#include <fstream>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;

TEST_CASE("the version is printed alone") {
  const Outcome outcome = run_command("version");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Matches("tilewave [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  CHECK(run_command("--version").out == outcome.out);
}

TEST_CASE("help names every command, and a command's help its options") {
  const Outcome help = run_command("--help");
  CHECK(help.code == 0);
  for (const char* name : {"run", "compare", "sweep", "study", "chips", "models", "validate",
                           "compile", "asm", "disasm", "exec", "version"}) {
    CHECK_THAT(help.out, Catch::Contains(name));
  }
  const Outcome run = run_command("run --help");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, Catch::Contains("--chip") && Catch::Contains("--no-reference"));
}

TEST_CASE("chips and models are listed with their figures") {
  const Outcome chips = run_command("chips");
  CHECK(chips.code == 0);
  CHECK_THAT(chips.out,
             Catch::Contains("tpu_v1") && Catch::Contains("256 x 256") && Catch::Contains("91.75"));
  CHECK_THAT(chips.out, Catch::Contains("edge_32") && Catch::Contains("tiny_8"));
  const Outcome models = run_command("models");
  CHECK(models.code == 0);
  // 28 * 28 * 64 * 4 + 14 * 14 * 32 * 256 + 1568 * 256 + 2560 MACs per image.
  CHECK_THAT(models.out, Catch::Contains("mnist_cnn") && Catch::Contains("2,210,304") &&
                             Catch::Contains("mnist_cnn_w4a4") && Catch::Contains("fashion_cnn"));
}

TEST_CASE("a valid file is printed with every key, and what is printed is valid") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("chip.yaml")) << "extends: tpu_v1\narray: {rows: 64}\n";
  const Outcome chip = run_command("validate " + directory.path("chip.yaml"));
  CHECK(chip.code == 0);
  CHECK_THAT(chip.out, Catch::Contains("a valid chip") && Catch::Contains("clock_mhz"));
  std::ofstream(directory.path("scheme.yaml")) << "weight_bits: 4\n";
  const Outcome scheme = run_command("validate " + directory.path("scheme.yaml"));
  CHECK(scheme.code == 0);
  CHECK_THAT(scheme.out, Catch::Contains("a valid scheme") && Catch::Contains("weight_bits: 4"));

  std::ofstream(directory.path("again.yaml")) << scheme.out;
  CHECK(run_command("validate --quiet " + directory.path("again.yaml")).code == 0);
  CHECK(run_command("validate --quiet " + directory.path("again.yaml")).out == "");
}
