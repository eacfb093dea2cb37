#include <cmath>
#include <limits>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "sim/isa/validate.h"

namespace tilewave::sim {
namespace {

using quant::RequantizeMode;

constexpr std::int64_t kMaxSize = models::kMaxElements;
/// Unified buffer addresses have 32 bits.
constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 32;
constexpr std::int64_t kMaxHostBytes = std::int64_t{1} << 48;

std::string printed(const models::Shape& shape) {
  return std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
         std::to_string(shape.channels);
}

void check_format(const quant::Format& format, const std::string& name, const Where& where) {
  // What the array multiplies: docs/numerics.md. 16 unsigned bits do not fit an int16_t.
  const bool narrow = format.bits >= 2 && format.bits <= 8;
  if (!narrow && !(format.bits == 16 && format.is_signed)) {
    throw InputError(where(),
                     name + " has " + std::to_string(format.bits) +
                         (format.is_signed ? " bits" : " unsigned bits"),
                     "2 to 8 bits, or 16 signed bits");
  }
}

void check_layout(const Layout& layout, std::int64_t images, const quant::Format& format,
                  std::int64_t limit, const std::string& name, const Where& where) {
  const models::Shape& shape = layout.shape;
  check_range(shape.height, 1, kMaxSize, name + "'s height", where);
  check_range(shape.width, 1, kMaxSize, name + "'s width", where);
  check_range(shape.channels, 1, kMaxSize, name + "'s channels", where);
  check_range(layout.block, 1, kMaxSize, name + "'s block", where);
  if (!checked_product({shape.height, shape.width, shape.channels}, kMaxSize) ||
      !checked_product({shape.elements(), images, format.bytes()}, limit)) {
    throw InputError(where(),
                     name + " of " + std::to_string(images) + " times " + printed(shape) +
                         " elements is too large",
                     "at most " + std::to_string(limit) + " bytes");
  }
}

void check_host_tensor(const HostTensor& tensor, const Program& program, const std::string& name,
                       const Where& where) {
  check_layout(tensor.layout, program.batch, program.activation_format, kMaxHostBytes, name, where);
  const quant::Quantization& q = tensor.quantization;
  quant::Format expected = program.activation_format;
  if (tensor.bits != 0) {
    check_range(tensor.bits, 2, expected.bits, name + "'s bits", where);
    expected.bits = tensor.bits;
  }
  if (q.format != expected) {
    throw InputError(where(), name + " has another format than the program's activations");
  }
  if (!std::isfinite(q.scale) || q.scale <= 0) {
    throw InputError(where(), name + "'s scale is " + std::to_string(q.scale), "above 0");
  }
  check_range(q.zero_point, q.format.qmin(), q.format.qmax(), name + "'s zero_point", where);
}

void check_activation(std::int64_t value, const Program& program, const std::string& name,
                      const Where& where) {
  const quant::Format& format = program.activation_format;
  check_range(value, format.qmin(), format.qmax(), name, where);
}

void check_clamp(std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 const Program& program, const Where& where) {
  check_activation(zero_point, program, "zero_point", where);
  check_activation(high, program, "high", where);
  check_range(low, program.activation_format.qmin(), high, "low", where);
}

void check_multiplier(float multiplier, const std::string& name, const Where& where) {
  if (!std::isfinite(multiplier) || multiplier < 0) {
    throw InputError(where(), name + " is " + std::to_string(multiplier), "finite, not negative");
  }
}

void check_fixed_point(quant::FixedPointMultiplier multiplier, const std::string& name,
                       const Where& where) {
  // Zero stands for a multiplier too small to be held.
  if (multiplier.q31 != 0) {
    check_range(multiplier.q31, 1 << 30, std::numeric_limits<std::int32_t>::max(), name + "'s q31",
                where);
  }
  check_range(multiplier.exponent, -31, 31, name + "'s exponent", where);
}

void check_window_output(const models::Shape& expected, const models::Shape& output,
                         const Where& where) {
  if (output.height != expected.height || output.width != expected.width) {
    throw InputError(where(), "output is " + printed(output),
                     "the window gives " + std::to_string(expected.height) + "x" +
                         std::to_string(expected.width) + " pixels");
  }
}

void check_setup(const Setup& setup, const Program& program, const Where& where) {
  check_range(setup.images, 1, kMaxSize, "images", where);
  check_layout(setup.source, setup.images, program.activation_format, kMaxBufferBytes, "source",
               where);
  check_window_output(models::windowed_shape(setup.window, setup.source.shape, where()),
                      setup.output, where);
  check_range(setup.output.channels, 1, kMaxSize, "output's channels", where);
  const std::int64_t channels = setup.source.shape.channels;
  check_range(setup.channel_first, 0, channels - 1, "channel_first", where);
  check_range(setup.channel_count, 1, channels - setup.channel_first, "channel_count", where);
  if (!checked_product({setup.window.kernel_height, setup.window.kernel_width, setup.channel_count},
                       kMaxSize)) {
    throw InputError(where(),
                     "the kernel holds more than " + std::to_string(kMaxSize) + " elements");
  }
  check_activation(setup.zero_point, program, "zero_point", where);
}

void check_columns(const Columns& columns, const Program& program, const Where& where) {
  const quant::Requantizer& requantizer = columns.requantizer;
  check_range(static_cast<std::int64_t>(columns.bias.size()), 1, kMaxSize, "the number of biases",
              where);
  const bool is_float = requantizer.mode == RequantizeMode::float_multiplier;
  const auto check_size = [&](std::size_t size, bool is_used, const std::string& name) {
    const std::size_t expected = is_used ? columns.bias.size() : 0;
    if (size != expected) {
      throw InputError(where(), name + " has " + std::to_string(size) + " entries",
                       is_used ? "one per bias: " + std::to_string(expected) : "none in this mode");
    }
  };
  check_size(requantizer.multiplier.size(), is_float, "multiplier");
  check_size(requantizer.fixed_point.size(), !is_float, "fixed_point");
  for (const float multiplier : requantizer.multiplier) {
    check_multiplier(multiplier, "a multiplier", where);
  }
  for (const quant::FixedPointMultiplier multiplier : requantizer.fixed_point) {
    check_fixed_point(multiplier, "fixed_point", where);
  }
  check_clamp(requantizer.zero_point, requantizer.low, requantizer.high, program, where);
}

void check_pool(const Pool& pool, const Program& program, const Where& where) {
  check_window_output(models::pooled_shape(pool.window, pool.input, where()), pool.output, where);
  if (pool.output.channels != pool.input.channels) {
    throw InputError(where(), "output has " + std::to_string(pool.output.channels) + " channels",
                     "as many as the input: " + std::to_string(pool.input.channels));
  }
  check_activation(pool.pad_value, program, "pad_value", where);
  const std::int64_t most = quant::most_averaged_places(program.activation_format);
  if (pool.kind == Pool::Kind::average &&
      !checked_product({pool.window.kernel_height, pool.window.kernel_width}, most)) {
    throw InputError(where(), "the window is too large for the 32-bit sum of an average",
                     "at most " + std::to_string(most) + " places");
  }
}

void check_add(const VectorAdd& add, const Program& program, const Where& where) {
  check_range(add.width, 1, kMaxSize, "width", where);
  check_range(add.a_stride, add.width, kMaxSize, "a_stride", where);
  check_range(add.b_stride, add.width, kMaxSize, "b_stride", where);
  check_range(add.destination_stride, add.width, kMaxSize, "destination_stride", where);
  const quant::Adder& adder = add.adder;
  check_activation(adder.a_zero_point, program, "a_zero_point", where);
  check_activation(adder.b_zero_point, program, "b_zero_point", where);
  check_multiplier(adder.a_multiplier, "a_multiplier", where);
  check_multiplier(adder.b_multiplier, "b_multiplier", where);
  check_fixed_point(adder.a_fixed, "a_fixed", where);
  check_fixed_point(adder.b_fixed, "b_fixed", where);
  check_fixed_point(adder.y_fixed, "y_fixed", where);
  check_range(adder.left_shift, 0, 31, "left_shift", where);
  check_clamp(adder.zero_point, adder.low, adder.high, program, where);
}

void check_table(const Table& table, const Program& program, const Where& where) {
  const quant::Format& format = program.activation_format;
  const auto expected = static_cast<std::size_t>(format.qmax() - format.qmin() + 1);
  if (table.values.size() != expected) {
    throw InputError(where(), "has " + std::to_string(table.values.size()) + " values",
                     "one per activation: " + std::to_string(expected));
  }
  for (const std::int16_t value : table.values) check_activation(value, program, "a value", where);
}

void check_layer(const Layer& layer, const Where& where) {
  check_range(layer.m, 0, kMaxSize, "m", where);
  check_range(layer.n, 0, kMaxSize, "n", where);
  check_range(layer.k, 0, kMaxSize, "k", where);
  check_range(layer.groups, 1, kMaxSize, "groups", where);
  check_range(layer.tiles, 0, kMaxSize, "tiles", where);
  check_range(layer.compulsory_bytes, 0, kMaxHostBytes, "compulsory_bytes", where);
  check_range(layer.bands, 1, kMaxSize, "bands", where);
  check_range(layer.spilled_bytes, 0, kMaxHostBytes, "spilled_bytes", where);
  // Times a batch and a number of launches it still has to fit 64 bits.
  if (!checked_product({layer.m, layer.n, layer.k, layer.groups}, kMaxHostBytes)) {
    throw InputError(where(), "m * n * k * groups is too large",
                     "at most " + std::to_string(kMaxHostBytes));
  }
}

void check_tiles(const Program& program, const Locate& locate) {
  const auto total = static_cast<std::int64_t>(program.weights.size());
  std::int64_t end = 0;
  for (std::size_t t = 0; t < program.tiles.size(); ++t) {
    const Tile& tile = program.tiles[t];
    const Where where = [&, t] { return locate("tile", t); };
    check_range(tile.rows, 1, kMaxSize, "rows", where);
    check_range(tile.cols, 1, kMaxSize, "cols", where);
    check_range(tile.useful, 0, tile.rows * tile.cols, "useful", where);
    check_range(tile.offset, end, end, "offset", where);
    if (tile.rows * tile.cols > total - end) {
      throw InputError(where(), "needs " + std::to_string(tile.rows * tile.cols) + " weights",
                       "there are " + std::to_string(total - end) + " left");
    }
    end += tile.rows * tile.cols;
    for (std::int64_t w = tile.offset; w < end; ++w) {
      check_range(program.weights[static_cast<std::size_t>(w)], program.weight_format.qmin(),
                  program.weight_format.qmax(), "a weight", where);
    }
  }
  if (end != total) {
    throw InputError(locate("program", 0),
                     std::to_string(total - end) + " weights belong to no tile");
  }
}

template <typename Entry, typename Check>
void check_each(const std::vector<Entry>& entries, std::string_view item, const Locate& locate,
                Check check) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    check(entries[i], [&, i] { return locate(item, i); });
  }
}

}  // namespace

