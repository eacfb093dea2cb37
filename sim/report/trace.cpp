#include "sim/report/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "sim/isa/instruction.h"
#include "sim/report/json.h"
#include "sim/report/occupancy.h"

namespace tilewave::sim {
namespace {

/// An event takes at most about 300 bytes, and an instruction at most two slices, six stalls and
/// four counter values; mostly it is a slice and two values, 400 bytes.
constexpr std::int64_t kMaxInstructions = 100'000;
constexpr std::size_t kPartBytes = std::size_t{1} << 20;

constexpr std::array<std::string_view, kUnits> kUnitNames = {
    "host_in", "host_out", "weight_memory", "weight_shift", "matrix", "activation"};
constexpr std::array<std::string_view, kStallReasons> kStallNames = {
    "weight_stall", "weight_shift", "input_stall", "raw_stall", "accumulator_stall", "idle"};

/// Tracks of units are numbered from 1 on, this one follows.
constexpr int kStallTrack = kUnits + 1;

bool occupies_unit(Opcode opcode) {
  return opcode != Opcode::nop && opcode != Opcode::halt && opcode != Opcode::sync &&
         opcode != Opcode::set_config;
}

std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

class TraceWriter {
 public:
  TraceWriter(const Chip& chip, const Program& program, const RunResult& run,
              const TraceExtent& extent, const std::function<void(std::string_view)>& write)
      : chip_(chip),
        program_(program),
        run_(run),
        extent_(extent),
        write_(write),
        launches_{decode_program(program, 0), decode_program(program, 1)} {
    for (const Layer& layer : program.layers) layers_.push_back(json_text(layer.name));
  }

  void write() {
    text_ = "{\"displayTimeUnit\": \"ns\",\n\"otherData\": " + metadata().dump() +
            ",\n\"traceEvents\": [";
    tracks();
    slices();
    counters();
    text_ += "\n]}\n";
    write_(text_);
  }

 private:
  template <typename... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() < kPartBytes) return;
    write_(text_);
    text_.clear();
  }

  Json metadata() const {
    Json json = result_header();
    json["chip"] = chip_.name;
    json["model"] = program_.name;
    json["batch"] = program_.batch;
    json["clock_mhz"] = chip_.clock_mhz;
    json["time_unit"] = "a microsecond of this file is a cycle of the chip's clock";
    json["complete"] = extent_.is_whole();
    json["launches_shown"] = extent_.launches;
    json["launches"] = extent_.all_launches;
    json["instructions_shown"] = extent_.instructions;
    json["instructions"] = extent_.all_instructions;
    return json;
  }

