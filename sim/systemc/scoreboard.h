#pragma once

#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "sim/systemc/stream.h"

namespace tilewave::sim::systemc {

/// The outstanding accesses to one memory, in program order.
class AccessList {
 public:
  struct Access {
    Span span;
    std::int64_t sequence = 0;
  };
  /// `sequence` is the last one so far that writes `span`.
  void write(Span span, std::int64_t sequence);
  void read(Span span, std::int64_t sequence) { reads.push_back({span, sequence}); }
  /// Whether every address of the span has been written by an instruction entered before.
  bool is_written(Span span) const;

  std::vector<Access> writes;  ///< by the last writer of each address, where it is not done
  std::vector<Access> reads;   ///< since the last write of each address, where they have not ended
  std::size_t forget_at = 0;   ///< length at which to look for what is finished

 private:
  std::vector<Span> written_;  ///< disjoint, sorted
};

/// Who waits for whom. Instructions are entered in program order; from then on a block can ask
/// whether those that an instruction must wait for, by the addresses that they use, are through.
class Scoreboard {
 public:
  enum class Reason : std::uint8_t { host, activation, accumulator, reader };

  Scoreboard(const Program& program, const InstructionStream& stream)
      : program_(program), stream_(stream) {}

  /// Throws InputError where an instruction reads what nothing has written.
  void enter_through(std::int64_t sequence);
  /// Nothing that the instruction must wait for is left.
  bool is_ready(std::int64_t sequence);
  bool waits_for(std::int64_t sequence, Reason reason);
  /// What a multiply reads in the unified buffer has been written.
  bool has_sources(std::int64_t sequence) {
    return !waits_for(sequence, Reason::host) && !waits_for(sequence, Reason::activation);
  }

  void end(std::int64_t sequence);   ///< has read all that it reads
  void done(std::int64_t sequence);  ///< what it wrote can be used
  /// The first instruction that has not ended or is not done.
  std::int64_t first_unfinished() const { return first_; }

  sc_core::sc_event changed;

 private:
  struct Need {
    std::int64_t sequence;
    Reason reason;
    bool done;  ///< waits for `done`, else for `end`
  };
  struct Entry {
    std::vector<Need> needs;
    bool ended = false;
    bool done = false;
  };

  void enter(const Work& work);
  void add_writers(const AccessList& list, Span span, Entry& entry, std::int64_t except = -1) const;
  void add_readers(const AccessList& list, Span span, Entry& entry) const;
  void check_written(const AccessList& list, Span span, const Work& work, const char* what) const;
  void enter_buffer(const Work& work, Entry& entry);
  void enter_accumulators(const Work& work, Entry& entry);
  void enter_scratch(const Work& work, Entry& entry);
  void forget_finished(AccessList& list) const;
  bool is_met(const Need& need) const;
  Entry& at(std::int64_t sequence) { return entries_[static_cast<std::size_t>(sequence - first_)]; }
  const Entry* find(std::int64_t sequence) const {
    return sequence < first_ ? nullptr : &entries_[static_cast<std::size_t>(sequence - first_)];
  }
  void forget_entries();

  const Program& program_;
  const InstructionStream& stream_;
  std::int64_t first_ = 0;     ///< everything before is through
  std::deque<Entry> entries_;  ///< from first_ on
  AccessList buffer_, accumulators_, scratch_;
  std::int64_t last_multiply_ = -1;
  Span last_multiply_rows_;
};

}  // namespace tilewave::sim::systemc
