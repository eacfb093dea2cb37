#include "tests/support/random_program.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "models/graph.h"

namespace tilewave::test {
namespace {

using namespace sim;
using models::Shape;
using models::Window;

/// Per column tile, at the least; more take a test too long.
constexpr std::int64_t kMostMultiplies = 256;

/// A tensor that is in the unified buffer, whole.
struct Tensor {
  Layout layout;
  std::int64_t address = 0;
};

class Builder {
 public:
  Builder(std::uint32_t seed, const RandomProgramLimits& limits) : random_(seed), limits_(limits) {}

  Program build() {
    start();
    read_input();
    for (int i = 0; i < limits_.steps; ++i) step();
    write_output();
    emit({.opcode = Opcode::halt});
    return std::move(p_);
  }

 private:
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

  void step() {
    if (one_in(4)) emit({.opcode = one_in(2) ? Opcode::sync : Opcode::nop});
    switch (pick(0, 8)) {
      case 0:
        return read_input();
      case 1:
        return pool();
      case 2:
        return lookup();
      case 3:
        return add();
      case 4:
        return through_scratch();
      default:
        return convolution();
    }
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
    pool.mode = static_cast<quant::RequantizeMode>(pick(0, 1));
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
    sum.adder.mode = static_cast<quant::RequantizeMode>(pick(0, 1));
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

  // --- Convolution ---

  struct Convolution {
    Tensor from, to;
    Setup setup;
    std::optional<Window> pool;
    std::int64_t unit = 1;  ///< rows of a chunk are multiples of it
  };

  void convolution() {
    Convolution c;
    c.from = any_live();
    const Shape& source = c.from.layout.shape;
    const auto window = random_window(source, false);
    if (!window) return;
    c.setup = {c.from.layout, p_.batch, *window, {}, pick(0, source.channels - 1), 1, activation()};
    c.setup.channel_count = pick(1, source.channels - c.setup.channel_first);
    c.setup.output = models::windowed_shape(*window, source, "random convolution");
    c.setup.output.channels = pick(1, 2 * limits_.array_cols);
    Layout layout{c.setup.output, pick(1, limits_.array_cols)};
    if (one_in(2)) choose_pool(c, layout);
    const auto to = allocate(layout, {c.from});
    const std::int64_t depth = window->kernel_height * window->kernel_width * c.setup.channel_count;
    const std::int64_t multiplies = ceil_div(c.setup.output.pixels() * p_.batch, most_pixels()) *
                                    ceil_div(depth, limits_.array_rows);
    if (!to || c.unit > limits_.accumulator_rows || multiplies > kMostMultiplies) return;
    c.to = *to;
    begin_layer("Conv", c.setup.output.pixels(), c.setup.output.channels, depth);
    select(ConfigRegister::setup, p_.setups, c.setup);
    for (std::int64_t plane = 0; plane < layout.planes(); ++plane) column_tile(c, plane, depth);
    live_.push_back(c.to);
  }

  void choose_pool(Convolution& c, Layout& layout) {
    const Shape& pixels = c.setup.output;
    const auto window = random_window(pixels, true);
    if (!window) return;
    c.pool = window;
    layout.shape = models::pooled_shape(*window, pixels, "random pool");
    Window bands;
    bands.kernel_height = bands.stride_height = window->kernel_height;
    bands.kernel_width = bands.stride_width = window->kernel_width;
    const bool has_bands = *window == bands && pixels.height % window->kernel_height == 0;
    c.unit = has_bands ? window->kernel_height * pixels.width : pixels.pixels();
  }

  void select_columns(std::int64_t count) {
    Columns columns;
    quant::Requantizer& r = columns.requantizer;
    r.mode = static_cast<quant::RequantizeMode>(pick(0, 1));
    for (std::int64_t i = 0; i < count; ++i) {
      columns.bias.push_back(static_cast<std::int32_t>(pick(-5000, 5000)));
      if (r.mode == quant::RequantizeMode::float_multiplier) {
        r.multiplier.push_back(1.0f / static_cast<float>(pick(100, 3000)));
      } else {
        r.fixed_point.push_back(fixed_point(-12, 1));
      }
    }
    r.zero_point = activation();
    r.high = p_.activation_format.qmax();
    r.low = one_in(2) ? r.zero_point : p_.activation_format.qmin();
    select(ConfigRegister::columns, p_.columns, std::move(columns));
  }

  /// New tiles of `cols` columns that cover `depth` rows; returns their rows.
  std::vector<std::int64_t> add_tiles(std::int64_t depth, std::int64_t cols) {
    std::vector<std::int64_t> heights;
    for (std::int64_t k = 0; k < depth; k += heights.back()) {
      heights.push_back(pick(1, std::min(depth - k, most_rows())));
      add_tile(heights.back(), cols);
    }
    return heights;
  }
  std::int64_t most_rows() const {
    return p_.dataflow == Dataflow::output_stationary ? INT32_MAX : limits_.array_rows;
  }
  void add_tile(std::int64_t rows, std::int64_t cols) {
    const std::int64_t size = rows * cols;
    p_.tiles.push_back({rows, cols, std::ssize(p_.weights), size});
    for (std::int64_t i = 0; i < size; ++i) {
      p_.weights.push_back(
          static_cast<std::int16_t>(pick(p_.weight_format.qmin(), p_.weight_format.qmax())));
    }
  }

  void column_tile(const Convolution& c, std::int64_t plane, std::int64_t depth) {
    const std::int64_t cols = c.to.layout.plane_channels(plane);
    select_columns(cols);
    if (c.pool) {
      select(ConfigRegister::pool, p_.pools, random_pool(*c.pool, c.setup.output, cols));
    } else {
      config(ConfigRegister::pool, kNone);
    }
    const std::int64_t first_tile = std::ssize(p_.tiles);
    const std::vector<std::int64_t> heights = add_tiles(depth, cols);
    const std::int64_t rows = c.setup.output.pixels() * p_.batch;
    const std::int64_t most_units = std::min(rows, limits_.accumulator_rows) / c.unit;
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t count = std::min(rows - first, pick(1, most_units) * c.unit);
      const std::int64_t accumulator = pick(0, limits_.accumulator_rows - count);
      emit_multiplies(plan_multiplies(heights, first_tile, count), c, accumulator, first);
      emit({.opcode = Opcode::activate,
            .unified_buffer = plane_address(c.to, plane),
            .accumulator = u32(accumulator),
            .first = u32(first),
            .rows = u32(count)});
      first += count;
    }
  }

