#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tilewave::test {

/// An IDX file of these dimensions, its values counting up from `first`.
inline std::vector<std::uint8_t> idx_bytes(const std::vector<std::uint32_t>& dimensions,
                                           std::uint8_t first = 0) {
  std::vector<std::uint8_t> bytes = {0, 0, 8, static_cast<std::uint8_t>(dimensions.size())};
  std::size_t count = 1;
  for (const std::uint32_t size : dimensions) {
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<std::uint8_t>(size >> shift));
    count *= size;
  }
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(first + i));
  return bytes;
}

inline std::vector<std::uint8_t> gzip(std::vector<std::uint8_t> bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::vector<std::uint8_t> packed(deflateBound(&stream, static_cast<uLong>(bytes.size())) + 64);
  stream.next_in = bytes.data();
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace tilewave::test
