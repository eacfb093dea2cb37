#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/isa/assembly_line.h"
#include "sim/isa/tile_text.h"
#include "sim/isa/validate.h"

namespace tilewave::sim {
namespace {

using Words = std::vector<std::string_view>;

template <typename Range>
std::vector<std::string> strings(const Range& names) {
  return {std::begin(names), std::end(names)};
}

std::vector<std::string> mnemonics() {
  std::vector<std::string> names;
  for (int i = 0; i < kOpcodes; ++i) names.push_back(mnemonic(static_cast<Opcode>(i)));
  return names;
}

class Assembler {
 public:
  explicit Assembler(const std::string& where) : where_(where) {}

  Program run(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (const char* const directive : {".program", ".input", ".output"}) {
      if (!lines_.contains(directive)) {
        throw InputError(where_, std::string("there is no ") + directive);
      }
    }
    derive(program_);
    validate(program_,
             [this](std::string_view item, std::size_t index) { return place(item, index); });
    return std::move(program_);
  }

 private:
  void line(std::string_view text) {
    const Words words = split_words(text, at());
    if (words.empty()) return;
    if (words[0].front() == '.') {
      directive(words);
    } else {
      instruction(words);
    }
  }

  void directive(const Words& words) {
    const std::string name(words[0]);
    if (name == ".program") return once(words, program_);
    if (name == ".input") return host_tensor(words, program_.input);
    if (name == ".output") return host_tensor(words, program_.output);
    if (name == ".tile") return tile(words);
    std::vector<std::string> known = {".program", ".input", ".output", ".tile"};
    bool is_known = false;
    for_each_table(program_, [&](std::string_view item, auto& table) {
      known.push_back('.' + std::string(item));
      if (name != known.back()) return;
      is_known = true;
      check_number(words, table.size());
      auto& entry = table.emplace_back();
      read_keys(words, 2, entry);
      complete(entry);
    });
    if (!is_known) {
      throw InputError(at(), "unknown directive '" + excerpt(name) + "'", suggestion(name, known));
    }
  }

  template <typename Entry>
  void once(const Words& words, Entry& entry) {
    std::vector<std::size_t>& lines = lines_[std::string(words[0])];
    if (!lines.empty()) {
      throw InputError(at(), std::string(words[0]) + " is given twice",
                       "once; see line " + std::to_string(lines[0]));
    }
    lines.push_back(line_);
    read_keys(words, 1, entry);
  }

  void host_tensor(const Words& words, HostTensor& tensor) {
    once(words, tensor);
    complete(tensor.layout);
  }

  void tile(const Words& words) {
    check_number(words, program_.tiles.size());
    TileText text;
    read_keys(words, 2, text);
    Tile tile;
    tile.rows = static_cast<std::int64_t>(text.weights.size());
    tile.cols = text.weights.empty() ? 0 : static_cast<std::int64_t>(text.weights[0].size());
    tile.useful = text.useful < 0 ? tile.rows * tile.cols : text.useful;
    for (const std::vector<std::int16_t>& row : text.weights) {
      if (row.size() != text.weights[0].size()) {
        throw InputError(at(), ".tile: weights has rows of " +
                                   std::to_string(text.weights[0].size()) + " and of " +
                                   std::to_string(row.size()) + " values");
      }
      program_.weights.insert(program_.weights.end(), row.begin(), row.end());
    }
    program_.tiles.push_back(tile);
  }

  // What a person who writes a program by hand may leave out beyond the fields' defaults.
  static void complete(Layout& layout) {
    if (layout.block == 0) layout.block = layout.shape.channels;
  }
  static void complete(Setup& setup) { complete(setup.source); }
  static void complete(const auto&) {}

  template <typename Entry>
  void read_keys(const Words& words, std::size_t skipped, Entry& entry) {
    KeyReader reader({words.begin() + static_cast<std::ptrdiff_t>(skipped), words.end()},
                     std::string(words[0]), at());
    fields(reader, entry);
    reader.finish();
  }

  /// Entries come in order: the number is there for the reader's eye, and checked.
  void check_number(const Words& words, std::size_t expected) {
    const std::string given =
        words.size() < 2 ? "missing" : "'" + excerpt(std::string(words[1])) + "'";
    if (given != "'" + std::to_string(expected) + "'") {
      throw InputError(at(), std::string(words[0]) + ": the number is " + given,
                       std::to_string(expected) + " comes next");
    }
    lines_[std::string(words[0])].push_back(line_);
  }

