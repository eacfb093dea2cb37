#include "models/dataset.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "tests/models/idx_bytes.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::models;
using Catch::Contains;
using tilewave::test::gzip;
using tilewave::test::idx_bytes;
using tilewave::test::TemporaryDirectory;

namespace {

/// Sets an environment variable for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a directory of IDX files is a data set") {
  const TemporaryDirectory directory;
  directory.write("t10k-images-idx3-ubyte", idx_bytes({2, 2, 3}));
  directory.write("t10k-labels-idx1-ubyte.gz", gzip(idx_bytes({2}, 7)));
  CHECK_THROWS_WITH(load_dataset(directory.path()),
                    Contains("has no train-images-idx3-ubyte[.gz]"));
  directory.write("train-images-idx3-ubyte.gz", gzip(idx_bytes({1002, 2, 3})));
  directory.write("train-labels-idx1-ubyte", idx_bytes({1002}));

  Dataset data = load_dataset(directory.path() + "/");
  CHECK(directory.path().ends_with(data.name + "/"));
  CHECK(data.test.shape == Shape{2, 3, 1});
  CHECK(data.test.count == 2);
  CHECK(data.test.labels == std::vector<std::uint8_t>{7, 8});
  CHECK(data.test.slice(1, 1)[0] == 6);
  CHECK(data.test.slice(0, 2).size() == 12);
  CHECK(data.test.slice(2, 0).empty());
  CHECK_THROWS_AS(data.test.slice(1, 2), tilewave::InternalError);
  CHECK(data.calibration.count == 1000);
  CHECK(data.calibration.pixels.size() == 6000);
  CHECK(data.calibration.labels.size() == 1000);

  directory.write("calibration-images-idx3-ubyte", idx_bytes({3, 2, 3}));
  directory.write("calibration-labels-idx1-ubyte", idx_bytes({3}));
  CHECK(load_dataset(directory.path()).calibration.count == 3);
}

TEST_CASE("a data set's errors name the file") {
  const TemporaryDirectory directory;
  CHECK_THROWS_WITH(load_dataset(directory.path()), Contains("has no t10k-images-idx3-ubyte[.gz]"));
  directory.write("t10k-images-idx3-ubyte", idx_bytes({2, 2, 3}));
  CHECK_THROWS_WITH(load_dataset(directory.path()), Contains("has no t10k-labels-idx1-ubyte[.gz]"));
  directory.write("t10k-labels-idx1-ubyte", idx_bytes({3}));
  CHECK_THROWS_WITH(load_dataset(directory.path()),
                    Contains("t10k-labels-idx1-ubyte: has 3 labels in 1 dimensions (2 in 1, as "
                             "there are images)"));
  directory.write("t10k-labels-idx1-ubyte", idx_bytes({2}));
  directory.write("train-labels-idx1-ubyte", idx_bytes({2}));
  directory.write("train-images-idx3-ubyte", idx_bytes({2, 6}));
  CHECK_THROWS_WITH(load_dataset(directory.path()),
                    Contains("train-images-idx3-ubyte: has 2 dimensions (images x height x width"));
  directory.write("train-images-idx3-ubyte", idx_bytes({2, 3, 2}));
  CHECK_THROWS_WITH(load_dataset(directory.path()),
                    Contains("its calibration and test images differ in shape"));
}

TEST_CASE("a data set that is not known or not there says what to do") {
  CHECK_THROWS_WITH(
      load_dataset("mnits"),
      "data set mnits: is neither a known name nor a directory (did you mean mnist?)");
  const TemporaryDirectory directory;
  const Environment environment("TILEWAVE_DATA", directory.path());
  CHECK_THROWS_WITH(load_dataset("mnist"), Contains("data set mnist: is not in "));
}

TEST_CASE("a folder without calibration images takes those of the folder that it lies in") {
  const TemporaryDirectory directory;
  const std::string variant = directory.path("variant");
  std::filesystem::create_directory(variant);
  directory.write("variant/t10k-images-idx3-ubyte", idx_bytes({2, 2, 3}));
  directory.write("variant/t10k-labels-idx1-ubyte", idx_bytes({2}));
  directory.write("calibration-images-idx3-ubyte", idx_bytes({3, 2, 3}));
  directory.write("calibration-labels-idx1-ubyte", idx_bytes({3}));
  CHECK(load_dataset(variant).calibration.count == 3);
  CHECK(load_dataset(variant + "/").calibration.count == 3);
  directory.write("variant/train-images-idx3-ubyte", idx_bytes({4, 2, 3}));
  directory.write("variant/train-labels-idx1-ubyte", idx_bytes({4}));
  CHECK(load_dataset(variant).calibration.count == 4);
}

TEST_CASE("MNIST and Fashion-MNIST lie in the source tree") {
  const std::string name = GENERATE("mnist", "fashion_mnist");
  const Dataset data = load_dataset(name);
  CHECK(data.name == name);
  CHECK(data.test.shape == Shape{28, 28, 1});
  CHECK(data.test.count == 10000);
  CHECK(data.calibration.count == 1000);
  // The first labels of the published files.
  const auto first = [](const Images& images) {
    return std::vector<int>(images.labels.begin(), images.labels.begin() + 5);
  };
  const bool digits = name == "mnist";
  CHECK(first(data.test) ==
        (digits ? std::vector<int>{7, 2, 1, 0, 4} : std::vector<int>{9, 2, 1, 1, 6}));
  CHECK(first(data.calibration) ==
        (digits ? std::vector<int>{5, 0, 4, 1, 9} : std::vector<int>{9, 0, 0, 3, 0}));
}

TEST_CASE("MNIST's adversarial images come with its calibration images") {
  const Dataset mnist = load_dataset("mnist");
  for (const std::string name : {"mnist/fgsm_0.05", "mnist/fgsm_0.10", "mnist/fgsm_0.20"}) {
    const Dataset data = load_dataset(name);
    CHECK(data.name == name);
    CHECK(data.test.count == 1000);
    CHECK((data.calibration.pixels == mnist.calibration.pixels));
  }
}
