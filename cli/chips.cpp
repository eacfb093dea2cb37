#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "sim/chip/chip.h"
#include "sim/report/figures.h"

namespace tilewave::cli {
namespace {

std::string line(const sim::Chip& chip) {
  const auto& bandwidth = chip.weight_memory.bandwidth;
  return fmt::format(
      " {:<14} {:>11} {:>6} {:>10.3f} {:>8} {:>12} {:>12}\n", chip.name,
      fmt::format("{} x {}", chip.array.rows, chip.array.cols), chip.clock_mhz,
      sim::peak_tops(chip),
      fmt::format("{} x {}", chip.precision.activation_bits, chip.precision.weight_bits),
      sim::grouped(chip.unified_buffer.capacity_kib),
      bandwidth ? sim::with_prefix(static_cast<double>(*bandwidth), "B/s") : "unlimited");
}

void list_chips() {
  std::string text = fmt::format(" {:<14} {:>11} {:>6} {:>10} {:>8} {:>12} {:>12}\n", "chip",
                                 "array", "MHz", "peak TOPS", "bits", "buffer KiB", "weights");
  for (const std::string& name : sim::chip_names()) text += line(sim::load_chip(name));
  print(text);
}

}  // namespace

Command add_chips(CLI::App& app) {
  return {app.add_subcommand("chips", "list the chips that come with tilewave"), list_chips};
}

}  // namespace tilewave::cli
