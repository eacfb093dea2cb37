#include "kernels/cpu/tensor_plan.h"

#include <algorithm>
#include <utility>

namespace tilewave::kernels {
namespace {

/// The free slot that needs to grow least for `elements`, taken out of `free`; a new one if none
/// is free.
std::size_t take_slot(std::vector<std::size_t>& free, std::vector<std::int64_t>& slot_elements,
                      std::int64_t elements) {
  if (free.empty()) {
    slot_elements.push_back(elements);
    return slot_elements.size() - 1;
  }
  const auto misfit = [&](std::size_t slot) {
    const std::int64_t spare = slot_elements[slot] - elements;
    return spare >= 0 ? std::pair{0, spare} : std::pair{1, -spare};
  };
  const auto best = std::min_element(free.begin(), free.end(), [&](std::size_t a, std::size_t b) {
    return misfit(a) < misfit(b);
  });
  const std::size_t slot = *best;
  free.erase(best);
  slot_elements[slot] = std::max(slot_elements[slot], elements);
  return slot;
}

}  // namespace

TensorPlan plan_tensors(const std::vector<TensorUse>& uses) {
  // owner: the node whose buffer a node's tensor is in.
  std::vector<std::size_t> owner(uses.size());
  std::vector<std::size_t> last_use(uses.size());
  for (std::size_t node = 0; node < uses.size(); ++node) {
    owner[node] =
        uses[node].in_place ? owner[static_cast<std::size_t>(uses[node].inputs[0])] : node;
    last_use[owner[node]] = node;
    for (const auto input : uses[node].inputs) {
      last_use[owner[static_cast<std::size_t>(input)]] = node;
    }
  }

  TensorPlan plan;
  plan.slot.resize(uses.size());
  std::vector<std::size_t> free;
  const auto release_if_last = [&](std::size_t tensor, std::size_t node) {
    if (owner[tensor] != tensor || last_use[tensor] != node) return;
    free.push_back(plan.slot[tensor]);
    last_use[tensor] = uses.size();
  };
  for (std::size_t node = 0; node < uses.size(); ++node) {
    plan.slot[node] = owner[node] == node ? take_slot(free, plan.slot_elements, uses[node].elements)
                                          : plan.slot[owner[node]];
    release_if_last(node, node);
    for (const auto input : uses[node].inputs) {
      release_if_last(owner[static_cast<std::size_t>(input)], node);
    }
  }
  return plan;
}

}  // namespace tilewave::kernels
