#include <string>
#include <utility>
#include <vector>

#include "sim/isa/text_values.h"
#include "sim/isa/tile_text.h"
#include "sim/isa/validate.h"

namespace tilewave::sim {
namespace {

using KeysAndValues = std::vector<std::pair<std::string_view, std::string>>;

template <typename Entry>
KeysAndValues printed_fields(const Entry& entry) {
  KeysAndValues printed;
  const auto visit = [&printed](std::string_view key, const auto& value) {
    printed.emplace_back(key, print(value));
  };
  fields(visit, entry);
  return printed;
}

/// The fields that differ from a fresh entry's: those that the assembler would not guess.
template <typename Entry>
void append_fields(std::string& out, const Entry& entry) {
  static const KeysAndValues defaults = printed_fields(Entry{});
  const KeysAndValues printed = printed_fields(entry);
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (printed[i].second == defaults[i].second) continue;
    out += ' ';
    out += printed[i].first;
    out += '=';
    out += printed[i].second;
  }
  out += '\n';
}

template <typename Entry>
void append_table(std::string& out, std::string_view name, const std::vector<Entry>& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    out += '.' + std::string(name) + ' ' + std::to_string(i);
    append_fields(out, table[i]);
  }
}

void append_tiles(std::string& out, const Program& program) {
  for (std::size_t i = 0; i < program.tiles.size(); ++i) {
    const Tile& tile = program.tiles[i];
    TileText text;
    if (tile.useful != tile.rows * tile.cols) text.useful = tile.useful;
    auto row = program.weights.begin() + tile.offset;
    for (std::int64_t r = 0; r < tile.rows; ++r, row += tile.cols) {
      text.weights.emplace_back(row, row + tile.cols);
    }
    out += ".tile " + std::to_string(i);
    append_fields(out, text);
  }
}

std::string operand(const Instruction& instruction, const Field& field) {
  const std::uint64_t value = get(instruction, field.member);
  switch (field.style) {
    case FieldStyle::flag:
      return value == 0 ? "" : std::string(field.name);
    case FieldStyle::decimal:
      return std::string(field.name) + '=' + std::to_string(value);
    case FieldStyle::address:
      return std::string(field.name) + '=' + print_hex(value);
    case FieldStyle::positional:
      break;
  }
  if (field.member == Member::reg) return std::string(kRegisterNames[value]);
  if (field.member == Member::space) return std::string(kSpaceNames[value]);
  return value == kNone ? "none" : std::to_string(value);
}

void append_instruction(std::string& out, const Instruction& instruction, const Program& program) {
  const OpcodeInfo& info = opcode_info(instruction.opcode);
  out += info.mnemonic;
  bool is_after_positional = false;
  for (const Field& field : info.fields) {
    const std::string text = operand(instruction, field);
    if (text.empty()) continue;
    out += is_after_positional ? ", " : " ";
    out += text;
    is_after_positional = field.style == FieldStyle::positional;
  }
  if (instruction.opcode == Opcode::set_config && instruction.reg == ConfigRegister::layer) {
    out += "  # " + print(program.layers[instruction.value].name);
  }
  out += '\n';
}

}  // namespace

std::string disassemble(const Program& program) {
  validate(program, "the program to disassemble");
  std::string out = ".program";
  append_fields(out, program);
  out += ".input";
  append_fields(out, program.input);
  out += ".output";
  append_fields(out, program.output);
  for_each_table(program,
                 [&](std::string_view name, const auto& table) { append_table(out, name, table); });
  append_tiles(out, program);
  out += '\n';
  for (const Instruction& instruction : program.instructions) {
    append_instruction(out, instruction, program);
  }
  return out;
}

}  // namespace tilewave::sim
