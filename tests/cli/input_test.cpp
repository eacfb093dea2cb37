#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;

namespace {

/// The one line with which the command refuses wrong input.
std::string refusal(const std::string& arguments, const std::string& environment = "") {
  const Outcome outcome = run_command(arguments, environment);
  INFO(arguments << "\n" << outcome.error);
  CHECK(outcome.code == 2);
  CHECK(outcome.out == "");
  CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  CHECK_THAT(outcome.error, Catch::StartsWith("tilewave: "));
  return outcome.error;
}

}  // namespace

TEST_CASE("wrong options are refused with what is allowed") {
  CHECK(refusal("run --chpi tpu_v1") ==
        "tilewave: run: unknown option --chpi (did you mean --chip?)\n");
  CHECK(refusal("rnu") == "tilewave: command line: unknown command 'rnu' (did you mean run?)\n");
  CHECK(refusal("") ==
        "tilewave: command line: no command is given (`tilewave --help` lists them)\n");
  CHECK(refusal("run extra") ==
        "tilewave: run: 'extra' is one word too many (options begin with --)\n");
  CHECK(refusal("run --batch") == "tilewave: --batch: needs a value\n");
  CHECK(refusal("run --batch 1 --batch 2") == "tilewave: --batch: is given more than once\n");
  CHECK(refusal("run --batch 0") == "tilewave: --batch: '0' (a whole number from 1)\n");
  CHECK(refusal("run --batch -3") == "tilewave: --batch: '-3' (a whole number from 1)\n");
  CHECK(refusal("run --batch 1e3") == "tilewave: --batch: '1e3' (a whole number from 1)\n");
  CHECK(refusal("run --images 99999999999999999999") ==
        "tilewave: --images: '99999999999999999999' (a whole number from 1)\n");
  CHECK(refusal("run --threads 5000") ==
        "tilewave: --threads: '5000' (a whole number from 1 to 1024)\n");
  CHECK(refusal("run --log-level loud") ==
        "tilewave: --log-level: 'loud' is not a level (one of off, error, warn, info, debug)\n");
  CHECK(refusal("compare --batch 1,,2") == "tilewave: --batch: '' (a whole number from 1)\n");
  CHECK(refusal("compile") == "tilewave: --output: is required\n");
  CHECK(refusal("exec x.twp --data mnist --launches 3") ==
        "tilewave: --data: cannot be given together with --launches\n");
}

TEST_CASE("only one output can go to standard output") {
  CHECK(refusal("run --json - --csv -") ==
        "tilewave: --csv: '-' is taken by --json (only one output can go to '-')\n");
}

TEST_CASE("two outputs cannot go to one file by two names") {
  CHECK(refusal("run --json a.json --csv ./a.json") ==
        "tilewave: --csv: './a.json' is also --json's file (two files)\n");
}

TEST_CASE("an option with an empty value is refused") {
  CHECK(refusal("run --scheme ''") == "tilewave: --scheme: is empty (a value)\n");
}

TEST_CASE("an unknown engine is refused with those there are") {
  CHECK_THAT(refusal("run --engine quantum" + kQuick),
             Catch::Contains("timeline") && Catch::Contains("systemc"));
}

TEST_CASE("a chip that is wrong is refused with file, line and key") {
  CHECK_THAT(refusal("run --chip tpu_v2"), Catch::Contains("tpu_v2") && Catch::Contains("tpu_v1"));
  CHECK_THAT(refusal("run --set array.row=64"), Catch::Contains("did you mean rows?"));
  CHECK_THAT(refusal("run --set array.rows"), Catch::Contains("has no '='"));
  const TemporaryDirectory directory;
  std::ofstream(directory.path("chip.yaml")) << "extends: tpu_v1\narray: {rows: 0}\n";
  CHECK_THAT(refusal("run --chip " + directory.path("chip.yaml")),
             Catch::Contains("chip.yaml:2: array.rows"));
  CHECK_THAT(refusal("validate " + directory.path("chip.yaml")),
             Catch::Contains("chip.yaml:2: array.rows"));
}

TEST_CASE("a scheme that is wrong, or that the chip cannot run, is refused") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("typo.yaml")) << "weight_bit: 8\n";
  CHECK_THAT(refusal("run --scheme " + directory.path("typo.yaml")),
             Catch::Contains("typo.yaml:1") && Catch::Contains("did you mean weight_bits?"));
  std::ofstream(directory.path("wide.yaml")) << "weight_bits: 16\n";
  CHECK_THAT(refusal("run --scheme " + directory.path("wide.yaml") + kQuick),
             Catch::Contains("16") && Catch::Contains("8"));
}

TEST_CASE("a network or data that is not there is refused") {
  CHECK_THAT(refusal("run --model mnist_cn"), Catch::Contains("did you mean mnist_cnn?"));
  CHECK_THAT(refusal("run --model absent.onnx"), Catch::Contains("absent.onnx"));
  CHECK_THAT(refusal("run --data absent/folder"), Catch::Contains("absent/folder"));
  CHECK_THAT(refusal("run --images 20000"),
             Catch::Contains("images: 20000") && Catch::Contains("1 to 10000"));
  const TemporaryDirectory directory;
  std::ofstream(directory.path("broken.onnx")) << "not a network";
  CHECK_THAT(refusal("run --model " + directory.path("broken.onnx")),
             Catch::Contains("broken.onnx"));
}

TEST_CASE("a program that is none is refused") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("broken.twp")) << "not a program";
  CHECK_THAT(refusal("exec " + directory.path("broken.twp")), Catch::Contains("broken.twp"));
  CHECK_THAT(refusal("disasm " + directory.path("broken.twp")), Catch::Contains("broken.twp"));
  CHECK_THAT(refusal("disasm " + directory.path("absent.twp")), Catch::Contains("absent.twp"));
}