  void instruction(const Words& words) {
    static const std::vector<std::string> names = mnemonics();
    const auto found = std::find(names.begin(), names.end(), words[0]);
    if (found == names.end()) {
      const std::string name(words[0]);
      throw InputError(at(), "unknown instruction '" + excerpt(name) + "'",
                       suggestion(name, names));
    }
    Instruction instruction;
    instruction.opcode = static_cast<Opcode>(found - names.begin());
    Words operands;
    for (std::size_t w = 1; w < words.size(); ++w) operands.push_back(without_comma(words[w]));
    read_operands(operands, instruction);
    program_.instructions.push_back(instruction);
    lines_["instruction"].push_back(line_);
  }

  static std::string_view without_comma(std::string_view word) {
    return word.ends_with(',') ? word.substr(0, word.size() - 1) : word;
  }

  void read_operands(const Words& operands, Instruction& instruction) {
    const OpcodeInfo& info = opcode_info(instruction.opcode);
    std::array<bool, kMembers> is_given{};
    std::size_t next = 0;
    for (const Field& field : info.fields) {
      if (field.style != FieldStyle::positional) continue;
      if (next == operands.size()) {
        throw InputError(at(),
                         std::string(info.mnemonic) + " needs its " + std::string(field.name));
      }
      set(instruction, field.member, positional(operands[next++], info, field));
    }
    for (; next < operands.size(); ++next) {
      const std::string_view key = operands[next].substr(0, operands[next].find('='));
      const Field& field = find_field(key, info);
      if (std::exchange(is_given[static_cast<std::size_t>(field.member)], true)) {
        throw InputError(at(),
                         std::string(info.mnemonic) + ": " + std::string(key) + " is given twice");
      }
      set(instruction, field.member, keyed(operands[next], key, info, field));
    }
  }

  const Field& find_field(std::string_view key, const OpcodeInfo& info) {
    std::vector<std::string> known;
    for (const Field& field : info.fields) {
      if (field.style == FieldStyle::positional) continue;
      if (field.name == key) return field;
      known.emplace_back(field.name);
    }
    throw InputError(
        at(), std::string(info.mnemonic) + ": unknown operand '" + excerpt(std::string(key)) + "'",
        known.empty() ? "nothing more" : suggestion(std::string(key), known));
  }

  std::uint64_t positional(std::string_view word, const OpcodeInfo& info, const Field& field) {
    if (field.member == Member::reg) return index_of(word, strings(kRegisterNames), info, field);
    if (field.member == Member::space) return index_of(word, strings(kSpaceNames), info, field);
    if (word == "none") return kNone;
    return number(word, info, field);
  }

  std::uint64_t keyed(std::string_view word, std::string_view key, const OpcodeInfo& info,
                      const Field& field) {
    const bool is_flag = field.style == FieldStyle::flag;
    const bool has_value = key.size() < word.size();
    if (is_flag == has_value) {
      throw InputError(at(),
                       std::string(info.mnemonic) + ": " + std::string(key) +
                           (is_flag ? " takes no value" : " needs a value"),
                       std::string(key) + (is_flag ? "" : "=number"));
    }
    return is_flag ? 1 : number(word.substr(key.size() + 1), info, field);
  }

  std::uint64_t number(std::string_view word, const OpcodeInfo& info, const Field& field) {
    Rest rest = word;
    std::uint64_t value = 0;
    if (!parse_integer(rest, 0, max_value(field.member), value) || !rest.empty()) {
      throw InputError(at(),
                       std::string(info.mnemonic) + ": " + std::string(field.name) + " is '" +
                           excerpt(std::string(word)) + "'",
                       "a whole number, 0 to " + std::to_string(max_value(field.member)));
    }
    return value;
  }

  std::uint64_t index_of(std::string_view word, const std::vector<std::string>& names,
                         const OpcodeInfo& info, const Field& field) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) return static_cast<std::uint64_t>(found - names.begin());
    const std::string given(word);
    throw InputError(at(),
                     std::string(info.mnemonic) + ": unknown " + std::string(field.name) + " '" +
                         excerpt(given) + "'",
                     suggestion(given, names));
  }

  std::string at() const { return where_ + ":" + std::to_string(line_); }

  /// Where validation found something: the line that the entry came from.
  std::string place(std::string_view item, std::size_t index) const {
    const bool is_instruction = item == "instruction";
    const std::string key = is_instruction ? std::string(item) : '.' + std::string(item);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return where_;
    const std::string name = is_instruction ? mnemonic(program_.instructions[index].opcode) : key;
    return where_ + ":" + std::to_string(found->second.at(index)) + ": " + name;
  }

  const std::string& where_;
  std::size_t line_ = 0;
  Program program_;
  /// Line numbers of the entries of each directive, and of the instructions.
  std::map<std::string, std::vector<std::size_t>> lines_;
};

}  // namespace

Program assemble(const std::string& text, const std::string& where) {
  return Assembler(where).run(text);
}

}  // namespace tilewave::sim
