#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/block.h"
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

  /// Space `space` as launch `launch` sees it.
  std::uint8_t* at(HostSpace space, std::int32_t launch, std::int64_t address);
  /// All launches' outputs, [launch][image][height][width][channels].
  std::vector<std::int16_t> take_outputs();

 private:
  void load_inputs(std::int32_t launch);
  void save_outputs();

  const Program& program_;
  const std::vector<std::int16_t>& inputs_;
  std::vector<std::int16_t> outputs_;
  ElementMemory input_, output_, scratch_;
  std::int32_t input_launch_ = -1;
  std::int32_t output_launch_ = -1;
};

/// One DMA engine: host memory into the unified buffer, or out of it.
class DmaEngine final : public Block {
 public:
  enum class Direction { in, out };
  DmaEngine(const sc_core::sc_module_name& name, Shared& shared, Direction direction,
            UnitQueue& queue, Scoreboard& scoreboard, UnifiedBuffer& buffer, HostMemory& host);

 private:
  void step() override;
  void start(const Work& work);
  void finish();

  Direction direction_;
  UnitQueue& queue_;
  Scoreboard& scoreboard_;
  UnifiedBuffer& buffer_;
  HostMemory& host_;
  bool is_busy_ = false;
  Work work_;
  Cycles start_ = 0;
  Cycles end_ = 0;
};

/// The host interface: a DMA engine each way.
class HostInterface final : public sc_core::sc_module {
 public:
  HostInterface(const sc_core::sc_module_name& name, Shared& shared, UnitQueues& queues,
                Scoreboard& scoreboard, UnifiedBuffer& buffer, HostMemory& host)
      : sc_core::sc_module(name),
        in_("in", shared, DmaEngine::Direction::in, queues.host_in, scoreboard, buffer, host),
        out_("out", shared, DmaEngine::Direction::out, queues.host_out, scoreboard, buffer, host) {}

 private:
  DmaEngine in_, out_;
};

}  // namespace tilewave::sim::systemc
