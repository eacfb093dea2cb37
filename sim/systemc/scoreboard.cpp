#include "sim/systemc/scoreboard.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "sim/isa/place.h"

namespace tilewave::sim::systemc {
namespace {

constexpr std::size_t kFewAccesses = 16;

bool overlap(Span a, Span b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Takes `span` out of every access.
void cut(std::vector<AccessList::Access>& accesses, Span span) {
  std::vector<AccessList::Access> kept;
  kept.reserve(accesses.size() + 1);
  for (const AccessList::Access& access : accesses) {
    if (!overlap(access.span, span)) {
      kept.push_back(access);
      continue;
    }
    if (access.span.begin < span.begin) {
      kept.push_back({{access.span.begin, span.begin}, access.sequence});
    }
    if (span.end < access.span.end) kept.push_back({{span.end, access.span.end}, access.sequence});
  }
  accesses = std::move(kept);
}

Scoreboard::Reason reason_of(const Operation& writer) {
  switch (writer.instruction.opcode) {
    case Opcode::read_host:
    case Opcode::write_host:
      return Scoreboard::Reason::host;
    case Opcode::matmul:
      return Scoreboard::Reason::accumulator;
    default:
      return Scoreboard::Reason::activation;
  }
}

}  // namespace

void AccessList::write(Span span, std::int64_t sequence) {
  if (span.size() <= 0) return;
  // Who comes later waits for this writer, and so for all that this writer waits for.
  cut(writes, span);
  cut(reads, span);
  writes.push_back({span, sequence});
  if (is_written(span)) return;
  std::vector<Span> merged;
  Span whole = span;
  for (const Span& known : written_) {
    if (known.end < span.begin || span.end < known.begin) {
      merged.push_back(known);
    } else {
      whole = {std::min(whole.begin, known.begin), std::max(whole.end, known.end)};
    }
  }
  merged.insert(std::upper_bound(merged.begin(), merged.end(), whole,
                                 [](Span a, Span b) { return a.begin < b.begin; }),
                whole);
  written_ = std::move(merged);
}

bool AccessList::is_written(Span span) const {
  if (span.size() <= 0) return true;
  const auto next = std::upper_bound(written_.begin(), written_.end(), span.begin,
                                     [](std::int64_t at, Span known) { return at < known.begin; });
  return next != written_.begin() && span.end <= (next - 1)->end;
}

void Scoreboard::enter_through(std::int64_t sequence) {
  for (std::int64_t next = first_ + static_cast<std::int64_t>(entries_.size()); next <= sequence;
       ++next) {
    enter(stream_.at(next));
  }
}

void Scoreboard::enter(const Work& work) {
  for (AccessList* list : {&buffer_, &accumulators_, &scratch_}) forget_finished(*list);
  Entry entry;
  enter_buffer(work, entry);
  enter_accumulators(work, entry);
  enter_scratch(work, entry);
  entries_.push_back(std::move(entry));
}

void Scoreboard::enter_buffer(const Work& work, Entry& entry) {
  const Operation& op = *work.operation;
  for (const Span& span : op.reads) {
    check_written(buffer_, span, work,
                  "reads bytes of the unified buffer that nothing has written");
    add_writers(buffer_, span, entry);
  }
  for (const Span& span : op.writes) {
    add_writers(buffer_, span, entry);
    add_readers(buffer_, span, entry);
  }
  for (const Span& span : op.reads) buffer_.read(span, work.sequence);
  for (const Span& span : op.writes) buffer_.write(span, work.sequence);
}

void Scoreboard::enter_accumulators(const Work& work, Entry& entry) {
  const Operation& op = *work.operation;
  const Span rows = op.accumulators;
  if (op.instruction.opcode == Opcode::activate) {
    check_written(accumulators_, rows, work, "reads accumulator entries that nothing has written");
    add_writers(accumulators_, rows, entry);
    accumulators_.read(rows, work.sequence);
  }
  if (op.instruction.opcode != Opcode::matmul) return;
  const bool adds = op.instruction.accumulate;
  if (adds) {
    check_written(accumulators_, rows, work,
                  "adds to accumulator entries that nothing has written");
  }
  // Each row's sum of the multiply just before is complete before this one's arrives.
  const bool follows_row_by_row =
      adds && rows.begin == last_multiply_rows_.begin && rows.end <= last_multiply_rows_.end;
  add_writers(accumulators_, rows, entry, follows_row_by_row ? last_multiply_ : -1);
  add_readers(accumulators_, rows, entry);
  accumulators_.write(rows, work.sequence);
  last_multiply_ = work.sequence;
  last_multiply_rows_ = rows;
}

void Scoreboard::enter_scratch(const Work& work, Entry& entry) {
  const Operation& op = *work.operation;
  if (op.host_scratch.size() <= 0) return;
  add_writers(scratch_, op.host_scratch, entry);
  if (op.instruction.opcode == Opcode::read_host) {
    scratch_.read(op.host_scratch, work.sequence);
  } else {
    add_readers(scratch_, op.host_scratch, entry);
    scratch_.write(op.host_scratch, work.sequence);
  }
}

void Scoreboard::add_writers(const AccessList& list, Span span, Entry& entry,
                             std::int64_t except) const {
  for (const AccessList::Access& write : list.writes) {
    if (!overlap(write.span, span) || write.sequence == except) continue;
    entry.needs.push_back({write.sequence, reason_of(*stream_.at(write.sequence).operation), true});
  }
}

void Scoreboard::add_readers(const AccessList& list, Span span, Entry& entry) const {
  const Reason reason = &list == &accumulators_ ? Reason::accumulator : Reason::reader;
  for (const AccessList::Access& read : list.reads) {
    if (overlap(read.span, span)) entry.needs.push_back({read.sequence, reason, false});
  }
}

void Scoreboard::check_written(const AccessList& list, Span span, const Work& work,
                               const char* what) const {
  if (list.is_written(span)) return;
  const Operation& op = *work.operation;
  throw InputError(place_of(program_, op), what);
}

/// What is finished does no harm in a list; it is looked for each time that the list has doubled,
/// since all of a long program may be waiting at once.
void Scoreboard::forget_finished(AccessList& list) const {
  if (list.writes.size() + list.reads.size() < list.forget_at) return;
  std::erase_if(list.writes, [&](const AccessList::Access& access) {
    const Entry* entry = find(access.sequence);
    return entry == nullptr || entry->done;
  });
  std::erase_if(list.reads, [&](const AccessList::Access& access) {
    const Entry* entry = find(access.sequence);
    return entry == nullptr || entry->ended;
  });
  list.forget_at = std::max(kFewAccesses, 2 * (list.writes.size() + list.reads.size()));
}

bool Scoreboard::is_met(const Need& need) const {
  const Entry* entry = find(need.sequence);
  return entry == nullptr || (need.done ? entry->done : entry->ended);
}

bool Scoreboard::is_ready(std::int64_t sequence) {
  std::vector<Need>& needs = at(sequence).needs;
  while (!needs.empty() && is_met(needs.back())) needs.pop_back();
  return needs.empty();
}

bool Scoreboard::waits_for(std::int64_t sequence, Reason reason) {
  const std::vector<Need>& needs = at(sequence).needs;
  return std::any_of(needs.begin(), needs.end(),
                     [&](const Need& need) { return need.reason == reason && !is_met(need); });
}

void Scoreboard::end(std::int64_t sequence) {
  at(sequence).ended = true;
  forget_entries();
}

void Scoreboard::done(std::int64_t sequence) {
  at(sequence).done = true;
  forget_entries();
}

void Scoreboard::forget_entries() {
  while (!entries_.empty() && entries_.front().ended && entries_.front().done) {
    entries_.pop_front();
    ++first_;
  }
  changed.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace tilewave::sim::systemc
