#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;

TEST_CASE("a quantized network is written and says how it was quantized") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("q.onnx");
  std::ofstream(directory.path("s.yaml")) << "weight_bits: 4\ngranularity: per_tensor\n";
  const Outcome outcome =
      run_command("quantize mnist_cnn --scheme " + directory.path("s.yaml") + " -o " + file);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("weights 4 bits per_tensor, activations 8 bits"));
  const auto bytes = std::filesystem::file_size(file);
  CHECK(bytes > 412'416);  // a byte for each of its weights
  CHECK(
      run_command("quantize mnist_cnn --scheme " + directory.path("s.yaml") + " -o -").out.size() ==
      bytes);
}

TEST_CASE("what cannot be quantized leaves no file and says why in one line") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("q.onnx");
  const auto refused = [&](const std::string& arguments, int code, const std::string& reason) {
    INFO(arguments);
    const Outcome outcome = run_command("quantize " + arguments);
    CHECK(outcome.code == code);
    CHECK(outcome.out == "");
    CHECK_THAT(outcome.error, Catch::Contains(reason));
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  };
  refused("-o " + file, 2, "model");
  refused("mnist_cnn", 2, "--output");
  refused("mnist_cn -o " + file, 2, "mnist_cnn");
  refused("mnist_cnn --data absent -o " + file, 2, "absent");
  refused("mnist_cnn -o " + directory.path("absent/q.onnx"), 1, "absent");
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a network is not replaced by its quantized form, which is not read either") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("q.onnx");
  REQUIRE(run_command("quantize --quiet mnist_cnn -o " + file).code == 0);
  const Outcome same = run_command("quantize " + file + " -o " + file);
  CHECK(same.code == 2);
  CHECK_THAT(same.error, Catch::Contains("is an input of this run"));
  const Outcome read = run_command("run --model " + file);
  CHECK(read.code == 2);
  CHECK_THAT(read.error, Catch::Contains("QuantizeLinear is not supported"));
}