void check_range(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view name,
                 const Where& where) {
  if (value >= low && value <= high) return;
  throw InputError(
      where(), std::string(name) + " is " + std::to_string(value),
      low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high));
}

Bytes tensor_bytes(const Layout& layout, std::int64_t images, const quant::Format& format) {
  return layout.shape.elements() * images * format.bytes();
}

void validate_tables(const Program& program, const Locate& locate) {
  const Where where = [&] { return locate("program", 0); };
  check_format(program.activation_format, "the activation format", where);
  check_format(program.weight_format, "the weight format", where);
  check_range(program.batch, 1, kMaxSize, "batch", where);
  check_range(program.host_scratch_bytes, 0, kMaxHostBytes, "host_scratch_bytes", where);
  check_range(program.unified_buffer_peak, 0, kMaxBufferBytes, "unified_buffer_peak", where);
  const Program::PingPong& window = program.ping_pong;
  check_range(std::int64_t{window.base} + 2 * std::int64_t{window.half}, 0, kMaxBufferBytes,
              "the end of the ping-pong window", where);
  check_host_tensor(program.input, program, "input", where);
  check_host_tensor(program.output, program, "output", where);

  const auto with_program = [&](auto check) {
    return [&program, check](const auto& entry, const Where& at) { check(entry, program, at); };
  };
  check_each(program.layers, "layer", locate, check_layer);
  check_each(program.setups, "setup", locate, with_program(check_setup));
  check_each(program.columns, "columns", locate, with_program(check_columns));
  check_each(program.pools, "pool", locate, with_program(check_pool));
  check_each(program.adds, "add", locate, with_program(check_add));
  check_each(program.tables, "table", locate, with_program(check_table));
  check_tiles(program, locate);
}

}  // namespace tilewave::sim
