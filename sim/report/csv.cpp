#include <fmt/format.h>

#include "sim/report/figures.h"
#include "sim/report/report.h"
#include "sim/report/style.h"

namespace tilewave::sim {
namespace {

std::string row(const Chip& chip, const Layer& layer, const RunCounters& counters,
                std::optional<std::int64_t> overflows) {
  const CycleClasses& c = counters.classes;
  const BytesMoved& b = counters.bytes;
  return fmt::format("{},{},{},{},{},{},{},{},", csv_field(layer.name), csv_field(layer.operation),
                     layer.m, layer.n, layer.k, layer.groups, layer.tiles, c.total()) +
         fmt::format("{},{},{},{},{},{},{},{},{},", c.active, active_useful(chip, counters),
                     c.weight_stall, c.weight_shift, c.input_stall, c.raw_stall,
                     c.accumulator_stall, c.drain, c.idle) +
         fmt::format("{},{},{},", counters.useful_macs, utilization(chip, counters),
                     tops(chip, counters)) +
         fmt::format("{},{},{},{},{},{},{},{},{}\n", b.host_in, b.host_out, b.weights,
                     b.unified_buffer_read, b.unified_buffer_write, b.accumulator_read,
                     b.accumulator_write, energy(chip, counters).total(),
                     overflows ? std::to_string(*overflows) : "");
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string text =
      "name,op,m,n,k,groups,tiles,cycles,"
      "active,active_useful,weight_stall,weight_shift,input_stall,raw_stall,accumulator_stall,"
      "drain,idle,macs,utilization,tops,host_in_bytes,host_out_bytes,weights_bytes,"
      "unified_buffer_read_bytes,unified_buffer_write_bytes,accumulator_read_bytes,"
      "accumulator_write_bytes,energy_joules,overflows\n";
  Layer total;
  total.name = "total";
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    text +=
        row(report.chip, report.layers[i], report.result.layers[i], overflows_of(report.result, i));
    total.tiles += report.layers[i].tiles;
  }
  return text + row(report.chip, total, report.result.total, total_overflows(report.result));
}

}  // namespace tilewave::sim
