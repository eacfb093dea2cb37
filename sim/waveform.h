#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/registers.h"

namespace tilewave::sim {

/// Which processing elements a waveform shows.
struct WaveSignals {
  enum class Kind : std::uint8_t {
    edges,     ///< what comes in on the left and at the top, and what goes out at the bottom
    diagonal,  ///< every register of the PEs (0, 0), (1, 1), ...
    window     ///< every register of the PEs in rows and columns [first, end)
  };
  Kind kind = Kind::edges;
  std::int64_t row_first = 0, row_end = 0;
  std::int64_t column_first = 0, column_end = 0;
  bool operator==(const WaveSignals&) const = default;
};
inline constexpr std::int64_t kMaxWaveSignals = 4096;

/// Values of registers by cycle, as a VCD file (IEEE 1364) whose unit of time is a cycle.
struct WaveformOptions {
  Cycles from = 0;
  Cycles to = 10'000;  ///< not included
  WaveSignals signals = {};
  std::function<void(std::string_view)> write = {};  ///< gets the file, part after part
};

/// "edges", "diagonal" or "rows 0:4,cols 8:16". InputError that says what is allowed.
WaveSignals parse_wave_signals(const std::string& text);
/// "100:200", the cycles from 100 to 199; likewise.
std::pair<Cycles, Cycles> parse_cycles(const std::string& text);

/// A register of a processing element.
struct PeRegister {
  std::int64_t row, column;
  Register reg;
  bool operator==(const PeRegister&) const = default;
};
/// Those that the options ask for, row by row. InputError where some are outside of the array or
/// too many, or there are no cycles.
std::vector<PeRegister> shown_registers(const Chip& chip, const Program& program,
                                        const WaveformOptions& options);

}  // namespace tilewave::sim
