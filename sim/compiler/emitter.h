#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "sim/compiler/buffer_plan.h"
#include "sim/compiler/lowering.h"
#include "sim/compiler/tiling.h"

namespace tilewave::sim {

/// Part of a launch: images [first, first + count), with the input and output buffers of
/// `half` (0 or 1).
struct Pass {
  std::int64_t first = 0;
  std::int64_t count = 1;
  int half = 0;
};

/// Writes the instructions of the passes of one launch, and the tables they use.
class Emitter {
 public:
  /// Throws Stopped, from emit() too, when `stop` says so.
  Emitter(const LoweredNetwork& network, const Chip& chip, const BufferPlan& plan, Program& program,
          const std::stop_token& stop);

  void emit(const Pass& pass);
  void finish();

 private:
  struct TiledColumns {
    ColumnTile tile;
    std::uint32_t columns = 0;             ///< in Program::columns
    std::vector<std::uint32_t> row_tiles;  ///< in Program::tiles
  };
  struct TiledStep {
    std::vector<TiledColumns> columns;
  };
  /// A tensor in the unified buffer: whole, or `rows` of it, of each of the pass's images.
  struct Operand {
    int tensor = 0;
    Layout layout;  ///< of those rows
    Rows rows;
    std::int64_t address = 0;
    std::int64_t images = 1;
  };
  /// What is worked on at a time: the whole step, or a band of rows of its output.
  struct Band {
    Rows rows;  ///< of the output
    std::vector<Operand> inputs;
    Operand output;
    std::vector<Operand> reads;  ///< the inputs that have to come from the host
    bool is_first = true;        ///< of the step
  };

  void prepare(std::size_t number);
  void emit_bands(const Pass& pass, std::size_t number);
  void emit_step(std::size_t number, const Band& band);
  Band whole_band(const Pass& pass, std::size_t number) const;
  Band make_band(const Pass& pass, std::size_t number, std::int64_t index) const;
  Operand whole(int id, const Pass& pass) const;
  HostSpace host_space(Opcode opcode, int id) const;
  void emit_transfer(const Pass& pass, Opcode opcode, const Operand& operand);

  /// A matrix step's work on a band. Its rows are the pixels before pooling.
  struct MatrixBand {
    const TiledStep& tiled;
    const Band& band;
    Setup setup;
    std::optional<Pool> pool;
    std::int64_t source_first = 0;  ///< output pixel of the setup that row 0 is
    std::int64_t rows = 0;
    std::int64_t unit = 1;  ///< rows of a chunk are multiples of it
  };
  /// Rows that pass from the matrix unit to the activation unit together.
  struct Chunk {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t accumulator = 0;
  };
  void emit_matrix_step(const TiledStep& tiled, const MatrixStep& work, const Band& band);
  MatrixBand matrix_band(const TiledStep& tiled, const MatrixStep& work, const Band& band) const;
  void emit_by_columns(MatrixBand& work);
  void emit_column(const MatrixBand& work, const TiledColumns& columns, const Chunk& chunk,
                   bool load);
  void emit_by_pixels(MatrixBand& work);
  void emit_columns_together(const MatrixBand& work, std::span<const TiledColumns> columns,
                             const Chunk& chunk);
  void select_setup(MatrixBand& work, const ColumnTile& tile);
  void select_columns(const MatrixBand& work, const TiledColumns& columns);
  void emit_read_weights(std::uint32_t tile);
  void emit_activate(const MatrixBand& work, const TiledColumns& columns, const Chunk& chunk);
  Instruction multiply(const MatrixBand& work, const Chunk& chunk, std::int64_t first,
                       std::int64_t rows) const;
  std::int64_t rows_per_chunk(std::int64_t unit, bool saves_loads) const;
  std::int64_t take_accumulators(std::int64_t rows);
  void emit_add_step(const AddStep& work, const Band& band);
  void emit_pool_step(const PoolStep& work, const Band& band);
  void emit_lookup_step(const LookupStep& work, const Band& band);

  const Tensor& tensor(int id) const { return network_.tensors[static_cast<std::size_t>(id)]; }
  bool is_spilled(int id) const { return plan_.spilled[static_cast<std::size_t>(id)]; }
  /// Where row `row` of the tensor begins in a plane of the operand.
  std::int64_t row_address(const Operand& operand, std::int64_t plane, std::int64_t row) const;
  void set(ConfigRegister reg, std::uint32_t value);
  std::uint32_t pool_for(const Pool& pool, std::int64_t channels);

  const LoweredNetwork& network_;
  const Chip& chip_;
  const BufferPlan& plan_;
  Program& program_;
  const std::stop_token& stop_;
  std::int64_t element_bytes_;
  std::array<std::uint32_t, kConfigRegisters> registers_;
  std::vector<TiledStep> tiled_;  ///< by step; empty for vector steps
  std::int64_t next_accumulator_ = 0;
};

}  // namespace tilewave::sim
