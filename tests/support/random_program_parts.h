#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/graph.h"
#include "tests/support/random_program.h"

// What random_program.cpp puts random programs together from, convolutions excepted: number
// formats, places in the unified buffer, transfers and vector operations.

namespace tilewave::test::random_parts {

using namespace sim;
using models::Shape;
using models::Window;

/// A tensor that is in the unified buffer, whole.
struct Tensor {
  Layout layout;
  std::int64_t address = 0;
};

class ProgramParts {
 protected:
  ProgramParts(std::uint32_t seed, const RandomProgramLimits& limits)
      : random_(seed), limits_(limits) {}

  /// In [low, high]; the standard distributions differ between libraries.
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return pick(1, n) == 1; }

  std::int64_t bytes_of(const Layout& layout) const {
    return layout.shape.elements() * p_.batch * p_.activation_format.bytes();
  }
  std::int32_t activation() {
    return static_cast<std::int32_t>(
        pick(p_.activation_format.qmin(), p_.activation_format.qmax()));
  }

  void start() {
    p_.name = "random";
    p_.batch = pick(1, 3);
    p_.dataflow = limits_.dataflow;
    const int bits[] = {8, 8, 4, 16};
    p_.activation_format = {bits[pick(0, 3)], true, one_in(2)};
    p_.weight_format = {one_in(4) ? 16 : 8, true, one_in(2)};
    if (p_.activation_format.bits < 16 && one_in(4)) p_.activation_format = {8, false, false};
    p_.unified_buffer_peak = limits_.unified_buffer_bytes;
    if (one_in(2)) {
      const std::int64_t half = pick(1, limits_.unified_buffer_bytes / 2);
      const std::int64_t base = pick(0, limits_.unified_buffer_bytes - 2 * half);
      p_.ping_pong = {static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(half)};
    }
    do {
      p_.input.layout.shape = {pick(1, 6), pick(1, 6), pick(1, 5)};
      p_.input.layout.block = pick(1, p_.input.layout.shape.channels);
    } while (8 * bytes_of(p_.input.layout) > limits_.unified_buffer_bytes);
    p_.input.quantization = {p_.activation_format, 0.5f, activation()};
  }

  // --- Buffers ---

  /// A place for `layout` that leaves `kept` alone; what else was there is gone.
  std::optional<Tensor> allocate(const Layout& layout, std::initializer_list<Tensor> kept) {
    const std::int64_t size = bytes_of(layout);
    const auto overlaps = [&](const Tensor& t, std::int64_t address) {
      return t.address < address + size && address < t.address + bytes_of(t.layout);
    };
    for (int attempt = 0; attempt < 20 && size <= limits_.unified_buffer_bytes; ++attempt) {
      const std::int64_t address = pick(0, limits_.unified_buffer_bytes - size);
      const auto is_kept = [&](const Tensor& t) { return overlaps(t, address); };
      if (crosses_edge(address, size) || std::any_of(kept.begin(), kept.end(), is_kept)) continue;
      std::erase_if(live_, is_kept);
      return Tensor{layout, address};
    }
    return std::nullopt;
  }
  bool crosses_edge(std::int64_t address, std::int64_t size) const {
    const std::int64_t base = p_.ping_pong.base, half = p_.ping_pong.half;
    for (const std::int64_t edge : {base, base + half, base + 2 * half}) {
      if (half > 0 && address < edge && edge < address + size) return true;
    }
    return false;
  }
  Tensor any_live() { return live_[static_cast<std::size_t>(pick(0, std::ssize(live_) - 1))]; }

  // --- Instructions ---

  void emit(const Instruction& instruction) { p_.instructions.push_back(instruction); }
  void config(ConfigRegister reg, std::size_t value) {
    emit({.opcode = Opcode::set_config, .reg = reg, .value = static_cast<std::uint32_t>(value)});
  }
  template <typename Entry>
  void select(ConfigRegister reg, std::vector<Entry>& table, Entry entry) {
    table.push_back(std::move(entry));
    config(reg, table.size() - 1);
  }
  void begin_layer(const std::string& operation, std::int64_t m = 0, std::int64_t n = 0,
                   std::int64_t k = 0) {
    Layer layer;
    layer.name = operation + " " + std::to_string(p_.layers.size());
    layer.operation = operation;
    layer.m = m;
    layer.n = n;
    layer.k = k;
    select(ConfigRegister::layer, p_.layers, layer);
  }
  static std::uint32_t u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

