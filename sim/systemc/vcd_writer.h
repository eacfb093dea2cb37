#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tilewave::sim::systemc {

/// Writes a value change dump (IEEE 1364-2005, clause 18) whose unit of time is a cycle.
class VcdWriter {
 public:
  /// `write` gets the file, part after part.
  explicit VcdWriter(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  /// A signal `name` in `scope` ("matrix_unit.pe_0_3"; scopes that are inside of others after those
  /// that they are in, and each in one piece), of 1 to 32 bits in two's complement. All signals
  /// come before the first sample.
  void add(const std::string& scope, const std::string& name, int bits,
           std::function<std::int32_t()> value);
  /// Asks every signal for its value at the end of `cycle`. Cycles must increase.
  void sample(Cycles cycle);
  bool has_samples() const { return has_samples_; }
  /// The last values hold until `end`. Nothing comes after this.
  void finish(Cycles end);

 private:
  struct Signal {
    std::string scope, name, code;
    int bits;
    std::function<std::int32_t()> value;
    std::int32_t last = 0;
  };
  void put_header();
  void put_scope(const std::vector<std::string>& from, const std::vector<std::string>& to);
  void put_value(const Signal& signal);
  void flush_above(std::size_t bytes);

  std::function<void(std::string_view)> write_;
  std::vector<Signal> signals_;
  std::string buffer_;
  bool has_samples_ = false;
};

}  // namespace tilewave::sim::systemc
