#include "flow/workload.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/flow/small_workload.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave;

TEST_CASE("images of another shape than the network's are refused with both shapes") {
  const flow::Workload workload = test::small_workload();
  CHECK_NOTHROW(flow::check_shape(workload.data.test, "noise", {6, 6, 1}, "small"));
  CHECK_THROWS_WITH(flow::check_shape(workload.data.test, "noise", {28, 28, 1}, "mnist_cnn"),
                    "noise: its images are 6 x 6 x 1 (mnist_cnn takes 28 x 28 x 1)");
}

TEST_CASE("as many images as wanted are used, and no more than there are") {
  CHECK(flow::image_count(10, std::nullopt, "noise") == 10);
  CHECK(flow::image_count(10, 3, "noise") == 3);
  CHECK_THROWS_WITH(flow::image_count(10, 11, "noise"),
                    "images: 11 of the test images of noise (1 to 10)");
  CHECK_THROWS_AS(flow::image_count(10, 0, "noise"), InputError);
}

TEST_CASE("an IDX file of 3 or 4 dimensions is images") {
  const test::TemporaryDirectory directory;
  directory.write("images", std::vector<std::uint8_t>{0, 0, 8, 3, 0, 0, 0,  2,  0,  0,
                                                      0, 1, 0, 0, 0, 2, 10, 20, 30, 40});
  const models::Images images = flow::idx_images(directory.path("images"), 1);
  CHECK(images.count == 1);
  CHECK(images.shape == models::Shape{1, 2, 1});
  CHECK(images.pixels == std::vector<std::uint8_t>{10, 20});

  directory.write("labels", std::vector<std::uint8_t>{0, 0, 8, 1, 0, 0, 0, 2, 1, 2});
  CHECK_THROWS_WITH(flow::idx_images(directory.path("labels"), std::nullopt),
                    Catch::Contains("has 1 dimensions"));
}