  /// A whole tensor from or to host memory, in one row or one per image; returns the bytes that
  /// it spans there.
  void transfer(Opcode opcode, HostSpace space, const Tensor& tensor, std::int64_t rows,
                std::int64_t gap) {
    Instruction i;
    i.opcode = opcode;
    i.space = space;
    i.unified_buffer = u32(tensor.address);
    i.rows = u32(rows);
    i.row_bytes = u32(bytes_of(tensor.layout) / rows);
    i.stride = i.row_bytes + u32(gap);
    i.stride_b = i.row_bytes;
    emit(i);
  }

  void read_input() {
    const auto tensor = allocate(p_.input.layout, {});
    if (!tensor) return;
    begin_layer("Input");
    transfer(Opcode::read_host, HostSpace::input, *tensor, one_in(2) ? 1 : p_.batch, 0);
    live_.push_back(*tensor);
  }

  void write_output() {
    begin_layer("Output");
    const Tensor tensor = live_.back();
    p_.output = {tensor.layout, {p_.activation_format, 1.0f, activation()}};
    transfer(Opcode::write_host, HostSpace::output, tensor, one_in(2) ? 1 : p_.batch, 0);
  }

  void through_scratch() {
    const Tensor from = any_live();
    const auto to = allocate(from.layout, {});
    if (!to) return;
    begin_layer("Spill");
    const std::int64_t rows = one_in(2) ? 1 : p_.batch;
    const std::int64_t gap = pick(0, 3);
    p_.host_scratch_bytes =
        std::max(p_.host_scratch_bytes, bytes_of(from.layout) + (rows - 1) * gap);
    transfer(Opcode::write_host, HostSpace::scratch, from, rows, gap);
    transfer(Opcode::read_host, HostSpace::scratch, *to, rows, gap);
    live_.push_back(*to);
  }

  // --- Vector operations ---

  std::optional<Window> random_window(const Shape& input, bool is_pool) {
    Window w;
    w.kernel_height = pick(1, std::min<std::int64_t>(3, input.height));
    w.kernel_width = pick(1, std::min<std::int64_t>(3, input.width));
    w.stride_height = is_pool && one_in(2) ? w.kernel_height : pick(1, 2);
    w.stride_width = is_pool && one_in(2) ? w.kernel_width : pick(1, 2);
    if (one_in(4)) w.dilation_height = 2;
    if (one_in(4)) w.dilation_width = 2;
    if (one_in(2)) {
      w.pad_top = pick(0, w.kernel_height - 1);
      w.pad_left = pick(0, w.kernel_width - 1);
      w.pad_bottom = pick(0, w.kernel_height - 1);
      w.pad_right = pick(0, w.kernel_width - 1);
    }
    const bool fits = (w.kernel_height - 1) * w.dilation_height < input.height &&
                      (w.kernel_width - 1) * w.dilation_width < input.width;
    return fits ? std::optional(w) : std::nullopt;
  }

  Pool random_pool(const Window& window, const Shape& input, std::int64_t channels) {
    Pool pool;
    pool.kind = one_in(2) ? Pool::Kind::max : Pool::Kind::average;
    pool.window = window;
    pool.input = {input.height, input.width, channels};
    pool.output = models::pooled_shape(window, pool.input, "random pool");
    pool.count_include_pad = one_in(2);
    pool.pad_value = pool.kind == Pool::Kind::max ? p_.activation_format.qmin() : activation();
    pool.mode = static_cast<quant::RequantizeMode>(pick(0, 2));
    return pool;
  }

