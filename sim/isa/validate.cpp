#include "sim/isa/validate.h"

#include <array>
#include <limits>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "sim/isa/decoder.h"
#include "sim/isa/opcode_fields.h"

namespace tilewave::sim {
namespace {

constexpr std::uint64_t kAddresses = std::uint64_t{1} << 32;
constexpr std::int64_t kMaxRows = std::numeric_limits<std::uint32_t>::max();

/// Follows the instructions as the sequencer issues them.
class Walk {
 public:
  Walk(const Program& program, const Locate& locate) : program_(program), locate_(locate) {
    registers_.fill(kNone);
  }

  void run() {
    if (program_.instructions.empty()) {
      throw InputError(locate_("program", 0), "there are no instructions", "the last must be halt");
    }
    for (; index_ < program_.instructions.size(); ++index_) check(program_.instructions[index_]);
    index_ = program_.instructions.size() - 1;
    if (program_.instructions.back().opcode != Opcode::halt) fail("the last must be halt");
    if (swapped_ != read_.size()) {
      fail("read_weights comes " + std::to_string(read_.size()) + " times and next_tile " +
               std::to_string(swapped_),
           "as many of the one as of the other");
    }
  }

 private:
  void check(const Instruction& i) {
    if (const auto member = unused_member(i)) {
      fail(mnemonic(i.opcode) + " does not use " + std::string(member_name(*member)) +
           ", which is not zero");
    }
    switch (i.opcode) {
      case Opcode::nop:
      case Opcode::sync:
        return;
      case Opcode::halt:
        if (index_ + 1 != program_.instructions.size()) fail("halt before the end of the program");
        return;
      case Opcode::set_config:
        return set_config(i);
      default:
        break;
    }
    need(ConfigRegister::layer, program_.layers);
    switch (i.opcode) {
      case Opcode::read_host:
      case Opcode::write_host:
        return host_transfer(i);
      case Opcode::read_weights:
        return read_weights(i);
      case Opcode::matmul:
        return matmul(i);
      case Opcode::activate:
        return activate(i);
      case Opcode::vector_add:
        return vector_add(i);
      case Opcode::vector_pool:
        return vector_pool(i);
      default:
        return vector_lookup(i);
    }
  }

  void set_config(const Instruction& i) {
    const std::size_t sizes[kConfigRegisters] = {program_.layers.size(),  program_.setups.size(),
                                                 program_.columns.size(), program_.pools.size(),
                                                 program_.adds.size(),    program_.tables.size()};
    const auto reg = static_cast<std::size_t>(i.reg);
    const bool is_no_pooling = i.reg == ConfigRegister::pool && i.value == kNone;
    if (i.value >= sizes[reg] && !is_no_pooling) {
      fail(std::string(kRegisterNames[reg]) + " " + std::to_string(i.value) + " does not exist",
           "the program has " + std::to_string(sizes[reg]));
    }
    registers_[reg] = i.value;
  }

  void host_transfer(const Instruction& i) {
    check_rows(i);
    range(i.row_bytes, 1, kMaxRows, "row_bytes");
    if (i.opcode == Opcode::write_host && i.space == HostSpace::input) {
      fail("writes to the host's input", "output or scratch");
    }
    if (i.rows > 1) {
      range(i.stride, i.row_bytes, kMaxRows, "host_stride");
      range(i.stride_b, i.row_bytes, kMaxRows, "ub_stride");
    }
    const auto extent = [&i](std::uint64_t stride) {
      return (i.rows - 1) * stride + i.row_bytes;  // below 2^64: all three have 32 bits
    };
    const Bytes sizes[kHostSpaces] = {
        tensor_bytes(program_.input.layout, program_.batch, program_.activation_format),
        tensor_bytes(program_.output.layout, program_.batch, program_.activation_format),
        program_.host_scratch_bytes};
    const auto space = static_cast<std::size_t>(i.space);
    const auto size = static_cast<std::uint64_t>(sizes[space]);
    const std::uint64_t bytes = extent(i.stride);
    if (bytes > size || i.host > size - bytes) {
      fail("passes the end of the host's " + std::string(kSpaceNames[space]),
           std::to_string(size) + " bytes");
    }
    check_buffer("ub", i.unified_buffer, extent(i.stride_b));
  }

  void read_weights(const Instruction& i) {
    if (i.value >= program_.tiles.size()) {
      fail("tile " + std::to_string(i.value) + " does not exist",
           "the program has " + std::to_string(program_.tiles.size()));
    }
    read_.push_back(i.value);
  }

