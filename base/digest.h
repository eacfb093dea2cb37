#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilewave {

/// A fingerprint of 128 bits (XXH3) of what is added to it: the same content has the same one on
/// every machine, and two contents have the same one by an accident that does not happen. No guard
/// against those who look for one.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::uint8_t> bytes);
  void add(std::string_view text);
  /// Of all so far: 32 hexadecimal digits.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewave
