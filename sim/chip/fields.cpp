#include "sim/chip/fields.h"

#include "sim/chip/field_types.h"

namespace tilewave::sim::chip_file {
namespace {

/// Above every real chip, and low enough that no sum of cycles overflows.
constexpr std::int64_t kManyCycles = 1'000'000;
constexpr double kManyPicojoules = 1e9;

yaml::Names<Dataflow> dataflow_names() {
  yaml::Names<Dataflow> names;
  for (const std::string_view name : kDataflowNames) {
    names.emplace_back(static_cast<Dataflow>(names.size()), name);
  }
  return names;
}

Group array_fields(Array& array) {
  return {
      "array",
      "The systolic array.",
      {integer("rows", array.rows, {1, 65536},
               "Rows: the contraction dimension; output_stationary: pixels."),
       integer("cols", array.cols, {1, 65536},
               "Columns: output channels; input_stationary: pixels."),
       choice("dataflow", array.dataflow, dataflow_names(), "Which operand stays in the array."),
       flag("double_buffered_weights", array.double_buffered_weights,
            "Whether there is a second plane of what stays in the array: of weights, "
            "activations or sums. With it a tile can be shifted in, or sums out, while "
            "another is multiplied."),
       integer("weight_rows_per_cycle", array.weight_rows_per_cycle, {1, 65536},
               "Rows of a weight tile shifted in per cycle; at most the array's rows, and 1 "
               "unless weight_stationary.")}};
}

Group precision_fields(Precision& precision) {
  constexpr Integers kBits{2, 8, 16};
  return {"precision",
          "Number formats of the array.",
          {integer("activation_bits", precision.activation_bits, kBits,
                   "Widest activation, in bits; more than 8 halves the speed."),
           integer("weight_bits", precision.weight_bits, kBits,
                   "Widest weight, in bits; more than 8 halves the speed."),
           integer("accumulator_bits", precision.accumulator_bits,
                   {quant::kMinAccumulatorBits, quant::kMaxAccumulatorBits},
                   "Width of an accumulator, in bits."),
           choice("overflow", precision.overflow,
                  {{Overflow::wrap, "wrap"}, {Overflow::saturate, "saturate"}},
                  "What an accumulator does at its limits.")}};
}

Group accumulator_fields(Accumulators& accumulators) {
  return {"accumulators",
          "Where partial sums are kept.",
          {integer("depth", accumulators.depth, {1, 1 << 24},
                   "Rows of one entry for each column of the array.")}};
}

Group unified_buffer_fields(UnifiedBuffer& buffer) {
  return {"unified_buffer",
          "On-chip memory of activations.",
          {integer("capacity_kib", buffer.capacity_kib, {1, 1 << 21}, "Capacity, in KiB."),
           integer("row_bytes", buffer.row_bytes, {1, 1 << 20},
                   "Width of each port, in bytes per cycle.")}};
}

Group weight_memory_fields(WeightMemory& memory) {
  return {"weight_memory",
          "Off-chip memory of weights, and the FIFO behind it.",
          {integer("capacity_mib", memory.capacity_mib, {1, 1 << 24}, "Capacity, in MiB."),
           bandwidth("bandwidth_gb_per_s", memory.bandwidth,
                     "Bandwidth, in 10^9 bytes per second, kept to the byte."),
           real("latency_ns", memory.latency_ns, {0, 1e9},
                "From a request to its first byte, in nanoseconds, kept to the picosecond."),
           integer("fifo_tiles", memory.fifo_tiles, {1, 1024}, "Depth of the FIFO, in tiles."),
           flag("packed_tiles", memory.packed_tiles,
                "Whether a tile takes only the bytes it uses, not a whole array's worth."),
           flag("packed_bits", memory.packed_bits,
                "Whether a weight takes only its weight_bits, not a whole byte or two; a tile ends "
                "with its last byte.")}};
}

Group host_link_fields(HostLink& link) {
  return {"host_link",
          "Link to the host's memory, one engine each way.",
          {bandwidth("bandwidth_gb_per_s", link.bandwidth,
                     "Bandwidth each way, in 10^9 bytes per second, kept to the byte."),
           real("latency_us", link.latency_us, {0, 1e6},
                "Added to each transfer, in microseconds, kept to the picosecond.")}};
}

Group activation_unit_fields(ActivationUnit& unit) {
  return {
      "activation_unit",
      "Requantization, nonlinearity and pooling.",
      {integer("pipeline_depth", unit.pipeline_depth, {0, kManyCycles}, "Latency, in cycles.")}};
}

Group systolic_data_setup_fields(SystolicDataSetup& setup) {
  return {"systolic_data_setup",
          "What turns the buffer's rows into rows of the array.",
          {choice<std::string>("im2col", setup.im2col, {{"on_the_fly", "on_the_fly"}},
                               "How the input of a convolution becomes rows."),
           real("gather_rows_per_cycle", setup.gather_rows_per_cycle, {0, 1, true},
                "Rows gathered per cycle.")}};
}

Group sequencer_fields(Sequencer& sequencer) {
  return {"sequencer",
          "Issues the instructions in order.",
          {integer("issue_cycles", sequencer.issue_cycles, {0, kManyCycles},
                   "Cycles between one issue and the next."),
           limit("queue_depth", sequencer.queue_depth, {1, kManyCycles},
                 "Instructions that wait at each unit.")}};
}

Group energy_fields(Energy& energy) {
  const Reals range{0, kManyPicojoules};
  return {"energy",
          "Energy of each event, and static power.",
          {real("mac_pj", energy.mac_pj, range, "One multiply-accumulate, in pJ."),
           real("accumulator_pj_per_byte", energy.accumulator_pj_per_byte, range,
                "One byte read from or written to the accumulators, in pJ."),
           real("unified_buffer_pj_per_byte", energy.unified_buffer_pj_per_byte, range,
                "One byte read from or written to the unified buffer, in pJ."),
           real("weight_memory_pj_per_byte", energy.weight_memory_pj_per_byte, range,
                "One byte read from the weight memory, in pJ."),
           real("host_link_pj_per_byte", energy.host_link_pj_per_byte, range,
                "One byte moved over the host link, in pJ."),
           real("static_watts", energy.static_watts, {0, 1e6},
                "Power that does not depend on the work, in W.")}};
}

}  // namespace

std::vector<Group> fields_of(Chip& chip) {
  return {{"",
           "",
           {identifier("name", chip.name, "Name of the chip, as results print it."),
            real("clock_mhz", chip.clock_mhz, {0.001, 100'000},
                 "Clock of all units, in MHz, to the hertz.")}},
          array_fields(chip.array),
          precision_fields(chip.precision),
          accumulator_fields(chip.accumulators),
          unified_buffer_fields(chip.unified_buffer),
          weight_memory_fields(chip.weight_memory),
          host_link_fields(chip.host_link),
          activation_unit_fields(chip.activation_unit),
          systolic_data_setup_fields(chip.systolic_data_setup),
          sequencer_fields(chip.sequencer),
          energy_fields(chip.energy)};
}

}  // namespace tilewave::sim::chip_file
