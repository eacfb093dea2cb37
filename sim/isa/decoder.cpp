#include "sim/isa/decoder.h"

#include <algorithm>
#include <array>
#include <deque>

#include "base/error.h"
#include "sim/isa/place.h"

namespace tilewave::sim {
namespace {

/// Each row with a gap after it is an access of its own to keep track of.
constexpr std::int64_t kMostStridedRows = std::int64_t{1} << 20;

/// Rows of an image that windows at output rows [y_first, y_last] touch with their kernel rows
/// [kernel_first, kernel_last]; empty if all of them are padding.
Span input_rows(const models::Window& window, std::int64_t height, std::int64_t y_first,
                std::int64_t y_last, std::int64_t kernel_first, std::int64_t kernel_last) {
  const std::int64_t first =
      y_first * window.stride_height - window.pad_top + kernel_first * window.dilation_height;
  const std::int64_t last =
      y_last * window.stride_height - window.pad_top + kernel_last * window.dilation_height;
  return {std::clamp<std::int64_t>(first, 0, height),
          std::clamp<std::int64_t>(last + 1, 0, height)};
}

/// Pixels, counted over all images, that output pixels [first, first + rows) are made from.
Span input_pixels(const models::Window& window, const models::Shape& input,
                  const models::Shape& output, std::int64_t first, std::int64_t rows,
                  std::int64_t kernel_first, std::int64_t kernel_last) {
  const auto row_of = [&](std::int64_t pixel) { return pixel % output.pixels() / output.width; };
  const std::int64_t last = first + rows - 1;
  const std::int64_t image_first = first / output.pixels();
  const std::int64_t image_last = last / output.pixels();
  const auto touched = [&](std::int64_t y_first, std::int64_t y_last) {
    return input_rows(window, input.height, y_first, y_last, kernel_first, kernel_last);
  };
  Span image_rows;
  if (image_first == image_last) {
    const Span span = touched(row_of(first), row_of(last));
    image_rows = {image_first * input.height + span.begin, image_first * input.height + span.end};
  } else {
    image_rows = {image_first * input.height + touched(row_of(first), output.height - 1).begin,
                  image_last * input.height + touched(0, row_of(last)).end};
  }
  if (image_rows.size() <= 0) return {};
  return {image_rows.begin * input.width, image_rows.end * input.width};
}

class Decoder {
 public:
  Decoder(const Program& program, int parity)
      : program_(program), parity_(parity), element_bytes_(program.activation_format.bytes()) {
    registers_.fill(kNone);
  }

  std::vector<Operation> decode_all() {
    std::vector<Operation> operations;
    operations.reserve(program_.instructions.size());
    for (const Instruction& instruction : program_.instructions) {
      operations.push_back(decode(instruction, static_cast<std::int32_t>(operations.size())));
    }
    return operations;
  }

 private:
  template <typename T>
  const T* selected(ConfigRegister reg, const std::vector<T>& table) const {
    const std::uint32_t value = registers_[static_cast<std::size_t>(reg)];
    return value == kNone ? nullptr : &table.at(value);
  }

  /// The address in this launch: the halves of the ping-pong window change places.
  std::uint32_t address(std::uint32_t address) const {
    const auto& window = program_.ping_pong;
    if (parity_ == 0 || address < window.base ||
        address - window.base >= 2 * std::int64_t{window.half}) {
      return address;
    }
    return address - window.base < window.half ? address + window.half : address - window.half;
  }

  Operation decode(const Instruction& instruction, std::int32_t index) {
    Operation op;
    op.index = index;
    op.instruction = instruction;
    if (instruction.opcode == Opcode::set_config) {
      registers_[static_cast<std::size_t>(instruction.reg)] = instruction.value;
    }
    const std::uint32_t layer = registers_[static_cast<std::size_t>(ConfigRegister::layer)];
    op.layer = layer == kNone ? -1 : static_cast<std::int32_t>(layer);
    op.instruction.unified_buffer = address(instruction.unified_buffer);
    op.instruction.source_b = address(instruction.source_b);
    op.instruction.destination = address(instruction.destination);
    switch (instruction.opcode) {
      case Opcode::read_host:
      case Opcode::write_host:
        decode_transfer(op);
        break;
      case Opcode::read_weights:
        decode_read_weights(op);
        break;
      case Opcode::matmul:
        decode_matmul(op);
        break;
      case Opcode::activate:
        decode_activate(op);
        break;
      case Opcode::vector_add:
        decode_add(op);
        break;
      case Opcode::vector_pool:
        decode_pool(op);
        break;
      case Opcode::vector_lookup:
        decode_lookup(op);
        break;
      default:
        break;
    }
    for (const Span& span : op.writes) op.bytes_out += span.size();
    return op;
  }

