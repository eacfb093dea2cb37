#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewave::sim {

/// The instruction set, after TPU v1's (Jouppi et al., ISCA 2017, section 2). Addresses: unified
/// buffer in bytes, accumulators in rows, host memory in bytes of one of three spaces, weight
/// memory in tiles. See docs/isa.md for what each instruction reads, writes and waits for.
enum class Opcode : std::uint8_t {
  nop,
  halt,           ///< ends the program; must be the last instruction
  sync,           ///< what follows issues when everything before has ended
  set_config,     ///< config[reg] = value; travels with the instructions issued later
  read_host,      ///< host memory -> unified buffer
  write_host,     ///< unified buffer -> host memory
  read_weights,   ///< weight memory tile -> weight FIFO
  matmul,         ///< unified buffer, through the data setup -> array -> accumulators
  activate,       ///< accumulators -> requantize, nonlinearity, pooling -> unified buffer
  vector_add,     ///< unified buffer + unified buffer -> unified buffer
  vector_pool,    ///< unified buffer -> pooling -> unified buffer
  vector_lookup,  ///< unified buffer -> table -> unified buffer
};
inline constexpr int kOpcodes = 12;

/// Configuration registers. Each holds an index into the Program's table of the same name.
enum class ConfigRegister : std::uint8_t { layer, setup, columns, pool, add, table };
inline constexpr int kConfigRegisters = 6;
/// Value of a register that selects nothing: no pooling.
inline constexpr std::uint32_t kNone = 0xffffffff;

enum class HostSpace : std::uint8_t { input, output, scratch };

/// One instruction, every field explicit; which ones an opcode uses is in the table below.
/// The others must be zero.
///
///   set_config     reg, value
///   read_host      space, host, unified_buffer, rows, row_bytes, stride (host), stride_b (buffer)
///   write_host     the same
///   read_weights   tile
///   matmul         unified_buffer (of the source tensor), accumulator, first (output pixel),
///                  rows, k_first, next_tile, accumulate, keep_rows
///                                                              [config: setup, columns]
///   activate       accumulator, rows, unified_buffer, first    [config: columns, pool]
///   vector_add     unified_buffer (a), source_b, destination, rows              [config: add]
///   vector_pool    unified_buffer (source plane), destination, first, rows      [config: pool]
///   vector_lookup  unified_buffer, destination, rows, row_bytes                 [config: table]
struct Instruction {
  Opcode opcode = Opcode::nop;
  ConfigRegister reg = ConfigRegister::layer;
  HostSpace space = HostSpace::input;
  bool next_tile = false;   ///< swap in the next tile of the FIFO with this multiply's first row
  bool accumulate = false;  ///< add to the accumulator entries instead of starting from the bias
  bool keep_rows = false;   ///< the array keeps the activations of the multiply before
  std::uint32_t value = 0;  ///< set_config: value; read_weights: tile; matmul: k_first
  std::uint32_t unified_buffer = 0;
  std::uint32_t source_b = 0;
  std::uint32_t destination = 0;
  std::uint32_t accumulator = 0;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t stride = 0;
  std::uint32_t stride_b = 0;
  std::uint64_t host = 0;

  bool operator==(const Instruction&) const = default;
};

/// Fixed-size little-endian form.
inline constexpr std::size_t kInstructionBytes = 56;
using EncodedInstruction = std::array<std::uint8_t, kInstructionBytes>;
EncodedInstruction encode(const Instruction& instruction);
/// Throws InputError (naming `where`) on an unknown opcode, register, space or flag, and on a
/// non-zero field that the opcode does not use.
Instruction decode(const EncodedInstruction& bytes, const std::string& where);

/// "matmul", ...
std::string mnemonic(Opcode opcode);

}  // namespace tilewave::sim
