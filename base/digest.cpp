#include "base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdio>

namespace tilewave {

struct Digest::State {
  XXH3_state_t hash;
};

Digest::Digest() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}

Digest::~Digest() = default;

void Digest::add(std::span<const std::uint8_t> bytes) {
  // The length first, so that what is added in other portions is something else.
  const std::uint64_t size = bytes.size();
  std::array<std::uint8_t, sizeof size> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<std::uint8_t>(size >> (8 * i));
  }
  XXH3_128bits_update(&state_->hash, length.data(), length.size());
  XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

void Digest::add(std::string_view text) {
  add(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string Digest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text.data();
}

}  // namespace tilewave