  void pool() {
    const Tensor from = any_live();
    const auto window = random_window(from.layout.shape, true);
    if (!window) return;
    Layout layout = from.layout;
    layout.shape = models::pooled_shape(*window, layout.shape, "random pool");
    const auto to = allocate(layout, {from});
    if (!to) return;
    begin_layer("Pool");
    const std::int64_t rows = layout.shape.pixels() * p_.batch;
    for (std::int64_t plane = 0; plane < layout.planes(); ++plane) {
      select(ConfigRegister::pool, p_.pools,
             random_pool(*window, from.layout.shape, layout.plane_channels(plane)));
      Instruction i;
      i.opcode = Opcode::vector_pool;
      i.unified_buffer = plane_address(from, plane);
      i.destination = plane_address(*to, plane);
      for (std::int64_t first = 0; first < rows; first += i.rows) {
        i.first = u32(first);
        i.rows = u32(pick(1, rows - first));
        emit(i);
      }
    }
    live_.push_back(*to);
  }
  std::uint32_t plane_address(const Tensor& tensor, std::int64_t plane) const {
    return u32(tensor.address +
               tensor.layout.plane_offset(plane, p_.batch) * p_.activation_format.bytes());
  }

  void lookup() {
    // 16 bits have tables of 65,536 entries: too long for a test of many programs.
    const Tensor from = any_live();
    if (p_.activation_format.bits == 16) return;
    const auto to = allocate(from.layout, {from});
    if (!to) return;
    begin_layer("Lookup");
    Table table;
    for (std::int32_t q = p_.activation_format.qmin(); q <= p_.activation_format.qmax(); ++q) {
      table.values.push_back(static_cast<std::int16_t>(activation()));
    }
    select(ConfigRegister::table, p_.tables, std::move(table));
    const std::int64_t rows = one_in(2) ? 1 : p_.batch;
    emit({.opcode = Opcode::vector_lookup,
          .unified_buffer = u32(from.address),
          .destination = u32(to->address),
          .rows = u32(rows),
          .row_bytes = u32(bytes_of(from.layout) / rows)});
    live_.push_back(*to);
  }

  void add() {
    const Tensor a = any_live();
    Tensor b = a;
    for (const Tensor& other : live_) {
      if (other.layout == a.layout && one_in(2)) b = other;
    }
    const auto to = allocate(a.layout, {a, b});
    if (!to) return;
    begin_layer("Add");
    VectorAdd sum;
    sum.width = sum.a_stride = sum.b_stride = sum.destination_stride = a.layout.shape.channels;
    sum.adder.mode = static_cast<quant::RequantizeMode>(pick(0, 2));
    sum.adder.a_zero_point = activation();
    sum.adder.b_zero_point = activation();
    sum.adder.a_multiplier = static_cast<float>(pick(1, 1000)) / 700;
    sum.adder.b_multiplier = static_cast<float>(pick(1, 1000)) / 700;
    sum.adder.left_shift = p_.activation_format.bits > 8 ? 15 : 20;
    sum.adder.a_fixed = fixed_point(0, 0);
    sum.adder.b_fixed = fixed_point(0, 0);
    sum.adder.y_fixed = fixed_point(-20, -10);
    sum.adder.zero_point = activation();
    sum.adder.low = p_.activation_format.qmin();
    sum.adder.high = p_.activation_format.qmax();
    select(ConfigRegister::add, p_.adds, sum);
    emit({.opcode = Opcode::vector_add,
          .unified_buffer = u32(a.address),
          .source_b = u32(b.address),
          .destination = u32(to->address),
          .rows = u32(a.layout.shape.pixels() * p_.batch)});
    live_.push_back(*to);
  }
  quant::FixedPointMultiplier fixed_point(std::int64_t low, std::int64_t high) {
    return {static_cast<std::int32_t>(pick(std::int64_t{1} << 30, INT32_MAX)),
            static_cast<int>(pick(low, high))};
  }

  std::mt19937 random_;
  RandomProgramLimits limits_;
  Program p_;
  std::vector<Tensor> live_;
};

}  // namespace tilewave::test::random_parts
