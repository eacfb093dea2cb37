#include "sim/fault.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace tilewave::sim {
namespace {

constexpr const char* kGrammar =
    "matrix_unit.pe_ROW_COLUMN.activation|weight|shadow|psum|drain bit N stuck-at-0|1 [from CYCLE] "
    "[to CYCLE]";

[[noreturn]] void refuse(const std::string& what, const std::string& allowed = kGrammar) {
  throw InputError("fault", what, allowed);
}

/// All of `text` as a whole number from 0.
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < 0) return std::nullopt;
  return value;
}

/// The words of a fault, taken one after the other.
class Words {
 public:
  explicit Words(const std::string& text) : in_(text) {}
  std::string next() {
    std::string word;
    in_ >> word;
    return word;
  }
  void keyword(const std::string& wanted) {
    const std::string word = next();
    if (word != wanted) refuse("'" + excerpt(word) + "' stands where '" + wanted + "' should");
  }
  std::int64_t number(const std::string& of) {
    const std::string word = next();
    const auto value = whole_number(word);
    if (!value) refuse("'" + excerpt(word) + "' is no " + of, "a whole number from 0");
    return *value;
  }

 private:
  std::istringstream in_;
};

/// matrix_unit.pe_3_7.weight
void read_place(const std::string& place, StuckBit& fault) {
  const std::string unit = "matrix_unit.pe_";
  const std::size_t dot = place.rfind('.');
  const std::size_t line = place.find('_', unit.size());
  if (!place.starts_with(unit) || dot == std::string::npos || line == std::string::npos ||
      dot < line) {
    refuse("'" + excerpt(place) + "' is no register");
  }
  const auto row = whole_number(std::string_view(place).substr(unit.size(), line - unit.size()));
  const auto column = whole_number(std::string_view(place).substr(line + 1, dot - line - 1));
  if (!row || !column) refuse("'" + excerpt(place) + "' is no register");
  fault.row = *row;
  fault.column = *column;
  const std::string name = place.substr(dot + 1);
  const auto& names = register_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    refuse("'" + excerpt(name) + "' is no register", suggestion(name, names));
  }
  fault.reg = static_cast<Register>(found - names.begin());
}

std::string name_of(Register reg) {
  return register_names()[static_cast<std::size_t>(reg)];
}

std::vector<std::string> names_there(const Chip& chip, const Program& program) {
  std::vector<std::string> names;
  for (int i = 0; i < kRegisters; ++i) {
    const auto reg = static_cast<Register>(i);
    if (register_format(chip, program, reg).bits > 0) names.push_back(name_of(reg));
  }
  return names;
}

/// One bit cannot be both at once.
void check_contradictions(const std::vector<StuckBit>& stuck) {
  for (auto one = stuck.begin(); one != stuck.end(); ++one) {
    for (auto other = stuck.begin(); other != one; ++other) {
      const bool is_same_bit = one->row == other->row && one->column == other->column &&
                               one->reg == other->reg && one->bit == other->bit;
      const bool overlap = one->from < other->to && other->from < one->to;
      if (!is_same_bit || !overlap || one->value == other->value) continue;
      refuse("'" + fault_text(*one) + "' and '" + fault_text(*other) + "' contradict each other",
             "one value in each cycle");
    }
  }
}

void check_index(const std::string& what, std::int64_t value, std::int64_t end) {
  if (value < end) return;
  refuse(what + " " + std::to_string(value) + " does not exist", "0 to " + std::to_string(end - 1));
}

}  // namespace

StuckBit parse_fault(const std::string& text) {
  StuckBit fault;
  Words words(text);
  read_place(words.next(), fault);
  words.keyword("bit");
  fault.bit = static_cast<int>(std::min<std::int64_t>(words.number("bit"), 64));
  const std::string kind = words.next();
  if (kind != "stuck-at-0" && kind != "stuck-at-1") {
    refuse("'" + excerpt(kind) + "' is no fault", "stuck-at-0 or stuck-at-1");
  }
  fault.value = kind.back() == '1';
  std::string word = words.next();
  if (word == "from") {
    fault.from = words.number("cycle");
    word = words.next();
  }
  if (word == "to") {
    fault.to = words.number("cycle");
    word = words.next();
  }
  if (!word.empty()) refuse("'" + excerpt(word) + "' is one word too many");
  if (fault.from >= fault.to) {
    refuse("no cycle is from " + std::to_string(fault.from) + " and before " +
               std::to_string(fault.to),
           "from CYCLE to a later CYCLE");
  }
  return fault;
}

std::string fault_text(const StuckBit& fault) {
  std::ostringstream text;
  text << "matrix_unit.pe_" << fault.row << "_" << fault.column << "." << name_of(fault.reg)
       << " bit " << fault.bit << " stuck-at-" << (fault.value ? 1 : 0) << " from " << fault.from;
  if (fault.to != StuckBit{}.to) text << " to " << fault.to;
  return text.str();
}

void check_faults(const Chip& chip, const Program& program, const FaultOptions& faults) {
  for (const StuckBit& fault : faults.stuck) {
    check_index("row", fault.row, chip.array.rows);
    check_index("column", fault.column, chip.array.cols);
    const int bits = register_format(chip, program, fault.reg).bits;
    if (bits == 0) {
      refuse("the array has no " + name_of(fault.reg) + " registers",
             join(names_there(chip, program), ", "));
    }
    check_index("bit", fault.bit, bits);
  }
  check_contradictions(faults.stuck);
  // Not a number is not in the range either.
  if (!(faults.rate >= 0 && faults.rate <= kMaxFaultRate)) {
    throw InputError("fault-rate", number_text(faults.rate),
                     "0 to " + number_text(kMaxFaultRate) + " flips per cycle");
  }
}

}  // namespace tilewave::sim
