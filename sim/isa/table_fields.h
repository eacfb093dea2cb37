#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "sim/isa/opcode_fields.h"
#include "sim/isa/program.h"

// The one description of what a program's tables hold, in order, and of the keys in assembly text:
// fields(visit, entry) calls visit(key, value) for each. The binary and the text form, reading and
// writing, are four visitors.

namespace tilewave::sim {

/// T is U or const U.
template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// Values that are written as one, with `separator` between: kernel=2x2.
template <char separator, typename... T>
struct Joined {
  std::tuple<T&...> parts;
};
template <char separator, typename... T>
Joined<separator, T...> joined(T&... parts) {
  return {std::tie(parts...)};
}

/// Names of an enumeration's values, in order.
template <typename E>
struct EnumNames;
template <>
struct EnumNames<quant::RequantizeMode> {
  static constexpr std::array<std::string_view, 3> names = {"float", "fixed_point",
                                                            "fixed_point_single_rounding"};
};
template <>
struct EnumNames<Dataflow> {
  static constexpr auto names = kDataflowNames;
};
template <>
struct EnumNames<Pool::Kind> {
  static constexpr std::array<std::string_view, 2> names = {"max", "average"};
};

auto shape_of(Is<models::Shape> auto& s) {
  return joined<'x'>(s.height, s.width, s.channels);
}

void fields(auto& visit, Is<Program> auto& p) {
  visit("name", p.name);
  visit("batch", p.batch);
  visit("dataflow", p.dataflow);
  visit("activation_bits", p.activation_format.bits);
  visit("activation_signed", p.activation_format.is_signed);
  visit("activation_symmetric", p.activation_format.symmetric);
  visit("weight_bits", p.weight_format.bits);
  visit("weight_signed", p.weight_format.is_signed);
  visit("weight_symmetric", p.weight_format.symmetric);
  visit("host_scratch_bytes", p.host_scratch_bytes);
  visit("ping_pong", joined<','>(p.ping_pong.base, p.ping_pong.half));
  visit("unified_buffer_peak", p.unified_buffer_peak);
}

/// Without the format, which follows from the program's activation format and the bits.
void fields(auto& visit, Is<HostTensor> auto& t) {
  visit("shape", shape_of(t.layout.shape));
  visit("block", t.layout.block);
  visit("scale", t.quantization.scale);
  visit("zero_point", t.quantization.zero_point);
  visit("bits", t.bits);
}

void fields(auto& visit, Is<Layer> auto& l) {
  visit("name", l.name);
  visit("operation", l.operation);
  visit("m", l.m);
  visit("n", l.n);
  visit("k", l.k);
  visit("groups", l.groups);
  visit("tiles", l.tiles);
  visit("compulsory_bytes", l.compulsory_bytes);
  visit("bands", l.bands);
  visit("spilled_bytes", l.spilled_bytes);
}

void fields(auto& visit, Is<models::Window> auto& w) {
  visit("kernel", joined<'x'>(w.kernel_height, w.kernel_width));
  visit("stride", joined<'x'>(w.stride_height, w.stride_width));
  visit("dilation", joined<'x'>(w.dilation_height, w.dilation_width));
  visit("pad", joined<','>(w.pad_top, w.pad_left, w.pad_bottom, w.pad_right));
}

void fields(auto& visit, Is<Setup> auto& s) {
  visit("source", shape_of(s.source.shape));
  visit("block", s.source.block);
  visit("images", s.images);
  fields(visit, s.window);
  visit("output", shape_of(s.output));
  visit("channel_first", s.channel_first);
  visit("channel_count", s.channel_count);
  visit("zero_point", s.zero_point);
}

void fields(auto& visit, Is<Columns> auto& c) {
  visit("mode", c.requantizer.mode);
  visit("bias", c.bias);
  visit("multiplier", c.requantizer.multiplier);
  visit("fixed_point", c.requantizer.fixed_point);
  visit("zero_point", c.requantizer.zero_point);
  visit("low", c.requantizer.low);
  visit("high", c.requantizer.high);
}

void fields(auto& visit, Is<Pool> auto& p) {
  visit("kind", p.kind);
  fields(visit, p.window);
  visit("input", shape_of(p.input));
  visit("output", shape_of(p.output));
  visit("count_include_pad", p.count_include_pad);
  visit("pad_value", p.pad_value);
  visit("mode", p.mode);
}

void fields(auto& visit, Is<VectorAdd> auto& a) {
  visit("width", a.width);
  visit("a_stride", a.a_stride);
  visit("b_stride", a.b_stride);
  visit("to_stride", a.destination_stride);
  visit("mode", a.adder.mode);
  visit("a_zero_point", a.adder.a_zero_point);
  visit("b_zero_point", a.adder.b_zero_point);
  visit("a_multiplier", a.adder.a_multiplier);
  visit("b_multiplier", a.adder.b_multiplier);
  visit("a_fixed", a.adder.a_fixed);
  visit("b_fixed", a.adder.b_fixed);
  visit("to_fixed", a.adder.y_fixed);
  visit("left_shift", a.adder.left_shift);
  visit("zero_point", a.adder.zero_point);
  visit("low", a.adder.low);
  visit("high", a.adder.high);
}

void fields(auto& visit, Is<Table> auto& t) {
  visit("values", t.values);
}

/// Calls function(name of the entry, entries) for each table that a register selects from, in
/// the registers' order.
void for_each_table(Is<Program> auto& p, auto function) {
  const auto name = [](ConfigRegister reg) { return kRegisterNames[static_cast<int>(reg)]; };
  function(name(ConfigRegister::layer), p.layers);
  function(name(ConfigRegister::setup), p.setups);
  function(name(ConfigRegister::columns), p.columns);
  function(name(ConfigRegister::pool), p.pools);
  function(name(ConfigRegister::add), p.adds);
  function(name(ConfigRegister::table), p.tables);
}

/// The formats of the host's tensors and the tiles' places are not stored: they follow from the
/// rest. Sums stop before they would overflow; validation refuses such a program.
void derive(Program& program);

}  // namespace tilewave::sim
