#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewave::test {

/// A value change dump, read by the rules of IEEE 1364 and without the code that wrote it.
class VcdFile {
 public:
  /// Throws std::runtime_error where the text is none.
  explicit VcdFile(const std::string& text);

  /// "matrix_unit.pe_0_3.psum", in the order of the file.
  const std::vector<std::string>& names() const { return names_; }
  int bits(const std::string& name) const { return signal(name).bits; }
  /// What the signal holds from its last change at or before `time` on, as an unsigned number.
  std::uint64_t value(const std::string& name, std::int64_t time) const;
  /// The same in two's complement.
  std::int64_t signed_value(const std::string& name, std::int64_t time) const;
  std::int64_t first_time() const { return times_.front(); }
  std::int64_t last_time() const { return times_.back(); }
  /// Times at which any signal of the file changes, and the last.
  const std::vector<std::int64_t>& times() const { return times_; }

 private:
  struct Signal {
    int bits = 0;
    std::map<std::int64_t, std::uint64_t> changes;
  };
  const Signal& signal(const std::string& name) const;

  std::vector<std::string> names_;
  std::map<std::string, Signal> signals_;  ///< by name
  std::vector<std::int64_t> times_;
};

}  // namespace tilewave::test
