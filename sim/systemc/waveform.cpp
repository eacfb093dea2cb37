#include "sim/systemc/waveform.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace tilewave::sim::systemc {
namespace {

/// Numbers of things, which can be any.
constexpr int kCountBits = 32;

std::int32_t count(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace

Waveform::Waveform(const WaveformOptions& options, const Chip& chip, const Program& program,
                   const Accelerator& accelerator)
    : from_(options.from), to_(options.to), file_(options.write) {
  const MatrixUnitBase& matrix = *accelerator.matrix;
  add_matrix_unit(matrix);
  add_registers(chip, program, options, *matrix.registers());
  add_blocks(accelerator);
}

void Waveform::add_matrix_unit(const MatrixUnitBase& matrix) {
  const std::string scope = "matrix_unit";
  file_.add(scope, "multiplying", 1, [&] { return matrix.entering().has_value(); });
  file_.add(scope, "shifting_in", 1, [&] { return matrix.is_shifting_in(); });
  file_.add(scope, "entering_row", kCountBits, [&] { return count(matrix.entering_row()); });
}

void Waveform::add_registers(const Chip& chip, const Program& program,
                             const WaveformOptions& options, const ArrayRegisters& registers) {
  for (const auto& [row, column, reg] : shown_registers(chip, program, options)) {
    file_.add("matrix_unit.pe_" + std::to_string(row) + "_" + std::to_string(column),
              register_names()[static_cast<std::size_t>(reg)],
              register_format(chip, program, reg).bits,
              [&registers, row = row, column = column, reg = reg] {
                return registers.read(reg, row, column);
              });
  }
}

void Waveform::add_blocks(const Accelerator& a) {
  file_.add("sequencer", "issued", kCountBits, [&] { return count(a.sequencer.issued()); });
  file_.add("host_interface", "busy_in", 1, [&] { return a.host_interface.is_busy_in(); });
  file_.add("host_interface", "busy_out", 1, [&] { return a.host_interface.is_busy_out(); });
  file_.add("weight_fetcher", "on_the_way", kCountBits,
            [&] { return count(a.weight_fetcher.on_the_way()); });
  file_.add("weight_fifo", "tiles", kCountBits, [&] { return count(a.weight_fifo.tiles()); });
  file_.add("activation_unit", "reading", 1, [&] { return a.activation.is_reading(); });
  file_.add("activation_unit", "in_pipeline", kCountBits,
            [&] { return count(a.activation.in_pipeline()); });
}

std::optional<Cycles> Waveform::next_stop(Cycles now) const {
  if (now >= to_) return std::nullopt;
  return std::max(now, from_) + 1;
}

void Waveform::look(Cycles now) {
  const Cycles cycle = now - 1;
  if (cycle >= from_ && cycle < to_) file_.sample(cycle);
}

void Waveform::finish(Cycles cycles) {
  if (!file_.has_samples()) {
    throw InputError("vcd-cycles", "the run was over after " + std::to_string(cycles) + " cycles",
                     "FROM:TO with FROM below that");
  }
  file_.finish(std::min(cycles, to_));
}

}  // namespace tilewave::sim::systemc
