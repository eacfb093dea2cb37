#include "sim/timeline/values.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "sim/isa/place.h"
#include "sim/timeline/prepared_program.h"

namespace tilewave::sim {
namespace {

/// Rows gathered and multiplied at a time, so that they stay in the nearest cache.
constexpr std::int64_t kRowsPerBlock = 64;

template <typename T>
class Machine final : public ValueMachine {
 public:
  explicit Machine(std::shared_ptr<const PreparedProgram> prepared)
      : p_(std::move(prepared)),
        program_(*p_->program),
        kernels_(row_kernels()),
        buffer_(static_cast<std::size_t>(p_->buffer_elements)),
        sums_(static_cast<std::size_t>(p_->accumulator_rows * p_->sums_stride)),
        columns_written_(static_cast<std::size_t>(p_->accumulator_rows)),
        gathered_(static_cast<std::size_t>(std::max(kRowsPerBlock, p_->most_kept_rows) *
                                           p_->longest_row)),
        row_(static_cast<std::size_t>(std::max(p_->sums_stride, p_->widest_row))),
        average_(row_),
        host_input_(host_elements(program_.input)),
        host_output_(host_elements(program_.output)),
        host_scratch_(static_cast<std::size_t>(scratch_bytes_used(p_->operations)) / sizeof(T)),
        overflows_(program_.layers.size()) {}

  void launch(int parity, const std::int16_t* inputs, std::int16_t* outputs,
              const std::stop_token& stop) override {
    to_host(inputs);
    for (const Operation& op : p_->operations[static_cast<std::size_t>(parity)]) {
      check_stop(stop);
      execute(op);
    }
    from_host(outputs);
  }

  const std::vector<std::int64_t>& overflows() const override { return overflows_; }

 private:
  std::size_t host_elements(const HostTensor& tensor) const {
    return static_cast<std::size_t>(tensor.layout.shape.elements() * program_.batch);
  }

  /// Calls fn(image, pixel, plane, first element in host memory) for every pixel of every plane.
  template <typename Fn>
  void for_each_pixel(const Layout& layout, Fn fn) const {
    const std::int64_t pixels = layout.shape.pixels();
    for (std::int64_t plane = 0; plane < layout.planes(); ++plane) {
      const std::int64_t base = layout.plane_offset(plane, program_.batch);
      for (std::int64_t pixel = 0; pixel < pixels * program_.batch; ++pixel) {
        fn(pixel, plane, base + pixel * layout.plane_channels(plane));
      }
    }
  }

  void to_host(const std::int16_t* inputs) {
    const Layout& layout = program_.input.layout;
    for_each_pixel(layout, [&](std::int64_t pixel, std::int64_t plane, std::int64_t at) {
      const std::int16_t* from = inputs + pixel * layout.shape.channels + plane * layout.block;
      for (std::int64_t c = 0; c < layout.plane_channels(plane); ++c) {
        host_input_[static_cast<std::size_t>(at + c)] = static_cast<T>(from[c]);
      }
    });
  }

  void from_host(std::int16_t* outputs) const {
    const Layout& layout = program_.output.layout;
    for_each_pixel(layout, [&](std::int64_t pixel, std::int64_t plane, std::int64_t at) {
      std::int16_t* to = outputs + pixel * layout.shape.channels + plane * layout.block;
      for (std::int64_t c = 0; c < layout.plane_channels(plane); ++c) {
        to[c] = static_cast<std::int16_t>(host_output_[static_cast<std::size_t>(at + c)]);
      }
    });
  }

  void execute(const Operation& op) {
    switch (op.instruction.opcode) {
      case Opcode::read_host:
      case Opcode::write_host:
        transfer(op);
        break;
      case Opcode::matmul:
        matmul(op);
        break;
      case Opcode::activate:
        activate(op);
        break;
      case Opcode::vector_add:
        vector_add(op);
        break;
      case Opcode::vector_pool:
        vector_pool(op);
        break;
      case Opcode::vector_lookup:
        vector_lookup(op);
        break;
      default:
        break;
    }
  }

