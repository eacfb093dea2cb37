#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/units.h"
#include "quant/format.h"

namespace tilewave::sim::systemc {

/// Bytes that hold activations of one format.
class ElementMemory {
 public:
  ElementMemory(Bytes bytes, const quant::Format& format)
      : bytes_(static_cast<std::size_t>(bytes)),
        element_bytes_(format.bytes()),
        is_signed_(format.is_signed) {}

  std::int64_t element_bytes() const { return element_bytes_; }
  std::int16_t load(std::int64_t address) const {
    const std::uint8_t* at = bytes_.data() + address;
    if (element_bytes_ == 2) {
      std::int16_t value = 0;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    return is_signed_ ? static_cast<std::int8_t>(*at) : static_cast<std::int16_t>(*at);
  }
  void store(std::int64_t address, std::int32_t value) {
    const auto narrow = static_cast<std::int16_t>(value);
    // The low byte first, as load() reads it on the machines that this runs on.
    std::memcpy(bytes_.data() + address, &narrow, static_cast<std::size_t>(element_bytes_));
  }
  Bytes bytes() const { return static_cast<Bytes>(bytes_.size()); }
  /// Null unless `bytes` bytes from there are in the memory.
  std::uint8_t* find(std::int64_t address, Bytes bytes) {
    return address >= 0 && address + bytes <= this->bytes() ? bytes_.data() + address : nullptr;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::int64_t element_bytes_;
  bool is_signed_;
};

}  // namespace tilewave::sim::systemc
