#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"
#include "sim/engine.h"
#include "tests/sim/systemc/small_multiply.h"
#include "tests/sim/systemc/vcd_file.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

std::string dump(const Chip& chip, const Program& program, const std::vector<std::int16_t>& inputs,
                 WaveformOptions waveform) {
  std::string text;
  waveform.write = [&](std::string_view part) { text += part; };
  RunOptions options;
  options.waveform = waveform;
  const RunResult with = make_systemc(MatrixUnit::pe)->run(chip, program, inputs, options);
  const RunResult without = make_systemc(MatrixUnit::pe)->run(chip, program, inputs);
  CHECK(with.cycles == without.cycles);
  CHECK(with.total == without.total);
  CHECK(with.outputs == without.outputs);
  return text;
}

test::VcdFile dump_small(const WaveformOptions& waveform,
                         Dataflow dataflow = Dataflow::weight_stationary) {
  return test::VcdFile(dump(test::small_chip(dataflow), test::small_multiply(dataflow),
                            test::flat(test::kActivations), waveform));
}

WaveformOptions all_of_4x4(Cycles from = 0, Cycles to = 1000) {
  return {.from = from, .to = to, .signals = parse_wave_signals("rows 0:4,cols 0:4")};
}

std::string pe(std::size_t row, std::size_t column, const std::string& reg) {
  return "matrix_unit.pe_" + std::to_string(row) + "_" + std::to_string(column) + "." + reg;
}

template <typename Fn>
void for_each_pe(Fn fn) {
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) fn(row, column);
  }
}

