#include <fmt/format.h>

#include <array>

#include "sim/report/figures.h"
#include "sim/report/report.h"

namespace tilewave::sim {
namespace {

/// Jouppi et al., "In-Datacenter Performance Analysis of a Tensor Processing Unit", ISCA 2017,
/// table 3, in its own order of columns.
constexpr std::array<const char*, 6> kApplications = {"MLP0",  "MLP1", "LSTM0",
                                                      "LSTM1", "CNN0", "CNN1"};
struct Row {
  const char* name;
  std::array<double, 6> paper;
};
constexpr std::array<Row, 9> kRows = {{
    {"array active cycles, %", {12.7, 10.6, 8.2, 10.5, 78.2, 46.2}},
    {"  useful multipliers, %", {12.5, 9.4, 8.2, 6.3, 78.2, 22.5}},
    {"  unused multipliers, %", {0.3, 1.2, 0.0, 4.2, 0.0, 23.7}},
    {"weight stall cycles, %", {53.9, 44.2, 58.1, 62.1, 0.0, 28.1}},
    {"weight shift cycles, %", {15.9, 13.4, 15.8, 17.1, 0.0, 7.0}},
    {"non-matrix cycles, %", {17.5, 31.9, 17.9, 10.3, 21.8, 18.7}},
    {"RAW stalls, %", {3.3, 8.4, 14.6, 10.6, 3.5, 22.8}},
    {"input data stalls, %", {6.1, 8.8, 5.1, 2.4, 3.4, 0.6}},
    {"TeraOps/s", {12.3, 9.7, 3.7, 2.8, 86.0, 14.1}},
}};

std::array<double, 9> figures(const Report& report) {
  const RunCounters& total = report.result.total;
  const CycleClasses& c = total.classes;
  const auto share = [&](double cycles) {
    return report.result.cycles == 0 ? 0 : 100 * cycles / static_cast<double>(report.result.cycles);
  };
  const auto share_of = [&](Cycles cycles) { return share(static_cast<double>(cycles)); };
  const double useful = active_useful(report.chip, total);
  // The paper's RAW and input stalls overlap with its other rows: they are taken from `waiting`.
  return {share_of(c.active),
          share(useful),
          share(static_cast<double>(c.active) - useful),
          share_of(c.weight_stall),
          share_of(c.weight_shift),
          share_of(c.input_stall + c.raw_stall + c.accumulator_stall + c.idle + c.drain),
          share_of(total.waiting.raw_stall),
          share_of(total.waiting.input_stall),
          tops(report.chip, total)};
}

}  // namespace

std::string to_paper_table(const Report& report) {
  std::string text = fmt::format(" {:<24} {:>9}   ", "", "this run");
  for (const char* name : kApplications) text += fmt::format("{:>7}", name);
  text += "\n";
  const std::array<double, 9> ours = figures(report);
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    text += fmt::format(" {:<24} {:>9.1f}   ", kRows[i].name, ours[i]);
    for (const double value : kRows[i].paper) text += fmt::format("{:>7.1f}", value);
    text += "\n";
  }
  return text + fmt::format(
                    " this run: {} on {}, batch {}, peak {:.1f} TeraOps/s\n"
                    " others: TPU v1's counters, Jouppi et al., ISCA 2017, table 3 (peak 92)\n",
                    shortened(report.model, 30), shortened(report.chip.name, 30), report.batch,
                    peak_tops(report.chip));
}

}  // namespace tilewave::sim