  T* at(std::int64_t byte_address) { return buffer_.data() + byte_address / kBytes; }

  std::vector<T>& host(HostSpace space) {
    switch (space) {
      case HostSpace::input:
        return host_input_;
      case HostSpace::output:
        return host_output_;
      default:
        return host_scratch_;
    }
  }

  void transfer(const Operation& op) {
    const Instruction& i = op.instruction;
    T* memory = host(i.space).data() + i.host / kBytes;
    for (std::int64_t row = 0; row < i.rows; ++row) {
      T* on_host = memory + row * i.stride / kBytes;
      T* on_chip = at(i.unified_buffer + row * i.stride_b);
      const bool in = i.opcode == Opcode::read_host;
      std::memcpy(in ? on_chip : on_host, in ? on_host : on_chip, i.row_bytes);
    }
  }

  // -------------------------------------------------------------------------------------------
  // Matrix unit

  std::int32_t* sums_of(std::int64_t row) { return sums_.data() + row * p_->sums_stride; }

  void matmul(const Operation& op) {
    if (!op.instruction.accumulate) start_columns(op);
    // All pixels at once where later multiplies may keep them.
    const std::int64_t pixels = op.instruction.rows;
    const std::int64_t block =
        program_.dataflow == Dataflow::input_stationary ? pixels : kRowsPerBlock;
    for (std::int64_t row = 0; row < pixels; row += block) {
      const std::int64_t rows = std::min(block, pixels - row);
      if (!op.instruction.keep_rows) gather(op, op.instruction.first + row, rows);
      multiply(op, sums_of(op.accumulators.begin + row), static_cast<std::int32_t>(rows));
    }
  }

  /// The sums are exact unless they may overflow, and then there is no order to keep to.
  void multiply(const Operation& op, std::int32_t* sums, std::int32_t rows) {
    const PackedTile& tile = p_->packed(op.tile);
    const std::int32_t* start = op.instruction.accumulate ? nullptr : p_->padded_bias(op.columns);
    if (p_->overflowing[static_cast<std::size_t>(op.index)] == 0) {
      kernels_.multiply(gathered_.data(), rows, tile, start, sums, p_->sums_stride);
      return;
    }
    const Precision& precision = p_->chip->precision;
    overflows_[static_cast<std::size_t>(op.layer)] += kernels_.multiply_narrow(
        gathered_.data(), rows, tile, start, sums, p_->sums_stride, precision.accumulator_bits,
        precision.overflow == Overflow::saturate);
  }

  /// The columns of the multiply's entries to which those of its tile, filled up, do not reach
  /// start from their bias.
  void start_columns(const Operation& op) {
    const auto columns =
        std::max<std::int64_t>(op.tile->cols, static_cast<std::int64_t>(op.columns->bias.size()));
    const std::int64_t from = p_->packed(op.tile).columns_padded;
    const std::int32_t* bias = p_->padded_bias(op.columns);
    for (std::int64_t row = op.accumulators.begin; row < op.accumulators.end; ++row) {
      columns_written_[static_cast<std::size_t>(row)] = columns;
      if (from < columns) std::copy(bias + from, bias + columns, sums_of(row) + from);
    }
  }

  void gather(const Operation& op, std::int64_t first, std::int64_t rows) {
    const GatherPlan& plan = p_->plans[static_cast<std::size_t>(op.index)];
    const T* source = at(op.instruction.unified_buffer);
    const auto count = static_cast<std::int32_t>(rows);
    if constexpr (std::is_same_v<T, std::int8_t>) {
      kernels_.gather_s8(plan, source, first, count, gathered_.data());
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
      kernels_.gather_u8(plan, source, first, count, gathered_.data());
    } else {
      kernels_.gather_s16(plan, source, first, count, gathered_.data());
    }
  }

  // -------------------------------------------------------------------------------------------
  // Activation unit

