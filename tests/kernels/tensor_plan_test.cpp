#include "kernels/cpu/tensor_plan.h"

#include <catch2/catch.hpp>

namespace tilewave::kernels {
namespace {

TEST_CASE("a chain needs two buffers, each as large as its largest tensor") {
  const auto plan = plan_tensors({{{}, 10}, {{0}, 50}, {{1}, 30}, {{2}, 5}});
  CHECK(plan.slot == std::vector<std::size_t>{0, 1, 0, 1});
  CHECK(plan.slot_elements == std::vector<std::int64_t>{30, 50});
}

TEST_CASE("a tensor keeps its buffer until its last reader has run") {
  const auto plan = plan_tensors({{{}, 4}, {{0}, 4}, {{1}, 4}, {{2, 0}, 4}});
  CHECK(plan.slot[0] != plan.slot[1]);
  CHECK(plan.slot[0] != plan.slot[2]);
  CHECK(plan.slot[3] == plan.slot[1]);
}

TEST_CASE("a tensor in place lives as long as any reader of either") {
  const auto plan = plan_tensors({{{}, 4}, {{0}, 4, true}, {{0}, 4}, {{2}, 4}, {{1, 3}, 4}});
  CHECK(plan.slot[1] == plan.slot[0]);
  CHECK(plan.slot[2] != plan.slot[0]);
  CHECK(plan.slot[3] != plan.slot[0]);
}

TEST_CASE("a node that reads a tensor twice frees it once") {
  const auto plan = plan_tensors({{{}, 4}, {{0, 0}, 4}, {{1}, 4}, {{1, 2}, 4}});
  CHECK(plan.slot == std::vector<std::size_t>{0, 1, 0, 2});
}

}  // namespace
}  // namespace tilewave::kernels