  /// `rows` rows of `row_bytes` bytes, `stride` bytes apart.
  void add_rows(const Operation& op, std::vector<Span>& spans, std::int64_t base, std::int64_t rows,
                std::int64_t row_bytes, std::int64_t stride) const {
    if (stride == row_bytes || rows == 1) {
      spans.push_back({base, base + rows * row_bytes});
      return;
    }
    if (rows > kMostStridedRows) {
      throw InputError(place_of(program_, op),
                       "has " + std::to_string(rows) + " rows with gaps between them",
                       "at most " + std::to_string(kMostStridedRows));
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      spans.push_back({base + row * stride, base + row * stride + row_bytes});
    }
  }

  void decode_transfer(Operation& op) const {
    const Instruction& i = op.instruction;
    op.rows_in = i.rows;
    const bool in = i.opcode == Opcode::read_host;
    add_rows(op, in ? op.writes : op.reads, i.unified_buffer, i.rows, i.row_bytes, i.stride_b);
    if (!in) op.bytes_in = std::int64_t{i.rows} * i.row_bytes;
    if (i.space == HostSpace::scratch) {
      const auto begin = static_cast<std::int64_t>(i.host);
      op.host_scratch = {begin, begin + (std::int64_t{i.rows} - 1) * i.stride + i.row_bytes};
    }
  }

  void decode_read_weights(Operation& op) {
    op.tile = &program_.tiles.at(op.instruction.value);
    fifo_.push_back(op.tile);
  }

  void decode_matmul(Operation& op) {
    const Instruction& i = op.instruction;
    if (i.next_tile) {
      tile_ = fifo_.front();
      fifo_.pop_front();
    }
    op.tile = tile_;
    op.setup = selected(ConfigRegister::setup, program_.setups);
    op.columns = selected(ConfigRegister::columns, program_.columns);
    op.accumulators = {i.accumulator, std::int64_t{i.accumulator} + i.rows};
    shape_multiply(op);
    if (i.keep_rows) return;
    op.bytes_in = std::int64_t{i.rows} * op.tile->rows * element_bytes_;
    add_gathered(op);
  }

  void shape_multiply(Operation& op) const {
    const std::int64_t pixels = op.instruction.rows;
    switch (program_.dataflow) {
      case Dataflow::weight_stationary:
        op.rows_in = pixels;
        op.row_elements = op.tile->rows;
        break;
      case Dataflow::output_stationary:
        op.rows_in = op.tile->rows;
        op.row_elements = pixels;
        break;
      case Dataflow::input_stationary:
        op.rows_in = op.tile->cols;
        op.row_elements = op.tile->rows;
        op.loads_rows = !op.instruction.keep_rows;
        break;
    }
  }

  /// What the data setup reads: in each plane that the multiply's channels touch, the pixels
  /// between the first and the last that its windows touch.
  void add_gathered(Operation& op) const {
    const Setup& setup = *op.setup;
    const std::int64_t k_first = op.instruction.value;
    const std::int64_t k_last = k_first + op.tile->rows - 1;
    const std::int64_t kernel_row = setup.window.kernel_width * setup.channel_count;
    const Span pixels =
        input_pixels(setup.window, setup.source.shape, setup.output, op.instruction.first,
                     op.instruction.rows, k_first / kernel_row, k_last / kernel_row);
    if (pixels.size() == 0) return;
    std::int64_t channel_first = 0;
    std::int64_t channel_last = setup.channel_count - 1;
    if (k_first / setup.channel_count == k_last / setup.channel_count) {
      channel_first = k_first % setup.channel_count;
      channel_last = k_last % setup.channel_count;
    }
    const std::int64_t plane_first = (setup.channel_first + channel_first) / setup.source.block;
    const std::int64_t plane_last = (setup.channel_first + channel_last) / setup.source.block;
    for (std::int64_t plane = plane_first; plane <= plane_last; ++plane) {
      const std::int64_t base = op.instruction.unified_buffer +
                                setup.source.plane_offset(plane, setup.images) * element_bytes_;
      const std::int64_t pixel_bytes = setup.source.plane_channels(plane) * element_bytes_;
      op.reads.push_back({base + pixels.begin * pixel_bytes, base + pixels.end * pixel_bytes});
    }
  }

