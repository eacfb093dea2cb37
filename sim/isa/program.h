#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "models/graph.h"
#include "quant/format.h"
#include "quant/requantize.h"
#include "sim/dataflow.h"
#include "sim/isa/instruction.h"

namespace tilewave::sim {

/// How a tensor lies in the unified buffer: planes of at most `block` channels, one after the
/// other, each [image][height][width][channels of the block]. A plane is what the activation unit
/// writes for one column tile. The last plane is narrower if block does not divide the channels.
struct Layout {
  models::Shape shape;
  std::int64_t block = 0;

  std::int64_t planes() const { return ceil_div(shape.channels, block); }
  std::int64_t plane_channels(std::int64_t plane) const {
    return std::min(block, shape.channels - plane * block);
  }
  /// Elements before plane `plane`, for `images` images.
  std::int64_t plane_offset(std::int64_t plane, std::int64_t images) const {
    return plane * block * shape.pixels() * images;
  }
  bool operator==(const Layout&) const = default;
};

/// Systolic data setup: how output pixel p of a multiply becomes a row of activations. The row
/// holds, for k from k_first on, the input element (kernel row, kernel column, channel) with
/// k = (row * kernel_width + column) * channel_count + channel - channel_first.
struct Setup {
  Layout source;
  std::int64_t images = 1;  ///< in the source tensor
  models::Window window;
  models::Shape output;            ///< its pixels number the rows: (image * height + y) * width + x
  std::int64_t channel_first = 0;  ///< channels of the source that take part
  std::int64_t channel_count = 1;
  std::int32_t zero_point = 0;  ///< what a padded place holds
  bool operator==(const Setup&) const = default;
};

/// Per-column parameters of one column tile: what a multiply starts from and how the activation
/// unit requantizes. All vectors have one entry per column used.
struct Columns {
  std::vector<std::int32_t> bias;  ///< with -zx * sum(w) folded in
  quant::Requantizer requantizer;
  bool operator==(const Columns&) const = default;
};

/// Pooling in the activation unit, or from the unified buffer, over one plane.
struct Pool {
  enum class Kind : std::uint8_t { max, average };
  Kind kind = Kind::max;
  models::Window window;
  models::Shape input;   ///< pixels of the plane that is pooled; channels = channels of the plane
  models::Shape output;  ///< likewise
  bool count_include_pad = false;
  std::int32_t pad_value = 0;  ///< qmin for max; the zero_point for average with count_include_pad
  quant::RequantizeMode mode = quant::RequantizeMode::float_multiplier;

  /// Input pixels between two places where the input can be cut so that no window is cut: rows of
  /// windows where windows do not overlap and rows divide evenly, else whole images.
  std::int64_t unit_pixels() const {
    const bool separate = window.stride_height == window.kernel_height &&
                          window.dilation_height == 1 && window.pad_top == 0 &&
                          window.pad_bottom == 0 && input.height % window.kernel_height == 0;
    return separate ? window.kernel_height * input.width : input.pixels();
  }
  /// Output pixels made from the input pixels before `pixel`, a multiple of unit_pixels(). Both
  /// are counted over all images.
  std::int64_t outputs_before(std::int64_t pixel) const {
    const std::int64_t row = pixel % input.pixels() / input.width;
    return pixel / input.pixels() * output.pixels() + row / window.stride_height * output.width;
  }
  bool operator==(const Pool&) const = default;
};

/// Residual addition: `width` elements per row, rows `*_stride` elements apart in each operand.
struct VectorAdd {
  quant::Adder adder;
  std::int64_t width = 1;
  std::int64_t a_stride = 1, b_stride = 1, destination_stride = 1;
  bool operator==(const VectorAdd&) const = default;
};

/// table[q - qmin]
struct Table {
  std::vector<std::int16_t> values;
  bool operator==(const Table&) const = default;
};

/// One tile of weights: `rows` x `cols` used, row-major, at `offset` in Program::weights. In the
/// simulated memory it takes a whole array's worth unless the chip packs tiles.
struct Tile {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t offset = 0;
  std::int64_t useful = 0;  ///< weights that belong to the network: rows * cols less the zeros
                            ///< between the groups of a grouped convolution
  bool operator==(const Tile&) const = default;
};

/// A layer of the network, for the report. m, n, k: the matrix product that it is, per image;
/// groups > 1: `groups` products of that size.
struct Layer {
  std::string name;
  std::string operation;
  std::int64_t m = 0, n = 0, k = 0, groups = 1;
  std::int64_t tiles = 0;      ///< weight tiles read per launch
  Bytes compulsory_bytes = 0;  ///< of weights, input and output, per launch
  std::int64_t bands = 1;      ///< of rows that each image is worked on in, for lack of room
  Bytes spilled_bytes = 0;     ///< to and from the host's scratch space, per launch
  bool operator==(const Layer&) const = default;

  std::int64_t macs() const { return m * n * k * groups; }
};

/// Input or output tensor in host memory: Layout order for `batch` images.
struct HostTensor {
  Layout layout;
  /// Its format is the program's activation format, but for narrower values.
  quant::Quantization quantization;
  int bits = 0;  ///< of values narrower than the program's; 0: as wide
  bool operator==(const HostTensor&) const = default;
};

/// What both engines run: one launch handles `batch` images. The host launches it once per batch;
/// in every second launch the two halves of the ping-pong window change places, so that a launch's
/// transfers need not wait for the buffers of the one before. A short last batch is filled up.
struct Program {
  std::string name;
  std::int64_t batch = 1;
  Dataflow dataflow = Dataflow::weight_stationary;  ///< of the arrays that it can run on
  HostTensor input, output;
  Bytes host_scratch_bytes = 0;
  /// Unified buffer addresses in [base, base + 2 * half) alternate between launches.
  struct PingPong {
    std::uint32_t base = 0;
    std::uint32_t half = 0;
    bool operator==(const PingPong&) const = default;
  } ping_pong;
  Bytes unified_buffer_peak = 0;  ///< bytes of the unified buffer that the program uses
  quant::Format activation_format, weight_format;

  std::vector<Instruction> instructions;
  std::vector<Layer> layers;
  std::vector<Setup> setups;
  std::vector<Columns> columns;
  std::vector<Pool> pools;
  std::vector<VectorAdd> adds;
  std::vector<Table> tables;
  std::vector<Tile> tiles;
  std::vector<std::int16_t> weights;

  bool operator==(const Program&) const = default;
};

/// Throws InputError (naming `where` and the instruction) unless the program is well formed: ends
/// in halt, indices in range, registers set before use, every matmul with next_tile preceded by
/// its read_weights and as many of the one as of the other, tables of consistent sizes.
void validate(const Program& program, const std::string& where);

/// Binary file: the tables, then the encoded instructions. Throws InputError on malformed bytes.
std::vector<std::uint8_t> to_bytes(const Program& program);
Program program_from_bytes(const std::vector<std::uint8_t>& bytes, const std::string& where);

/// Readable form, one instruction or table entry per line; assemble(disassemble(p)) == p.
std::string disassemble(const Program& program);
/// Throws InputError with line number, what is wrong, and the nearest mnemonic or key for a typo.
Program assemble(const std::string& text, const std::string& where);

}  // namespace tilewave::sim
