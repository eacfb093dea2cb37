#include "sim/registers.h"

namespace tilewave::sim {

const std::vector<std::string>& register_names() {
  static const std::vector<std::string> kNames = {"activation", "weight", "shadow", "psum",
                                                  "drain"};
  return kNames;
}

std::int32_t RegisterFormat::held(std::int64_t value) const {
  const int unused = 64 - bits;
  const std::uint64_t top = static_cast<std::uint64_t>(value) << unused;
  return static_cast<std::int32_t>(is_signed ? static_cast<std::int64_t>(top) >> unused
                                             : static_cast<std::int64_t>(top >> unused));
}

std::int32_t RegisterFormat::with_bit(std::int32_t value, int bit, bool is_set) const {
  const std::int64_t mask = std::int64_t{1} << bit;
  return held(is_set ? value | mask : value & ~mask);
}

namespace {

RegisterFormat operand_format(int bits, bool is_signed, bool stays) {
  constexpr int kByteAndSign = 9;
  return bits > 8 && !stays ? RegisterFormat{kByteAndSign, true} : RegisterFormat{bits, is_signed};
}

}  // namespace

RegisterFormat register_format(const Chip& chip, const Program& program, Register reg) {
  const Precision& precision = chip.precision;
  const Array& array = chip.array;
  const bool sums_stay = array.dataflow == Dataflow::output_stationary;
  const bool inputs_stay = array.dataflow == Dataflow::input_stationary;
  const RegisterFormat activation =
      operand_format(precision.activation_bits, program.activation_format.is_signed, inputs_stay);
  const RegisterFormat weight =
      operand_format(precision.weight_bits, program.weight_format.is_signed,
                     array.dataflow == Dataflow::weight_stationary);
  switch (reg) {
    case Register::activation:
      return activation;
    case Register::weight:
      return weight;
    case Register::shadow:
      if (sums_stay || !array.double_buffered_weights) return {};
      return inputs_stay ? activation : weight;
    case Register::drain:
      if (!sums_stay || !array.double_buffered_weights) return {};
      return {precision.accumulator_bits, true};
    default:
      return {precision.accumulator_bits, true};
  }
}

}  // namespace tilewave::sim