  void activate(const Operation& op) {
    for (std::int64_t row = op.accumulators.begin; row < op.accumulators.end; ++row) {
      if (columns_written_[static_cast<std::size_t>(row)] >= op.row_elements) continue;
      throw InputError(place_of(program_, op),
                       "reads more columns than were written to its accumulator rows");
    }
    if (op.pool != nullptr) {
      activate_pooled(op);
      return;
    }
    T* out = at(op.writes.front().begin);
    for (std::int64_t row = 0; row < op.rows_in; ++row, out += op.row_elements) {
      requantize(op, sums_of(op.accumulators.begin + row), row_.data());
      store(row_.data(), op.row_elements, out);
    }
  }

  void requantize(const Operation& op, const std::int32_t* sums, std::int32_t* out) {
    const quant::Requantizer& r = op.columns->requantizer;
    if (r.mode == quant::RequantizeMode::float_multiplier) {
      kernels_.requantize_float(sums, r.multiplier.data(),
                                static_cast<std::int32_t>(op.row_elements), r.zero_point, r.low,
                                r.high, out);
      return;
    }
    for (std::int64_t n = 0; n < op.row_elements; ++n) {
      out[n] = r.apply(sums[n], static_cast<std::size_t>(n));
    }
  }

  static void store(const std::int32_t* values, std::int64_t count, T* out) {
    for (std::int64_t n = 0; n < count; ++n) out[n] = static_cast<T>(values[n]);
  }

  /// Calls fn(input pixel) for each place of output pixel `output`'s window inside the image;
  /// pixels are counted over all images.
  template <typename Fn>
  static void for_each_place(const Pool& pool, std::int64_t output, Fn fn) {
    const std::int64_t image = output / pool.output.pixels();
    const std::int64_t in_image = output % pool.output.pixels();
    const std::int64_t top =
        in_image / pool.output.width * pool.window.stride_height - pool.window.pad_top;
    const std::int64_t left =
        in_image % pool.output.width * pool.window.stride_width - pool.window.pad_left;
    for (std::int64_t ky = 0; ky < pool.window.kernel_height; ++ky) {
      const std::int64_t y = top + ky * pool.window.dilation_height;
      if (y < 0 || y >= pool.input.height) continue;
      for (std::int64_t kx = 0; kx < pool.window.kernel_width; ++kx) {
        const std::int64_t x = left + kx * pool.window.dilation_width;
        if (x < 0 || x >= pool.input.width) continue;
        fn(image * pool.input.pixels() + y * pool.input.width + x);
      }
    }
  }

  void activate_pooled(const Operation& op) {
    const Pool& pool = *op.pool;
    const Span outputs{pool.outputs_before(op.instruction.first),
                       pool.outputs_before(op.instruction.first + op.rows_in)};
    T* out = at(op.writes.front().begin);
    std::vector<const std::int32_t*> places;
    for (std::int64_t pixel = outputs.begin; pixel < outputs.end; ++pixel) {
      places.clear();
      for_each_place(pool, pixel, [&](std::int64_t input) {
        places.push_back(sums_of(op.accumulators.begin + input - op.instruction.first));
      });
      if (places.empty()) {
        std::fill(row_.begin(), row_.end(), pool.pad_value);
      } else if (pool.kind == Pool::Kind::max) {
        // Requantization never decreases from one sum to a larger one, so that the largest
        // requantized value is that of the largest sum.
        kernels_.column_max(places.data(), static_cast<std::int32_t>(places.size()),
                            static_cast<std::int32_t>(op.row_elements), average_.data());
        requantize(op, average_.data(), row_.data());
      } else {
        std::fill(average_.begin(), average_.end(), 0);
        for (const std::int32_t* sums : places) {
          requantize(op, sums, row_.data());
          add_to(average_, row_, op.row_elements);
        }
        finish_average(pool, static_cast<std::int32_t>(places.size()), op.row_elements);
      }
      store(row_.data(), op.row_elements, out);
      out += op.row_elements;
    }
  }