  void tracks() {
    event(R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})",
          json_text(program_.name + " on " + chip_.name));
    for (int track = 1; track <= kStallTrack; ++track) {
      const std::string_view name =
          track == kStallTrack ? "stalls" : kUnitNames[static_cast<std::size_t>(track - 1)];
      event(R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":"{1}"}}}})", track,
            name);
      event(R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index",)"
            R"("args":{{"sort_index":{0}}}}})",
            track);
    }
  }

  const Operation& operation(std::int32_t launch, std::int32_t instruction) const {
    return launches_[static_cast<std::size_t>(launch % 2)][static_cast<std::size_t>(instruction)];
  }

  const std::string& layer_of(const Operation& op) const {
    static const std::string kNoLayer = "null";
    return op.layer < 0 ? kNoLayer : layers_[static_cast<std::size_t>(op.layer)];
  }

  void slices() {
    std::size_t stall = 0;
    for (const Slice& slice : run_.trace) {
      if (slice.instruction >= extent_.instructions) continue;
      const Operation& op = operation(slice.launch, slice.instruction);
      std::string args;
      if (op.tile != nullptr) {
        args += fmt::format(R"(,"tile":{})", op.tile - program_.tiles.data());
      }
      if (slice.unit == Unit::matrix) args += stalls_before(op, slice, stall);
      const std::string name = mnemonic(op.instruction.opcode);
      event(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":)"
            R"({{"layer":{},"mnemonic":"{}","launch":{},"instruction":{},"done":{}{}}}}})",
            static_cast<int>(slice.unit) + 1, slice.start, slice.end - slice.start,
            op.layer < 0 ? '"' + name + '"' : layer_of(op), name, layer_of(op), name, slice.launch,
            slice.instruction, slice.done, args);
    }
    drain();
  }

  /// Writes the stalls of a multiply on their own track; returns the multiply's further arguments:
  /// the reason that took longest, and all of them.
  std::string stalls_before(const Operation& op, const Slice& multiply, std::size_t& next) {
    std::string reasons;
    const Stall* longest = nullptr;
    for (; next < run_.stalls.size() && run_.stalls[next].start < multiply.start; ++next) {
      const Stall& stall = run_.stalls[next];
      const std::string_view name = stall_name(stall.reason);
      event(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":"{}","cat":"stall","args":)"
            R"({{"layer":{},"launch":{},"instruction":{}}}}})",
            kStallTrack, stall.start, stall.end - stall.start, name, layer_of(op), stall.launch,
            stall.instruction);
      reasons += fmt::format(R"(,"{}":{})", name, stall.end - stall.start);
      if (longest == nullptr || stall.end - stall.start > longest->end - longest->start) {
        longest = &stall;
      }
    }
    if (longest == nullptr) return R"(,"stall_reason":null)";
    return fmt::format(R"(,"stall_reason":"{}"{})", stall_name(longest->reason), reasons);
  }

  /// What is left of the run after the last multiply.
  void drain() {
    if (!extent_.is_whole() || run_.total.classes.drain == 0) return;
    event(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":"drain","cat":"stall"}})",
          kStallTrack, run_.cycles - run_.total.classes.drain, run_.total.classes.drain);
  }

  void counters() {
    std::vector<Slice> shown;
    std::copy_if(run_.trace.begin(), run_.trace.end(), std::back_inserter(shown),
                 [&](const Slice& slice) { return slice.instruction < extent_.instructions; });
    counter("unified buffer", "bytes", unified_buffer_occupancy(launches_, shown));
    counter("weight FIFO", "tiles", weight_fifo_occupancy(chip_.array.dataflow, launches_, shown));
  }

  void counter(const char* name, const char* unit, const std::vector<OccupancyStep>& steps) {
    for (const OccupancyStep& step : steps) {
      event(R"({{"ph":"C","pid":1,"ts":{},"name":"{}","args":{{"{}":{}}}}})", step.cycle, name,
            unit, step.value);
    }
  }

  const Chip& chip_;
  const Program& program_;
  const RunResult& run_;
  const TraceExtent& extent_;
  const std::function<void(std::string_view)>& write_;
  DecodedLaunches launches_;
  std::vector<std::string> layers_;  ///< their names, as JSON
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

std::string_view unit_name(Unit unit) {
  return kUnitNames[static_cast<std::size_t>(unit)];
}

std::string_view stall_name(StallReason reason) {
  return kStallNames[static_cast<std::size_t>(reason)];
}

TraceExtent trace_extent(const Program& program, std::int64_t launches) {
  const auto size = static_cast<std::int64_t>(program.instructions.size());
  TraceExtent extent{launches, launches, size, size};
  std::int64_t working = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    working += occupies_unit(program.instructions[static_cast<std::size_t>(i)].opcode) ? 1 : 0;
    if (working > kMaxInstructions) {
      extent.instructions = i;
      break;
    }
  }
  extent.launches = std::min(
      launches, std::max<std::int64_t>(1, kMaxInstructions / std::max<std::int64_t>(1, working)));
  return extent;
}

std::string extent_text(const TraceExtent& extent) {
  if (extent.instructions == extent.all_instructions) {
    return fmt::format("shows the first {} of {} launches", extent.launches, extent.all_launches);
  }
  return fmt::format("shows the first {} of {} instructions of the first of {} launches",
                     extent.instructions, extent.all_instructions, extent.all_launches);
}

void write_trace(const Chip& chip, const Program& program, const RunResult& run,
                 const TraceExtent& extent, const std::function<void(std::string_view)>& write) {
  TraceWriter(chip, program, run, extent, write).write();
}

}  // namespace tilewave::sim