  void matmul(const Instruction& i) {
    const Setup& setup = need(ConfigRegister::setup, program_.setups);
    const Columns& columns = need(ConfigRegister::columns, program_.columns);
    check_rows(i);
    if (i.next_tile) {
      if (swapped_ == read_.size()) fail("takes the next tile, but none was read");
      ++swapped_;
    }
    if (swapped_ == 0) fail("there is no tile in the array", "next_tile on the first multiply");
    const Tile& tile = program_.tiles[read_[swapped_ - 1]];
    const std::int64_t kernel =
        setup.window.kernel_height * setup.window.kernel_width * setup.channel_count;
    range(i.value + tile.rows, 1, kernel, "the tile's last row, k + rows,");
    range(tile.cols, 1, static_cast<std::int64_t>(columns.bias.size()), "the tile's cols");
    range(std::int64_t{i.first} + i.rows, 1, setup.images * setup.output.pixels(),
          "the last output pixel, first + rows,");
    range(std::int64_t{i.accumulator} + i.rows, 1, static_cast<std::int64_t>(kAddresses),
          "the last accumulator row, acc + rows,");
    check_buffer("ub", i.unified_buffer, bytes({setup.images, setup.source.shape.elements()}));
    if (i.keep_rows) check_kept_rows(i, tile);
    in_array_ = {&i, registers_[static_cast<std::size_t>(ConfigRegister::setup)], tile.rows};
  }

  /// The activations in the array are those that the multiply would load.
  void check_kept_rows(const Instruction& i, const Tile& tile) {
    if (program_.dataflow != Dataflow::input_stationary) {
      fail("keep_rows", "in an input_stationary program");
    }
    const Instruction* before = in_array_.multiply;
    if (before == nullptr) fail("keeps rows, but there are none in the array");
    if (before->unified_buffer != i.unified_buffer || before->first != i.first ||
        before->rows != i.rows || before->value != i.value || in_array_.tile_rows != tile.rows ||
        in_array_.setup != registers_[static_cast<std::size_t>(ConfigRegister::setup)]) {
      fail("keeps other rows than the multiply before it has in the array",
           "the same setup, ub, first, rows, k and height of the tile");
    }
  }

  void activate(const Instruction& i) {
    const Columns& columns = need(ConfigRegister::columns, program_.columns);
    check_rows(i);
    range(std::int64_t{i.accumulator} + i.rows, 1, static_cast<std::int64_t>(kAddresses),
          "the last accumulator row, acc + rows,");
    const auto channels = static_cast<std::int64_t>(columns.bias.size());
    const std::int64_t end = std::int64_t{i.first} + i.rows;
    const std::uint32_t pool_index = registers_[static_cast<std::size_t>(ConfigRegister::pool)];
    if (pool_index == kNone) {
      check_plane("ub", i.unified_buffer, i.first, end, channels);
      return;
    }
    const Pool& pool = program_.pools[pool_index];
    if (pool.input.channels != channels) {
      fail("the pool has " + std::to_string(pool.input.channels) + " channels",
           "as many as columns: " + std::to_string(channels));
    }
    check_pooled_rows(i, pool);
    check_plane("ub", i.unified_buffer, pool.outputs_before(i.first), pool.outputs_before(end),
                channels);
  }

  /// Rows are whole images, or whole bands of windows where the windows do not overlap.
  void check_pooled_rows(const Instruction& i, const Pool& pool) {
    const std::int64_t unit = pool.unit_pixels();
    if (i.rows % unit != 0 || i.first % unit != 0) {
      fail("first " + std::to_string(i.first) + " and rows " + std::to_string(i.rows) +
               " are not whole pooling windows",
           "multiples of " + std::to_string(unit));
    }
  }

  void vector_add(const Instruction& i) {
    const VectorAdd& add = need(ConfigRegister::add, program_.adds);
    check_rows(i);
    const auto extent = [&](std::int64_t stride) {
      return bytes({(std::int64_t{i.rows} - 1) * stride + add.width});  // 32 bits and 31: fits
    };
    check_buffer("a", i.unified_buffer, extent(add.a_stride));
    check_buffer("b", i.source_b, extent(add.b_stride));
    check_buffer("to", i.destination, extent(add.destination_stride));
  }

