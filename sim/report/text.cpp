#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "sim/report/figures.h"
#include "sim/report/report.h"

namespace tilewave::sim {
namespace {

struct ClassLine {
  const char* name;
  const char* short_name;
  Cycles CycleClasses::*cycles;
  Colour colour;
};
constexpr std::array<ClassLine, 8> kClassLines = {{
    {"active", "active", &CycleClasses::active, Colour::green},
    {"weight stall", "weight stall", &CycleClasses::weight_stall, Colour::red},
    {"weight shift", "weight shift", &CycleClasses::weight_shift, Colour::magenta},
    {"input stall", "input stall", &CycleClasses::input_stall, Colour::yellow},
    {"RAW stall", "RAW stall", &CycleClasses::raw_stall, Colour::blue},
    {"accumulator stall", "accum. stall", &CycleClasses::accumulator_stall, Colour::cyan},
    {"drain", "drain", &CycleClasses::drain, Colour::plain},
    {"idle", "idle", &CycleClasses::idle, Colour::dim},
}};
/// A longer network shows the layers that take the most cycles; the files have all of them.
constexpr std::size_t kLayerLines = 12;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string label(const Style& style, const std::string& text) {
  return style.paint(Colour::bold, fmt::format(" {:<9} ", text));
}

std::string bandwidth_text(const Bandwidth& bandwidth) {
  return bandwidth ? with_prefix(static_cast<double>(*bandwidth), "B/s") : "unlimited";
}

std::string what_ran(const Report& r, const Style& style) {
  const Chip& chip = r.chip;
  std::string text = style.paint(
      Colour::bold, fmt::format(" {} on {}", shortened(r.model, 28), shortened(chip.name, 28)));
  text += style.paint(Colour::dim, fmt::format("   tilewave {}, engine {}\n", version(), r.engine));
  text +=
      label(style, "chip") +
      fmt::format("{} x {} at {} MHz, {} x {} bit, buffer {} KiB, weights {}, host {}\n",
                  chip.array.rows, chip.array.cols, chip.clock_mhz, chip.precision.activation_bits,
                  chip.precision.weight_bits, grouped(chip.unified_buffer.capacity_kib),
                  bandwidth_text(chip.weight_memory.bandwidth),
                  bandwidth_text(chip.host_link.bandwidth));
  text += label(style, "images") + fmt::format("{} of {} in {} launches of {}", grouped(r.images),
                                               shortened(r.data, 16), grouped(r.launches),
                                               grouped(r.batch));
  if (r.padded_images > 0) text += fmt::format(", the last filled up by {}", r.padded_images);
  return text + "\n";
}

std::string accuracy_line(const Report& r, const Style& style) {
  std::vector<std::string> parts;
  if (r.accuracy) {
    parts.push_back(style.paint(Colour::green, percent(*r.accuracy, 2)) + " simulated");
  }
  if (r.accuracy_fp32) parts.push_back(percent(*r.accuracy_fp32, 2) + " fp32");
  if (r.agreement_fp32) {
    parts.push_back(percent(*r.agreement_fp32, 2) + " the same class as fp32");
  }
  return parts.empty() ? "" : label(style, "accuracy") + join(parts, "   ") + "\n";
}

std::string speed_lines(const Report& r, const Style& style) {
  const double peak = peak_tops(r.chip);
  return label(style, "speed") +
         style.paint(Colour::green,
                     grouped(static_cast<std::int64_t>(r.images_per_second())) + " images/s") +
         fmt::format("   {} cycles = {}   one batch: {}\n", grouped(r.result.cycles),
                     with_prefix(r.seconds(), "s"), with_prefix(r.latency_seconds(), "s")) +
         label(style, "work") +
         fmt::format("{:.2f} of {:.2f} TOPS: {} of the multipliers' time is useful\n",
                     tops(r.chip, r.result.total), peak,
                     percent(utilization(r.chip, r.result.total)));
}

std::string class_lines(const Report& r, const Style& style) {
  constexpr std::size_t kBar = 40;
  const Cycles total = r.result.cycles;
  std::string text = style.paint(Colour::bold, " where the cycles went\n");
  for (const ClassLine& line : kClassLines) {
    const Cycles cycles = r.result.total.classes.*line.cycles;
    const double share = share_of(cycles, total);
    std::string note;
    if (line.cycles == &CycleClasses::active) {
      note = "  useful " + percent(utilization(r.chip, r.result.total));
    }
    text += fmt::format("   {:<17} {} {:>7} {:>14}{}\n", line.name,
                        style.paint(line.colour, style.bar(share, kBar)), percent(share),
                        grouped(cycles), note);
  }
  return text;
}

const ClassLine& largest_class(const CycleClasses& classes) {
  return *std::max_element(kClassLines.begin(), kClassLines.end(),
                           [&](const ClassLine& a, const ClassLine& b) {
                             return classes.*a.cycles < classes.*b.cycles;
                           });
}

std::string layer_line(const Report& r, const Style& style, std::size_t index) {
  const Layer& layer = r.layers[index];
  const RunCounters& counters = r.result.layers[index];
  const Cycles cycles = counters.classes.total();
  const ClassLine& largest = largest_class(counters.classes);
  std::string text = fmt::format("   {:<12} {:<8} {:>6} {:>5} {:>6} {:>6} {:>12} {:>7} {:>7}  ",
                                 shortened(layer.name, 12), shortened(layer.operation, 8), layer.m,
                                 layer.n * layer.groups, layer.k, layer.tiles, grouped(cycles),
                                 percent(share_of(cycles, r.result.cycles)),
                                 percent(utilization(r.chip, counters)));
  if (cycles > 0) {
    text += style.paint(largest.colour,
                        fmt::format("{} {:.0f} %", largest.short_name,
                                    100 * share_of(counters.classes.*largest.cycles, cycles)));
  }
  return text + "\n";
}

/// The layers to show, in the network's order.
std::vector<std::size_t> shown_layers(const Report& r) {
  std::vector<std::size_t> order(r.layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= kLayerLines) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return r.result.layers[a].classes.total() > r.result.layers[b].classes.total();
  });
  order.resize(kLayerLines);
  std::sort(order.begin(), order.end());
  return order;
}

