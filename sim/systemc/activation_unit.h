#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/systemc/accumulators.h"
#include "sim/systemc/block.h"
#include "sim/systemc/scoreboard.h"
#include "sim/systemc/unified_buffer.h"
#include "sim/systemc/unit_queue.h"

namespace tilewave::sim::systemc {

/// The activation unit: requantizes and pools accumulators, and works on vectors from the unified
/// buffer. What has been read travels through its pipeline before it is written.
class ActivationUnit final : public Block {
 public:
  ActivationUnit(const sc_core::sc_module_name& name, Shared& shared, UnitQueue& queue,
                 Scoreboard& scoreboard, UnifiedBuffer& buffer, Accumulators& accumulators);

  bool is_reading() const { return is_reading_; }
  /// Instructions that have started and are not done.
  std::int64_t in_pipeline() const { return static_cast<std::int64_t>(pipeline_.size()); }

 private:
  struct InPipeline {
    Work work;
    Cycles start, end, done;
    std::vector<std::int16_t> values;  ///< to be written
  };
  void step() override;
  void start(const Work& work);
  void finish_reading();
  void write_back(const InPipeline& item);

  void count_reads(const Operation& op);
  std::vector<std::int16_t> compute(const Operation& op);
  void activate(const Operation& op, std::vector<std::int16_t>& out);
  void activate_pooled(const Operation& op, std::vector<std::int16_t>& out);
  void pool(const Operation& op, std::vector<std::int16_t>& out);
  void add(const Operation& op, std::vector<std::int16_t>& out);
  void look_up(const Operation& op, std::vector<std::int16_t>& out);

  UnitQueue& queue_;
  Scoreboard& scoreboard_;
  UnifiedBuffer& buffer_;
  Accumulators& accumulators_;
  bool is_reading_ = false;  ///< the youngest of the pipeline still reads
  std::deque<InPipeline> pipeline_;
};

}  // namespace tilewave::sim::systemc