std::string refusal(const std::string& signals, const Chip& chip = test::frictionless_chip(4, 4),
                    Cycles from = 0, Cycles to = 10) {
  try {
    shown_registers(chip, test::small_multiply(),
                    {.from = from, .to = to, .signals = parse_wave_signals(signals)});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// The tile's rows enter from cycle 0 on, the last one first and column after column, and are in
// place when the multiply's first row enters, in cycle 4. What enters then reaches the PE at (row,
// column) row + column cycles later.

TEST_CASE("the waveform of a 4 x 4 multiply is the one worked out by hand") {
  const test::VcdFile file = dump_small(all_of_4x4());
  CHECK(file.first_time() == 0);
  CHECK(file.last_time() >= 14);
  for (int cycle = 0; cycle < 14; ++cycle) {
    for_each_pe([&](std::size_t row, std::size_t column) {
      CAPTURE(cycle, row, column);
      const int at = cycle - static_cast<int>(row + column);
      const int entered = at - 4;  // row of activations
      const bool is_there = entered >= 0 && entered < 4;
      const auto i = static_cast<std::size_t>(is_there ? entered : 0);
      CHECK(file.signed_value(pe(row, column, "activation"), cycle) ==
            (is_there ? test::kActivations[i][row] : 0));
      CHECK(file.signed_value(pe(row, column, "psum"), cycle) ==
            (is_there ? test::kSums[i][row][column] : 0));
      CHECK(file.signed_value(pe(row, column, "weight"), cycle) ==
            (entered >= 0 ? test::kWeights[row][column] : 0));
      // Rows that have come into the column so far; the chain stands still when all have.
      const int come = std::min(cycle - static_cast<int>(column) + 1, 4);
      const int held = 4 - come + static_cast<int>(row);  // row of the tile
      CHECK(file.signed_value(pe(row, column, "shadow"), cycle) ==
            (held >= 4 ? 0 : test::kWeights[static_cast<std::size_t>(held)][column]));
    });
  }
}

namespace {

/// In which cycle the first row of the multiply enters.
int first_cycle(const test::VcdFile& file) {
  int cycle = 0;
  while (file.signed_value("matrix_unit.entering_row", cycle) != 0) ++cycle;
  return cycle;
}

}  // namespace

// Steps enter one per cycle: an activation of every pixel and a weight of every channel. The PE at
// (pixel, channel) has added the first k + 1 products row + column cycles after step k.
TEST_CASE("the waveform of an output-stationary multiply is the one worked out by hand") {
  const test::VcdFile file = dump_small(all_of_4x4(), Dataflow::output_stationary);
  const int first = first_cycle(file);
  for (std::size_t k = 0; k < 4; ++k) {
    for_each_pe([&](std::size_t pixel, std::size_t channel) {
      CAPTURE(k, pixel, channel);
      const int cycle = first + static_cast<int>(k + pixel + channel);
      CHECK(file.signed_value(pe(pixel, channel, "activation"), cycle) ==
            test::kActivations[pixel][k]);
      CHECK(file.signed_value(pe(pixel, channel, "weight"), cycle) == test::kWeights[k][channel]);
      CHECK(file.signed_value(pe(pixel, channel, "psum"), cycle) == test::kSums[pixel][k][channel]);
    });
  }
  // The bottom PE of column 0 has its last product in cycle first + 3 + 3, and its sum in the
  // second register. Then the sums of the pixels above follow, one per cycle.
  for (std::size_t moved = 0; moved < 4; ++moved) {
    CHECK(file.signed_value(pe(3, 0, "drain"), first + 6 + static_cast<int>(moved)) ==
          test::kSums[3 - moved][3][0]);
  }
}

// A column is a pixel, whose activations stay; what enters, one per cycle, are the weights of a
// channel.
TEST_CASE("the waveform of an input-stationary multiply is the one worked out by hand") {
  const test::VcdFile file = dump_small(all_of_4x4(), Dataflow::input_stationary);
  const int first = first_cycle(file);
  for (std::size_t channel = 0; channel < 4; ++channel) {
    for_each_pe([&](std::size_t row, std::size_t pixel) {
      CAPTURE(channel, row, pixel);
      const int cycle = first + static_cast<int>(channel + row + pixel);
      CHECK(file.signed_value(pe(row, pixel, "activation"), cycle) ==
            test::kActivations[pixel][row]);
      CHECK(file.signed_value(pe(row, pixel, "weight"), cycle) == test::kWeights[row][channel]);
      CHECK(file.signed_value(pe(row, pixel, "psum"), cycle) == test::kSums[pixel][row][channel]);
    });
  }
}

TEST_CASE("the waveform shows when the blocks are at work") {
  const test::VcdFile file = dump_small(all_of_4x4());
  for (int cycle = 0; cycle < 14; ++cycle) {
    CAPTURE(cycle);
    const bool enters = cycle >= 4 && cycle < 8;
    CHECK(file.value("matrix_unit.shifting_in", cycle) == (cycle < 4 ? 1 : 0));
    CHECK(file.value("matrix_unit.multiplying", cycle) == (enters ? 1 : 0));
    CHECK(file.signed_value("matrix_unit.entering_row", cycle) == (enters ? cycle - 4 : -1));
  }
  Chip chip = test::frictionless_chip(4, 4);
  chip.host_link.latency_us = 0.01;  // 7 cycles each way, and 1 for the port of the buffer
  const test::VcdFile slow(
      dump(chip, test::small_multiply(), test::flat(test::kActivations), all_of_4x4()));
  CHECK(slow.value("host_interface.busy_in", 7) == 1);
  CHECK(slow.value("host_interface.busy_in", 8) == 0);
  CHECK(slow.value("weight_fifo.tiles", 7) == 0);  // The tile is in the shadow plane.
  CHECK(slow.signed_value("matrix_unit.entering_row", 7) == -1);
  CHECK(slow.signed_value("matrix_unit.entering_row", 8) == 0);
  // The last row's sums are complete 3 + 3 + 3 cycles later, at the end of cycle 17.
  CHECK(slow.value("activation_unit.reading", 17) == 0);
  CHECK(slow.value("activation_unit.reading", 18) == 1);
}

TEST_CASE("a waveform shows the cycles of its window and no others") {
  const test::VcdFile whole = dump_small(all_of_4x4());
  const test::VcdFile part = dump_small(all_of_4x4(6, 9));
  CHECK(part.first_time() == 6);
  CHECK(part.last_time() == 9);
  CHECK(part.names() == whole.names());
  for (const std::string& name : part.names()) {
    CAPTURE(name);
    for (int cycle = 6; cycle < 9; ++cycle) {
      CHECK(part.value(name, cycle) == whole.value(name, cycle));
    }
    CHECK(part.value(name, 100) == whole.value(name, 8));
  }
}

TEST_CASE("a window that begins after the run is refused") {
  const Cycles end =
      make_timeline()->time(test::frictionless_chip(4, 4), test::small_multiply(), 1).cycles;
  CHECK(dump_small(all_of_4x4(end - 1, end + 5)).last_time() == end);
  CHECK_THROWS_WITH(dump_small(all_of_4x4(end, end + 5)),
                    "vcd-cycles: the run was over after " + std::to_string(end) +
                        " cycles (FROM:TO with FROM below that)");
}

TEST_CASE("edges are what enters and leaves, and the diagonal is whole PEs") {
  const auto names = [](const std::string& signals, const Chip& chip) {
    std::vector<std::string> found;
    for (const PeRegister& r :
         shown_registers(chip, test::small_multiply(), {.signals = parse_wave_signals(signals)})) {
      found.push_back(std::to_string(r.row) + "_" + std::to_string(r.column) + "." +
                      register_names()[static_cast<std::size_t>(r.reg)]);
    }
    return found;
  };
  Chip chip = test::frictionless_chip(3, 2);
  using Names = std::vector<std::string>;
  CHECK(names("edges", chip) == Names{"0_0.activation", "0_0.shadow", "0_1.shadow",
                                      "1_0.activation", "2_0.activation", "2_0.psum", "2_1.psum"});
  CHECK(names("diagonal", chip) == Names{"0_0.activation", "0_0.weight", "0_0.shadow", "0_0.psum",
                                         "1_1.activation", "1_1.weight", "1_1.shadow", "1_1.psum"});
  CHECK(names("rows 1:2,cols 1:2", chip) ==
        Names{"1_1.activation", "1_1.weight", "1_1.shadow", "1_1.psum"});
  CHECK(names("rows 1:2, cols 1:2", chip) == names("rows 1:2,cols 1:2", chip));
  chip.array.double_buffered_weights = false;
  CHECK(names("edges", chip) == Names{"0_0.activation", "0_0.weight", "0_1.weight",
                                      "1_0.activation", "2_0.activation", "2_0.psum", "2_1.psum"});
  chip.array.dataflow = Dataflow::output_stationary;
  CHECK(names("edges", chip) == Names{"0_0.activation", "0_0.weight", "0_1.weight",
                                      "1_0.activation", "2_0.activation", "2_0.psum", "2_1.psum"});
  chip.array.double_buffered_weights = true;
  CHECK(names("rows 1:2,cols 1:2", chip) ==
        Names{"1_1.activation", "1_1.weight", "1_1.psum", "1_1.drain"});
  chip.array.dataflow = Dataflow::input_stationary;
  CHECK(names("edges", chip) == Names{"0_0.weight", "0_0.shadow", "0_1.shadow", "1_0.weight",
                                      "2_0.weight", "2_0.psum", "2_1.psum"});
  chip = test::frictionless_chip(1, 1);
  CHECK(names("edges", chip) == Names{"0_0.activation", "0_0.shadow", "0_0.psum"});
}

TEST_CASE("more signals than 4096 are refused") {
  const Chip chip = test::frictionless_chip(64, 64);
  CHECK(shown_registers(chip, test::small_multiply(),
                        {.signals = parse_wave_signals("rows 0:32,cols 0:32")})
            .size() == 4096);
  CHECK(refusal("rows 0:33,cols 0:32", chip) ==
        "vcd-signals: 4224 signals are too many (at most 4096)");
}

TEST_CASE("signals and cycles that there are not are refused") {
  const std::string choices = " is not a choice (edges, diagonal, or rows R0:R1,cols C0:C1)";
  CHECK(refusal("edge") == "vcd-signals: 'edge'" + choices);
  CHECK(refusal("rows 0:4") == "vcd-signals: 'rows 0:4'" + choices);
  CHECK(refusal("rows 0:4,cols") == "vcd-signals: 'rows 0:4,cols'" + choices);
  CHECK(refusal("rows 0:4,cols 1-2") == "vcd-signals: 'rows 0:4,cols 1-2'" + choices);
  CHECK(refusal("rows 0:4,cols 0:99999999999999999999") != "");
  CHECK(refusal("rows 0:5,cols 0:4") ==
        "vcd-signals: rows 0:5 (FIRST:END from 0:1 to 0:4, END not included)");
  CHECK(refusal("rows 2:2,cols 0:4") ==
        "vcd-signals: rows 2:2 (FIRST:END from 0:1 to 0:4, END not included)");
  CHECK(refusal("rows 0:4,cols -1:4") != "");
  CHECK(refusal("edges", test::frictionless_chip(4, 4), 5, 5) != "");
  CHECK(parse_cycles("5:6") == std::pair<Cycles, Cycles>{5, 6});
  for (const char* text : {"", "5", "5:", ":5", "5:5", "6:5", "-1:5", "1:2:3", "a:b", "1: 2",
                           "0:99999999999999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_cycles(text),
                      Catch::StartsWith("vcd-cycles: '") && Catch::Contains("FROM:TO"));
  }
}

TEST_CASE("engines without registers refuse to show them") {
  RunOptions options;
  options.waveform = WaveformOptions{};
  for (const auto& engine : {make_timeline(), make_systemc(MatrixUnit::tile)}) {
    CHECK_THROWS_WITH(
        engine->time(test::frictionless_chip(4, 4), test::small_multiply(), 1, options),
        Catch::Contains("does not model the array's registers") && Catch::Contains("systemc"));
  }
}