std::string layer_lines(const Report& r, const Style& style) {
  std::string text = style.paint(
      Colour::bold,
      fmt::format(" {:<14} {:<8} {:>6} {:>5} {:>6} {:>6} {:>12} {:>7} {:>7}  {}\n", "layer", "op",
                  "m", "n", "k", "tiles", "cycles", "share", "useful", "mostly"));
  const std::vector<std::size_t> shown = shown_layers(r);
  Cycles rest = r.result.cycles;
  for (const std::size_t index : shown) {
    text += layer_line(r, style, index);
    rest -= r.result.layers[index].classes.total();
  }
  if (shown.size() < r.layers.size()) {
    text += style.paint(Colour::dim, fmt::format("   and {} smaller layers: {} cycles ({})\n",
                                                 r.layers.size() - shown.size(), grouped(rest),
                                                 percent(share_of(rest, r.result.cycles))));
  }
  return text;
}

std::string bytes_text(Bytes bytes) {
  return with_prefix(static_cast<double>(bytes), "B");
}

/// What did not fit the unified buffer: how many layers, with the names of the first.
std::string named_layers(const Report& r, bool (*is_meant)(const Layer&)) {
  constexpr std::size_t kNames = 2;
  std::size_t count = 0;
  std::string names;
  for (const Layer& layer : r.layers) {
    if (!is_meant(layer)) continue;
    if (count < kNames) names += (count == 0 ? "" : ", ") + shortened(layer.name, 12);
    ++count;
  }
  if (count > kNames) names += ", ...";
  return fmt::format("{} layer{} ({})", count, count == 1 ? "" : "s", names);
}

std::string split_lines(const Report& r, const Style& style) {
  Bytes spilled = 0;
  std::int64_t bands = 1;
  for (const Layer& layer : r.layers) {
    spilled += layer.spilled_bytes;
    bands = std::max(bands, layer.bands);
  }
  std::string text;
  if (bands > 1) {
    text += label(style, "split") +
            fmt::format("into up to {} bands of rows an image: {}\n", grouped(bands),
                        named_layers(r, [](const Layer& layer) { return layer.bands > 1; }));
  }
  if (spilled > 0) {
    text += label(style, "spilled") +
            fmt::format("to the host and back: {} a launch: {}\n", bytes_text(spilled),
                        named_layers(r, [](const Layer& l) { return l.spilled_bytes > 0; }));
  }
  return text;
}

std::string byte_lines(const Report& r, const Style& style) {
  const BytesMoved& b = r.result.total.bytes;
  return label(style, "bytes") +
         fmt::format("host in {}, out {}; weights {}; buffer read {}, write {}\n",
                     bytes_text(b.host_in), bytes_text(b.host_out), bytes_text(b.weights),
                     bytes_text(b.unified_buffer_read), bytes_text(b.unified_buffer_write)) +
         label(style, "") +
         fmt::format(
             "accumulators read {}, write {}; buffer peak {} ({} of its size)\n",
             bytes_text(b.accumulator_read), bytes_text(b.accumulator_write),
             bytes_text(r.unified_buffer_peak),
             percent(share_of(r.unified_buffer_peak, r.chip.unified_buffer.capacity_kib * 1024)));
}