  void vector_pool(const Instruction& i) {
    const Pool& pool = need(ConfigRegister::pool, program_.pools);
    check_rows(i);
    const std::int64_t end = std::int64_t{i.first} + i.rows;
    check_buffer("ub", i.unified_buffer,
                 bytes({ceil_div(end, pool.output.pixels()), pool.input.elements()}));
    check_plane("to", i.destination, i.first, end, pool.output.channels);
  }

  void vector_lookup(const Instruction& i) {
    need(ConfigRegister::table, program_.tables);
    check_rows(i);
    range(i.row_bytes, 1, kMaxRows, "row_bytes");
    if (i.row_bytes % static_cast<std::uint32_t>(program_.activation_format.bytes()) != 0) {
      fail("row_bytes is " + std::to_string(i.row_bytes), "whole activations");
    }
    const std::uint64_t extent = std::uint64_t{i.rows} * i.row_bytes;
    check_buffer("ub", i.unified_buffer, extent);
    check_buffer("to", i.destination, extent);
  }

  void check_rows(const Instruction& i) { range(i.rows, 1, kMaxRows, "rows"); }

  /// Rows [first, end) of a plane that starts at `address`.
  void check_plane(std::string_view name, std::uint32_t address, std::int64_t first,
                   std::int64_t end, std::int64_t channels) {
    const std::uint64_t begin = address + bytes({first, channels});
    const std::uint64_t size = bytes({end - first, channels});
    if (begin >= kAddresses) fail(std::string(name) + " passes the last address of 32 bits");
    check_buffer(name, begin, size);
  }

  /// The range must have addresses, and stay in one half of the ping-pong window or outside it.
  void check_buffer(std::string_view name, std::uint64_t address, std::uint64_t size) {
    if (size > kAddresses || address > kAddresses - size) {
      fail(std::string(name) + " passes the last address of 32 bits");
    }
    const std::uint64_t base = program_.ping_pong.base;
    const std::uint64_t half = program_.ping_pong.half;
    if (half == 0) return;
    for (const std::uint64_t edge : {base, base + half, base + 2 * half}) {
      if (address < edge && edge < address + size) {
        fail(std::string(name) + "'s " + std::to_string(size) + " bytes at " +
                 std::to_string(address) + " cross an edge of the ping-pong window",
             "edges at " + std::to_string(base) + ", " + std::to_string(base + half) + " and " +
                 std::to_string(base + 2 * half));
      }
    }
  }

  /// Bytes of as many activations; what cannot be addressed becomes more than there are addresses.
  std::uint64_t bytes(std::initializer_list<std::int64_t> sizes) const {
    const auto limit = static_cast<std::int64_t>(2 * kAddresses);
    const auto elements = checked_product(sizes, limit);
    return static_cast<std::uint64_t>(elements.value_or(limit)) *
           static_cast<std::uint64_t>(program_.activation_format.bytes());
  }

  /// The entry that a register selects.
  template <typename Entry>
  const Entry& need(ConfigRegister reg, const std::vector<Entry>& entries) {
    const std::uint32_t index = registers_[static_cast<std::size_t>(reg)];
    if (index == kNone) {
      fail("needs register " + std::string(kRegisterNames[static_cast<std::size_t>(reg)]) +
               ", which is not set",
           "set_config before it");
    }
    return entries[index];
  }

  void range(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view name) {
    if (value < low || value > high) check_range(value, low, high, name, [this] { return here(); });
  }

  std::string here() const { return locate_("instruction", index_); }
  [[noreturn]] void fail(const std::string& what, const std::string& allowed = "") const {
    throw InputError(here(), what, allowed);
  }

  const Program& program_;
  const Locate& locate_;
  std::size_t index_ = 0;
  std::array<std::uint32_t, kConfigRegisters> registers_{};
  std::vector<std::uint32_t> read_;  ///< tiles, in the order in which they enter the FIFO
  std::size_t swapped_ = 0;          ///< how many of them have been taken by a multiply
  /// Whose activations an input-stationary array holds.
  struct InArray {
    const Instruction* multiply = nullptr;
    std::uint32_t setup = kNone;
    std::int64_t tile_rows = 0;
  } in_array_;
};

}  // namespace

void validate(const Program& program, const Locate& locate) {
  validate_tables(program, locate);
  Walk(program, locate).run();
}

void validate(const Program& program, const std::string& where) {
  validate(program, [&](std::string_view item, std::size_t index) {
    if (item == "program") return where;
    std::string place = where + ": " + std::string(item) + " " + std::to_string(index);
    if (item == "instruction") place += " (" + mnemonic(program.instructions[index].opcode) + ")";
    return place;
  });
}

}  // namespace tilewave::sim