  void decode_activate(Operation& op) const {
    const Instruction& i = op.instruction;
    op.columns = selected(ConfigRegister::columns, program_.columns);
    op.pool = selected(ConfigRegister::pool, program_.pools);
    op.accumulators = {i.accumulator, std::int64_t{i.accumulator} + i.rows};
    op.rows_in = i.rows;
    op.row_elements = static_cast<std::int64_t>(op.columns->bias.size());
    Span out{i.first, std::int64_t{i.first} + i.rows};
    if (op.pool != nullptr) {
      out = {op.pool->outputs_before(out.begin), op.pool->outputs_before(out.end)};
    }
    const std::int64_t pixel_bytes = op.row_elements * element_bytes_;
    op.writes.push_back(
        {i.unified_buffer + out.begin * pixel_bytes, i.unified_buffer + out.end * pixel_bytes});
  }

  void decode_add(Operation& op) const {
    const Instruction& i = op.instruction;
    op.add = selected(ConfigRegister::add, program_.adds);
    op.rows_in = i.rows;
    op.row_elements = op.add->width;
    const std::int64_t width = op.add->width * element_bytes_;
    add_rows(op, op.reads, i.unified_buffer, i.rows, width, op.add->a_stride * element_bytes_);
    add_rows(op, op.reads, i.source_b, i.rows, width, op.add->b_stride * element_bytes_);
    add_rows(op, op.writes, i.destination, i.rows, width,
             op.add->destination_stride * element_bytes_);
    op.bytes_in = 2 * op.rows_in * width;
  }

  void decode_pool(Operation& op) const {
    const Instruction& i = op.instruction;
    op.pool = selected(ConfigRegister::pool, program_.pools);
    const Span pixels = input_pixels(op.pool->window, op.pool->input, op.pool->output, i.first,
                                     i.rows, 0, op.pool->window.kernel_height - 1);
    op.rows_in = pixels.size();
    op.row_elements = op.pool->input.channels;
    const std::int64_t pixel_bytes = op.row_elements * element_bytes_;
    op.reads.push_back({i.unified_buffer + pixels.begin * pixel_bytes,
                        i.unified_buffer + pixels.end * pixel_bytes});
    op.writes.push_back({i.destination + i.first * pixel_bytes,
                         i.destination + (std::int64_t{i.first} + i.rows) * pixel_bytes});
    op.bytes_in = op.rows_in * pixel_bytes;
  }

  void decode_lookup(Operation& op) const {
    const Instruction& i = op.instruction;
    op.table = selected(ConfigRegister::table, program_.tables);
    op.rows_in = i.rows;
    op.row_elements = i.row_bytes / element_bytes_;
    add_rows(op, op.reads, i.unified_buffer, i.rows, i.row_bytes, i.row_bytes);
    add_rows(op, op.writes, i.destination, i.rows, i.row_bytes, i.row_bytes);
    op.bytes_in = op.rows_in * i.row_bytes;
  }

  const Program& program_;
  int parity_;
  std::int64_t element_bytes_;
  std::array<std::uint32_t, kConfigRegisters> registers_{};
  std::deque<const Tile*> fifo_;
  const Tile* tile_ = nullptr;
};

}  // namespace

Bytes scratch_bytes_used(const DecodedLaunches& launches) {
  Bytes used = 0;
  for (const auto& launch : launches) {
    for (const Operation& op : launch) used = std::max(used, op.host_scratch.end);
  }
  return used;
}

std::vector<Operation> decode_program(const Program& program, int parity) {
  return Decoder(program, parity).decode_all();
}

}  // namespace tilewave::sim