  /// One multiply of a column tile, pixels counted from the first of the chunk.
  struct Multiply {
    std::int64_t tile, k, first, rows;
    bool next_tile, accumulate, keep_rows;
  };

  /// Pixels that one multiply can have.
  std::int64_t most_pixels() const {
    switch (p_.dataflow) {
      case Dataflow::output_stationary:
        return limits_.array_rows;
      case Dataflow::input_stationary:
        return limits_.array_cols;
      case Dataflow::weight_stationary:
        break;
    }
    return INT32_MAX;
  }

  /// All tiles of a column on `count` pixels in some parts; tile after tile or part after part.
  std::vector<Multiply> plan_multiplies(const std::vector<std::int64_t>& heights,
                                        std::int64_t first_tile, std::int64_t count) {
    std::vector<std::int64_t> parts;
    for (std::int64_t left = count; left > 0; left -= parts.back()) {
      const std::int64_t most = std::min(left, most_pixels());
      parts.push_back(one_in(2) ? most : pick(std::max<std::int64_t>(1, most / 2), most));
    }
    const std::vector<std::int64_t> k_of = sums_before(heights), first_of = sums_before(parts);
    const bool keeps_tile = one_in(2);
    const std::size_t outer = keeps_tile ? heights.size() : parts.size();
    const std::size_t inner = keeps_tile ? parts.size() : heights.size();
    std::vector<Multiply> plan;
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < inner; ++i) {
        const std::size_t tile = keeps_tile ? o : i;
        const std::size_t part = keeps_tile ? i : o;
        plan.push_back({first_tile + static_cast<std::int64_t>(tile), k_of[tile], first_of[part],
                        parts[part], !keeps_tile || part == 0, tile > 0, false});
        if (p_.dataflow == Dataflow::input_stationary && one_in(3)) repeat(plan, !keeps_tile);
      }
    }
    return plan;
  }
  static std::vector<std::int64_t> sums_before(const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> sums(values.size());
    std::exclusive_scan(values.begin(), values.end(), sums.begin(), std::int64_t{0});
    return sums;
  }

  /// The last multiply's activations again, with the same weights or with others; not with others
  /// where the next multiply needs the tile that is in the array.
  void repeat(std::vector<Multiply>& plan, bool may_change_tile) {
    for (std::int64_t n = pick(1, 2); n > 0; --n) {
      Multiply again = plan.back();
      again.keep_rows = again.accumulate = true;
      again.next_tile = may_change_tile && one_in(2);
      if (again.next_tile) {
        const Tile tile = p_.tiles[static_cast<std::size_t>(again.tile)];
        again.tile = std::ssize(p_.tiles);
        add_tile(tile.rows, tile.cols);
      }
      plan.push_back(again);
    }
  }

  void emit_multiplies(const std::vector<Multiply>& plan, const Convolution& c,
                       std::int64_t accumulator, std::int64_t first) {
    const std::size_t ahead = one_in(2) ? 1 : 0;  // a tile is asked for before the multiply before
    std::size_t read = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      for (; read < plan.size() && read <= i + ahead; ++read) {
        if (plan[read].next_tile) {
          emit({.opcode = Opcode::read_weights, .value = u32(plan[read].tile)});
        }
      }
      const Multiply& m = plan[i];
      emit({.opcode = Opcode::matmul,
            .next_tile = m.next_tile,
            .accumulate = m.accumulate,
            .keep_rows = m.keep_rows,
            .value = u32(m.k),
            .unified_buffer = u32(c.from.address),
            .accumulator = u32(accumulator + m.first),
            .first = u32(first + m.first),
            .rows = u32(m.rows)});
    }
  }

  std::mt19937 random_;
  RandomProgramLimits limits_;
  Program p_;
  std::vector<Tensor> live_;
};

}  // namespace

Program random_program(std::uint32_t seed, const RandomProgramLimits& limits) {
  return Builder(seed, limits).build();
}

}  // namespace tilewave::test
