#include "tests/support/random_program.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "tests/support/random_program_parts.h"

namespace tilewave::test {
namespace {

using namespace random_parts;

/// Per column tile, at the least; more take a test too long.
constexpr std::int64_t kMostMultiplies = 256;

class Builder : private ProgramParts {
 public:
  Builder(std::uint32_t seed, const RandomProgramLimits& limits) : ProgramParts(seed, limits) {}

  Program build() {
    start();
    read_input();
    for (int i = 0; i < limits_.steps; ++i) step();
    write_output();
    emit({.opcode = Opcode::halt});
    return std::move(p_);
  }

 private:
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
    r.mode = static_cast<quant::RequantizeMode>(pick(0, 2));
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
};

}  // namespace

Program random_program(std::uint32_t seed, const RandomProgramLimits& limits) {
  return Builder(seed, limits).build();
}

}  // namespace tilewave::test
