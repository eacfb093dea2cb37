#include "sim/compiler/buffer_plan.h"

#include <algorithm>
#include <numeric>

namespace tilewave::sim {
namespace {

bool alive_together(const Tensor& a, const Tensor& b) {
  return a.made_by <= b.last_read_by && b.made_by <= a.last_read_by;
}

}  // namespace

BufferPlan plan_buffer(const LoweredNetwork& network, std::int64_t images, int element_bytes,
                       bool ping_pong) {
  const auto& tensors = network.tensors;
  const auto bytes_of = [&](std::size_t id) {
    return tensors[id].layout.shape.elements() * images * element_bytes;
  };
  BufferPlan plan;
  plan.address.assign(tensors.size(), 0);
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});

  const auto output = static_cast<std::size_t>(network.output);
  Bytes base = 0;
  if (ping_pong) {
    plan.address[output] = bytes_of(0);
    plan.ping_pong.half = static_cast<std::uint32_t>(bytes_of(0) + bytes_of(output));
    base = 2 * std::int64_t{plan.ping_pong.half};
    std::erase_if(order, [&](std::size_t id) { return id == 0 || id == output; });
  }
  plan.peak = base;

  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bytes_of(a) > bytes_of(b); });
  std::vector<std::size_t> placed;  // by address
  for (const std::size_t id : order) {
    Bytes address = base;
    for (const std::size_t other : placed) {
      if (!alive_together(tensors[id], tensors[other])) continue;
      if (address + bytes_of(id) <= plan.address[other]) break;
      address = std::max(address, plan.address[other] + bytes_of(other));
    }
    plan.address[id] = address;
    plan.peak = std::max(plan.peak, address + bytes_of(id));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                   [&](std::size_t a, std::size_t b) {
                                     return plan.address[a] < plan.address[b];
                                   }),
                  id);
  }
  return plan;
}

}  // namespace tilewave::sim
