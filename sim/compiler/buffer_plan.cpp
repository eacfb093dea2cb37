#include "sim/compiler/buffer_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tilewave::sim {
namespace {

bool alive_together(const Tensor& a, const Tensor& b) {
  return a.made_by <= b.last_read_by && b.made_by <= a.last_read_by;
}

/// Places the tensors of `order` from `plan.peak` on.
void place(const LoweredNetwork& network, const std::vector<Bytes>& bytes,
           std::vector<std::size_t> order, BufferPlan& plan) {
  const Bytes base = plan.peak;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::vector<std::size_t> placed;  // by address
  for (const std::size_t id : order) {
    Bytes address = base;
    for (const std::size_t other : placed) {
      if (!alive_together(network.tensors[id], network.tensors[other])) continue;
      if (address + bytes[id] <= plan.address[other]) break;
      address = std::max(address, plan.address[other] + bytes[other]);
    }
    plan.address[id] = address;
    plan.peak = std::max(plan.peak, address + bytes[id]);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                   [&](std::size_t a, std::size_t b) {
                                     return plan.address[a] < plan.address[b];
                                   }),
                  id);
  }
}

BufferPlan nothing_placed(const LoweredNetwork& network) {
  BufferPlan plan;
  plan.address.assign(network.tensors.size(), 0);
  plan.spilled.assign(network.tensors.size(), false);
  plan.scratch.assign(network.tensors.size(), 0);
  plan.bands.assign(network.steps.size(), {});
  return plan;
}

std::vector<Bytes> tensor_sizes(const LoweredNetwork& network, std::int64_t images,
                                int element_bytes) {
  std::vector<Bytes> bytes;
  for (const Tensor& tensor : network.tensors) {
    bytes.push_back(tensor.layout.shape.elements() * images * element_bytes);
  }
  return bytes;
}

}  // namespace

Bytes buffer_capacity(const Chip& chip) {
  return std::min<Bytes>(chip.unified_buffer.capacity_kib * 1024,
                         std::numeric_limits<std::uint32_t>::max());
}

BufferPlan plan_buffer(const LoweredNetwork& network, std::int64_t images, int element_bytes,
                       bool ping_pong) {
  BufferPlan plan = nothing_placed(network);
  const std::vector<Bytes> bytes = tensor_sizes(network, images, element_bytes);
  std::vector<std::size_t> order(network.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto output = static_cast<std::size_t>(network.output);
  if (ping_pong) {
    plan.address[output] = bytes[0];
    plan.peak = 2 * (bytes[0] + bytes[output]);
    plan.ping_pong.half = static_cast<std::uint32_t>(plan.peak / 2);
    std::erase_if(order, [&](std::size_t id) { return id == 0 || id == output; });
  }
  place(network, bytes, std::move(order), plan);
  return plan;
}

BufferPlan plan_resident(const LoweredNetwork& network, int element_bytes,
                         const std::vector<bool>& spilled) {
  BufferPlan plan = nothing_placed(network);
  plan.spilled = spilled;
  std::vector<std::size_t> order;
  for (std::size_t id = 0; id < network.tensors.size(); ++id) {
    if (!spilled[id]) order.push_back(id);
  }
  place(network, tensor_sizes(network, 1, element_bytes), std::move(order), plan);
  return plan;
}

}  // namespace tilewave::sim