std::string energy_lines(const Report& r, const Style& style) {
  const EnergyParts e = energy(r.chip, r.result.total);
  const Energy& price = r.chip.energy;
  struct Part {
    const char* name;
    double price;
    double joules;
  };
  const std::array<Part, 6> parts = {
      {{"array", price.mac_pj, e.array},
       {"accumulators", price.accumulator_pj_per_byte, e.accumulators},
       {"buffer", price.unified_buffer_pj_per_byte, e.unified_buffer},
       {"weight memory", price.weight_memory_pj_per_byte, e.weight_memory},
       {"host link", price.host_link_pj_per_byte, e.host_link},
       {"static", price.static_watts, e.standby}}};
  std::vector<std::string> first_line;
  std::vector<std::string> second_line;
  std::vector<std::string> unknown;  // What costs nothing is what the chip gives no figure for.
  for (const Part& part : parts) {
    auto& line = first_line.size() < 3 ? first_line : second_line;
    if (part.price == 0) {
      unknown.emplace_back(part.name);
    } else {
      line.push_back(std::string(part.name) + " " + with_prefix(part.joules, "J"));
    }
  }
  const double per_image = r.images == 0 ? 0 : e.total() / static_cast<double>(r.images);
  std::string text = label(style, "energy") + with_prefix(e.total(), "J") + " (" +
                     with_prefix(per_image, "J") + " an image)";
  if (!first_line.empty()) text += ": " + join(first_line, ", ");
  if (!unknown.empty()) second_line.push_back("no figure for " + join(unknown, ", "));
  if (!second_line.empty()) text += "\n" + label(style, "") + join(second_line, ", ");
  return text + "\n";
}

/// Sums that left the accumulators' width, if any did.
std::string overflow_lines(const Report& r, const Style& style) {
  const std::int64_t total = total_overflows(r.result).value_or(0);
  if (total == 0) return "";
  const auto& counts = r.result.overflows;
  const auto most = std::max_element(counts.begin(), counts.end());
  const Layer& layer = r.layers[static_cast<std::size_t>(most - counts.begin())];
  const bool wraps = r.chip.precision.overflow == Overflow::wrap;
  return label(style, "overflows") +
         fmt::format("{} sums left the {} bits and {}; {} of them in {}\n", grouped(total),
                     r.chip.precision.accumulator_bits, wraps ? "wrapped" : "saturated",
                     percent(share_of(*most, total)), shortened(layer.name, 12));
}

std::string fault_lines(const Report& r, const Style& style) {
  if (!r.fault_effect) return "";
  const FaultEffect& effect = *r.fault_effect;
  const FaultOptions& faults = effect.faults;
  std::vector<std::string> parts;
  if (!faults.stuck.empty()) {
    parts.push_back(fmt::format("{} stuck bit{}, {} times another value than written",
                                faults.stuck.size(), faults.stuck.size() == 1 ? "" : "s",
                                grouped(r.result.faults.forced)));
  }
  if (faults.rate > 0) {
    parts.push_back(fmt::format("{} flips (rate {}, seed {})", grouped(r.result.faults.flips),
                                number_text(faults.rate), faults.seed));
  }
  return label(style, "faults") + join(parts, "; ") + "\n" + label(style, "") +
         fmt::format("changed {} of {} outputs, {} of {} classes\n",
                     grouped(effect.outputs_changed), grouped(effect.outputs),
                     grouped(effect.classes_changed), grouped(r.images));
}

std::string host_line(const Report& r, const Style& style) {
  const HostFigures& h = r.host;
  std::string text = fmt::format(" simulated in {:.2f} s", h.simulate_seconds);
  text += fmt::format(" with {} thread{}", h.threads, h.threads == 1 ? "" : "s");
  text += fmt::format("; load and quantize {:.2f} s, compile {:.2f} s", h.load_seconds,
                      h.compile_seconds);
  if (h.reference_seconds > 0) text += fmt::format(", fp32 {:.2f} s", h.reference_seconds);
  return style.paint(Colour::dim, text) + "\n";
}

}  // namespace

std::string to_text(const Report& report, const Style& style) {
  return what_ran(report, style) + accuracy_line(report, style) + speed_lines(report, style) +
         "\n" + class_lines(report, style) + "\n" + layer_lines(report, style) + "\n" +
         fault_lines(report, style) + overflow_lines(report, style) + split_lines(report, style) +
         byte_lines(report, style) + energy_lines(report, style) + host_line(report, style);
}

}  // namespace tilewave::sim