  static void add_to(std::vector<std::int32_t>& sum, const std::vector<std::int32_t>& values,
                     std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) {
      sum[static_cast<std::size_t>(n)] += values[static_cast<std::size_t>(n)];
    }
  }

  /// average_ holds sums over `places` places; the averages go to row_.
  void finish_average(const Pool& pool, std::int32_t places, std::int64_t count) {
    const auto all =
        static_cast<std::int32_t>(pool.window.kernel_height * pool.window.kernel_width);
    const std::int32_t missing = pool.count_include_pad ? (all - places) * pool.pad_value : 0;
    for (std::int64_t n = 0; n < count; ++n) {
      row_[static_cast<std::size_t>(n)] =
          quant::rounded_average(average_[static_cast<std::size_t>(n)] + missing,
                                 pool.count_include_pad ? all : places, pool.mode);
    }
  }

  void vector_pool(const Operation& op) {
    const Pool& pool = *op.pool;
    const std::int64_t channels = op.row_elements;
    const T* source = at(op.instruction.unified_buffer);
    T* out = at(op.writes.front().begin);
    const bool is_max = pool.kind == Pool::Kind::max;
    for (std::int64_t row = 0; row < op.instruction.rows; ++row, out += channels) {
      std::fill(average_.begin(), average_.end(), is_max ? pool.pad_value : 0);
      std::int32_t places = 0;
      for_each_place(pool, op.instruction.first + row, [&](std::int64_t input) {
        ++places;
        const T* values = source + input * channels;
        for (std::int64_t n = 0; n < channels; ++n) {
          std::int32_t& sum = average_[static_cast<std::size_t>(n)];
          sum = is_max ? std::max<std::int32_t>(sum, values[n]) : sum + values[n];
        }
      });
      if (is_max) {
        store(average_.data(), channels, out);
      } else {
        finish_average(pool, places, channels);
        store(row_.data(), channels, out);
      }
    }
  }

  void vector_add(const Operation& op) {
    const VectorAdd& add = *op.add;
    const T* a = at(op.instruction.unified_buffer);
    const T* b = at(op.instruction.source_b);
    T* out = at(op.instruction.destination);
    for (std::int64_t row = 0; row < op.rows_in; ++row) {
      for (std::int64_t n = 0; n < add.width; ++n) {
        out[n] = static_cast<T>(add.adder.apply(a[n], b[n]));
      }
      a += add.a_stride;
      b += add.b_stride;
      out += add.destination_stride;
    }
  }

  void vector_lookup(const Operation& op) {
    const T* source = at(op.instruction.unified_buffer);
    T* out = at(op.instruction.destination);
    const std::int32_t qmin = program_.activation_format.qmin();
    for (std::int64_t n = 0; n < op.rows_in * op.row_elements; ++n) {
      out[n] = static_cast<T>(op.table->values[static_cast<std::size_t>(source[n] - qmin)]);
    }
  }

  static constexpr std::int64_t kBytes = sizeof(T);

  std::shared_ptr<const PreparedProgram> p_;
  const Program& program_;
  const RowKernels& kernels_;
  std::vector<T> buffer_;           ///< the unified buffer
  std::vector<std::int32_t> sums_;  ///< the accumulators
  std::vector<std::int64_t> columns_written_;
  std::vector<std::int16_t> gathered_;
  std::vector<std::int32_t> row_, average_;
  std::vector<T> host_input_, host_output_, host_scratch_;
  std::vector<std::int64_t> overflows_;  ///< by layer
};

}  // namespace

std::unique_ptr<ValueMachine> make_value_machine(std::shared_ptr<const PreparedProgram> prepared) {
  const quant::Format format = prepared->program->activation_format;
  if (format.bytes() == 2) return std::make_unique<Machine<std::int16_t>>(std::move(prepared));
  if (format.is_signed) return std::make_unique<Machine<std::int8_t>>(std::move(prepared));
  return std::make_unique<Machine<std::uint8_t>>(std::move(prepared));
}

}  // namespace tilewave::sim
