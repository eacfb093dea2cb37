#pragma once

#include <array>
#include <cstdint>
#include <map>
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
  Emitter(const LoweredNetwork& network, const Chip& chip, const BufferPlan& plan,
          Program& program);

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

  void prepare(std::size_t number);
  void emit_transfer(const Pass& pass, Opcode opcode, int tensor, const HostTensor& host);
  void emit_matrix_step(const Pass& pass, std::size_t number, const MatrixStep& work);
  std::int64_t rows_per_chunk(std::int64_t unit, bool reloads) const;
  void emit_chunk(const Step& step, const TiledColumns& columns, std::int64_t first,
                  std::int64_t rows, bool load, const Pass& pass);
  void emit_add_step(const Pass& pass, const Step& step, const AddStep& work);
  void emit_pool_step(const Pass& pass, const Step& step, const PoolStep& work);
  void emit_lookup_step(const Pass& pass, const Step& step, const LookupStep& work);

  const Tensor& tensor(int id) const { return network_.tensors[static_cast<std::size_t>(id)]; }
  std::int64_t address(int id, const Pass& pass) const;
  std::int64_t plane_address(int id, std::int64_t plane, const Pass& pass) const;
  void set(ConfigRegister reg, std::uint32_t value);
  std::uint32_t setup_for(const MatrixStep& work, int input, const ColumnTile& tile,
                          std::int64_t images);
  std::uint32_t pool_for(const Pool& pool, std::int64_t channels);

  const LoweredNetwork& network_;
  const Chip& chip_;
  const BufferPlan& plan_;
  Program& program_;
  std::int64_t element_bytes_;
  std::array<std::uint32_t, kConfigRegisters> registers_;
  std::vector<TiledStep> tiled_;  ///< by step; empty for vector steps
  std::int64_t next_accumulator_ = 0;
};

}  // namespace tilewave::sim
