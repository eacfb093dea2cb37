#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/block.h"
#include "sim/systemc/memory_port.h"
#include "sim/systemc/scoreboard.h"
#include "sim/systemc/sequencer.h"
#include "sim/systemc/unified_buffer.h"

namespace tilewave::sim::systemc {

/// The host's memory: the images of every launch, and what comes back.
class HostMemory {
 public:
  /// `inputs`: images as Engine::run takes them; may be empty if there are no values to compute.
  HostMemory(const Program& program, const std::vector<std::int16_t>& inputs,
             std::int64_t launches);

  /// Where byte `offset` of space `space`, as launch `launch` sees it, is in the host's memory:
  /// the inputs of all launches, their outputs, the scratch space.
  std::uint64_t address_of(HostSpace space, std::int32_t launch, std::int64_t offset) const;
  /// Null if there is nothing there. Launches must come in order.
  std::uint8_t* find(std::uint64_t address, std::int64_t bytes);
  /// All launches' outputs, [launch][image][height][width][channels].
  std::vector<std::int16_t> take_outputs();

 private:
  void load_inputs(std::int32_t launch);
  void save_outputs();

  const Program& program_;
  const std::vector<std::int16_t>& inputs_;
  std::int64_t launches_;
  std::vector<std::int16_t> outputs_;
  ElementMemory input_, output_, scratch_;
  std::int32_t input_launch_ = -1;
  std::int32_t output_launch_ = -1;
};

/// One DMA engine: host memory into the unified buffer, or out of it. The data are at their
/// destination from the start of a transfer on, where nobody may look for them before its end.
class DmaEngine final : public Block {
 public:
  enum class Direction { in, out };
  DmaEngine(const sc_core::sc_module_name& name, Shared& shared, Direction direction,
            UnitQueue& queue, Scoreboard& scoreboard, const HostMemory& host);
  bool is_busy() const { return is_busy_; }

  MemoryPort host_port, buffer_port;

 private:
  void step() override;
  void start(const Work& work);
  void finish();

  Direction direction_;
  UnitQueue& queue_;
  Scoreboard& scoreboard_;
  const HostMemory& host_;
  std::vector<std::uint8_t> bytes_;  ///< on their way
  bool is_busy_ = false;
  Work work_;
  Cycles start_ = 0;
  Cycles end_ = 0;
};

/// The host interface: each way a DMA engine, the link to the host's memory, and a port of the
/// unified buffer.
class HostInterface final : public sc_core::sc_module {
 public:
  HostInterface(const sc_core::sc_module_name& name, Shared& shared, UnitQueues& queues,
                Scoreboard& scoreboard, UnifiedBuffer& buffer, HostMemory& host);
  bool is_busy_in() const { return in_.is_busy(); }
  bool is_busy_out() const { return out_.is_busy(); }

 private:
  DmaEngine in_, out_;
  MemoryTarget link_in_, link_out_, buffer_in_, buffer_out_;
};

}  // namespace tilewave::sim::systemc
