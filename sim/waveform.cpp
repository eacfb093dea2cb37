#include "sim/waveform.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tilewave::sim {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

constexpr const char* kSignals = "edges, diagonal, or rows R0:R1,cols C0:C1";

/// "3:7"
std::optional<Range> range(std::string_view text) {
  Range result;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, result.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, result.second);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return result;
}

/// "rows 3:7"; nothing if that is not what the text is.
std::optional<Range> named_range(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return std::nullopt;
  return range(text.substr(name.size()));
}

void check_range(const std::string& what, Range range, std::int64_t end) {
  if (range.first >= 0 && range.first < range.second && range.second <= end) return;
  throw InputError("vcd-signals",
                   what + " " + std::to_string(range.first) + ":" + std::to_string(range.second),
                   "FIRST:END from 0:1 to 0:" + std::to_string(end) + ", END not included");
}

/// Where the registers are: too many are refused before there is a list of them.
class Selection {
 public:
  Selection(const Chip& chip, const Program& program) : chip_(chip), program_(program) {}

  void add(std::int64_t row, std::int64_t column, Register reg) {
    if (register_format(chip_, program_, reg).bits == 0) return;
    ++count_;
    if (count_ <= kMaxWaveSignals) registers_.push_back({row, column, reg});
  }
  void add_pe(std::int64_t row, std::int64_t column) {
    for (int i = 0; i < kRegisters; ++i) add(row, column, static_cast<Register>(i));
  }
  std::vector<PeRegister> take() {
    if (count_ > kMaxWaveSignals) {
      throw InputError("vcd-signals", std::to_string(count_) + " signals are too many",
                       "at most " + std::to_string(kMaxWaveSignals));
    }
    return std::move(registers_);
  }

 private:
  const Chip& chip_;
  const Program& program_;
  std::int64_t count_ = 0;
  std::vector<PeRegister> registers_;
};

/// Where operands come in and sums go out.
struct EdgeRegisters {
  Register left, top, bottom;
};

EdgeRegisters edge_registers(const Array& array) {
  const bool is_double = array.double_buffered_weights;
  switch (array.dataflow) {
    case Dataflow::output_stationary:
      return {Register::activation, Register::weight, is_double ? Register::drain : Register::psum};
    case Dataflow::input_stationary:
      return {Register::weight, is_double ? Register::shadow : Register::activation,
              Register::psum};
    default:
      return {Register::activation, is_double ? Register::shadow : Register::weight,
              Register::psum};
  }
}

void add_edges(const Array& array, Selection& to) {
  const EdgeRegisters edges = edge_registers(array);
  for (std::int64_t row = 0; row < array.rows; ++row) {
    // Every register of a processing element in one place, as a scope of the file wants them.
    const std::int64_t columns = row == 0 || row == array.rows - 1 ? array.cols : 1;
    for (std::int64_t column = 0; column < columns; ++column) {
      if (column == 0) to.add(row, column, edges.left);
      if (row == 0) to.add(row, column, edges.top);
      if (row == array.rows - 1) to.add(row, column, edges.bottom);
    }
  }
}

}  // namespace

WaveSignals parse_wave_signals(const std::string& text) {
  if (text == "edges") return {};
  if (text == "diagonal") return {.kind = WaveSignals::Kind::diagonal};
  const std::size_t comma = text.find(',');
  if (comma != std::string::npos) {
    const auto rows = named_range(std::string_view(text).substr(0, comma), "rows ");
    std::string_view rest = std::string_view(text).substr(comma + 1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const auto columns = named_range(rest, "cols ");
    if (rows && columns) {
      return {WaveSignals::Kind::window, rows->first, rows->second, columns->first,
              columns->second};
    }
  }
  throw InputError("vcd-signals", "'" + excerpt(text) + "' is not a choice", kSignals);
}

std::pair<Cycles, Cycles> parse_cycles(const std::string& text) {
  const auto cycles = range(text);
  if (cycles && cycles->first >= 0 && cycles->first < cycles->second) return *cycles;
  throw InputError("vcd-cycles", "'" + excerpt(text) + "' is not a range of cycles",
                   "FROM:TO, FROM from 0 on and TO, which is not included, above it");
}

std::vector<PeRegister> shown_registers(const Chip& chip, const Program& program,
                                        const WaveformOptions& options) {
  if (options.from < 0 || options.from >= options.to) {
    throw InputError("vcd-cycles",
                     std::to_string(options.from) + ":" + std::to_string(options.to) + " is empty",
                     "FROM from 0 on and TO above it");
  }
  const Array& array = chip.array;
  const WaveSignals& signals = options.signals;
  Selection selection(chip, program);
  if (signals.kind == WaveSignals::Kind::edges) {
    add_edges(array, selection);
  } else if (signals.kind == WaveSignals::Kind::diagonal) {
    for (std::int64_t i = 0; i < std::min(array.rows, array.cols); ++i) selection.add_pe(i, i);
  } else {
    check_range("rows", {signals.row_first, signals.row_end}, array.rows);
    check_range("cols", {signals.column_first, signals.column_end}, array.cols);
    for (std::int64_t row = signals.row_first; row < signals.row_end; ++row) {
      for (std::int64_t column = signals.column_first; column < signals.column_end; ++column) {
        selection.add_pe(row, column);
      }
    }
  }
  return selection.take();
}

}  // namespace tilewave::sim
