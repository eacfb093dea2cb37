#include "sim/systemc/vcd_writer.h"

#include <algorithm>
#include <sstream>

namespace tilewave::sim::systemc {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

/// Short names of signals within the file, of the printable characters.
std::string code_of(std::size_t number) {
  constexpr std::size_t kFirst = '!';
  constexpr std::size_t kLetters = '~' - '!' + 1;
  std::string code;
  do {
    code += static_cast<char>(kFirst + number % kLetters);
    number /= kLetters;
  } while (number > 0);
  return code;
}

std::vector<std::string> parts(const std::string& scope) {
  std::vector<std::string> names;
  std::istringstream in(scope);
  for (std::string name; std::getline(in, name, '.');) names.push_back(name);
  return names;
}

}  // namespace

void VcdWriter::add(const std::string& scope, const std::string& name, int bits,
                    std::function<std::int32_t()> value) {
  signals_.push_back({scope, name, code_of(signals_.size()), bits, std::move(value)});
}

void VcdWriter::put_scope(const std::vector<std::string>& from,
                          const std::vector<std::string>& to) {
  const auto differs = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  for (auto left = differs.first; left != from.end(); ++left) buffer_ += "$upscope $end\n";
  for (auto entered = differs.second; entered != to.end(); ++entered) {
    buffer_ += "$scope module " + *entered + " $end\n";
  }
}

void VcdWriter::put_header() {
  buffer_ +=
      "$version tilewave $end\n"
      "$comment One unit of time is one cycle of the core clock. The value at time t is what is "
      "there at the end of cycle t. $end\n"
      "$timescale 1 ns $end\n";
  std::vector<std::string> scope;
  for (const Signal& signal : signals_) {
    const std::vector<std::string> next = parts(signal.scope);
    put_scope(scope, next);
    scope = next;
    buffer_ += "$var wire " + std::to_string(signal.bits) + " " + signal.code + " " + signal.name;
    if (signal.bits > 1) buffer_ += " [" + std::to_string(signal.bits - 1) + ":0]";
    buffer_ += " $end\n";
  }
  put_scope(scope, {});
  buffer_ += "$enddefinitions $end\n";
}

void VcdWriter::put_value(const Signal& signal) {
  const auto bit = [&](int i) { return ((signal.last >> i) & 1) != 0 ? '1' : '0'; };
  if (signal.bits == 1) {
    buffer_ += bit(0);
  } else {
    buffer_ += 'b';
    for (int i = signal.bits - 1; i >= 0; --i) buffer_ += bit(i);
    buffer_ += ' ';
  }
  buffer_ += signal.code + "\n";
}

void VcdWriter::sample(Cycles cycle) {
  const bool is_first = !has_samples_;
  if (is_first) put_header();
  bool has_time = is_first;
  const auto put_time = [&] { buffer_ += "#" + std::to_string(cycle) + "\n"; };
  if (is_first) {
    put_time();
    buffer_ += "$dumpvars\n";
  }
  for (Signal& signal : signals_) {
    const std::int32_t value = signal.value();
    if (!is_first && value == signal.last) continue;
    if (!has_time) put_time();
    has_time = true;
    signal.last = value;
    put_value(signal);
  }
  if (is_first) buffer_ += "$end\n";
  has_samples_ = true;
  flush_above(kBufferBytes);
}

void VcdWriter::finish(Cycles end) {
  buffer_ += "#" + std::to_string(end) + "\n";
  flush_above(0);
}

void VcdWriter::flush_above(std::size_t bytes) {
  if (buffer_.size() <= bytes) return;
  write_(buffer_);
  buffer_.clear();
}

}  // namespace tilewave::sim::systemc
