#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "models/dataset.h"

namespace tilewave::models {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 31;
/// Of IDX: 0x08 stands for unsigned bytes in the third byte of the file.
constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kMaxDimensions = 4;
/// Deflate's densest code: 258 bytes from 2 bits.
constexpr std::int64_t kMaxExpansion = 1032;

[[noreturn]] void fail_short(const std::string& where, std::int64_t got, std::int64_t expected) {
  throw InputError(where, "ends after " + std::to_string(got) + " bytes",
                   std::to_string(expected) + " expected from the header");
}

/// Bytes in order; each call fills what it is given as far as the file goes.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::size_t read(std::span<std::uint8_t> into) = 0;
  /// The most bytes that can still come.
  virtual std::int64_t at_most() const = 0;
};

class PlainSource : public Source {
 public:
  explicit PlainSource(Bytes bytes) : bytes_(bytes) {}

  std::size_t read(std::span<std::uint8_t> into) override {
    const std::size_t n = std::min(into.size(), bytes_.size());
    std::copy_n(bytes_.begin(), n, into.begin());
    bytes_ = bytes_.subspan(n);
    return n;
  }
  std::int64_t at_most() const override { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  Bytes bytes_;
};

class GzipSource : public Source {
 public:
  GzipSource(Bytes bytes, const std::string& where) : where_(where) {
    stream_.next_in = const_cast<Bytef*>(bytes.data());  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(bytes.size());
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    TILEWAVE_CHECK(inflateInit2(&stream_, kGzipOnly), ==, Z_OK, "zlib starts");
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<std::uint8_t> into) override {
    stream_.next_out = into.data();
    stream_.avail_out = static_cast<uInt>(into.size());
    while (!ended_ && stream_.avail_out > 0) {
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        ended_ = true;
        if (stream_.avail_in > 0) throw InputError(where_, "has bytes after its gzip stream");
      } else if (status == Z_BUF_ERROR) {
        throw InputError(where_, "ends within its gzip stream");
      } else if (status != Z_OK) {
        throw InputError(where_, std::string("its gzip stream is damaged: ") +
                                     (stream_.msg ? stream_.msg : "unknown reason"));
      }
    }
    return into.size() - stream_.avail_out;
  }
  std::int64_t at_most() const override {
    // One more for what zlib holds back inside.
    return (std::int64_t{stream_.avail_in} + 1) * kMaxExpansion + (1 << MAX_WBITS);
  }

 private:
  const std::string& where_;
  z_stream stream_{};
  bool ended_ = false;
};

std::vector<std::int64_t> read_header(Source& source, const std::string& where) {
  std::array<std::uint8_t, 4> magic{};
  if (source.read(magic) != magic.size()) throw InputError(where, "is too short for an IDX file");
  const std::size_t rank = magic[3];
  if (magic[0] != 0 || magic[1] != 0) {
    throw InputError(where, "is not an IDX file", "it starts with two bytes of 0");
  }
  if (magic[2] != kUnsignedByte) {
    throw InputError(where, "holds IDX type " + std::to_string(magic[2]), "8, unsigned bytes");
  }
  if (rank < 1 || rank > kMaxDimensions) {
    throw InputError(where, "has " + std::to_string(rank) + " dimensions",
                     "1 to " + std::to_string(kMaxDimensions));
  }
  std::vector<std::int64_t> dimensions;
  for (std::size_t i = 0; i < rank; ++i) {
    std::array<std::uint8_t, 4> big_endian{};
    const std::size_t got = source.read(big_endian);
    if (got != big_endian.size()) {
      fail_short(where, static_cast<std::int64_t>(4 * (i + 1) + got),
                 static_cast<std::int64_t>(4 * (rank + 1)));
    }
    std::int64_t size = 0;
    for (const std::uint8_t byte : big_endian) size = size * 256 + byte;
    if (size < 1) throw InputError(where, "dimension " + std::to_string(i) + " is 0", "1 or more");
    dimensions.push_back(size);
  }
  return dimensions;
}

std::int64_t product(const std::vector<std::int64_t>& dimensions, const std::string& where) {
  std::optional<std::int64_t> total = 1;
  for (const std::int64_t size : dimensions) {
    total = checked_product({*total, size}, kMaxBytes);
    if (!total) {
      throw InputError(where, "its header claims more than can be held",
                       "at most " + std::to_string(kMaxBytes) + " bytes");
    }
  }
  return *total;
}

}  // namespace

Idx parse_idx(Bytes bytes, const std::string& where) {
  if (std::cmp_greater(bytes.size(), kMaxBytes)) {
    throw InputError(where, "is too large", "at most " + std::to_string(kMaxBytes) + " bytes");
  }
  const bool gzip = bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  const std::unique_ptr<Source> source =
      gzip ? std::unique_ptr<Source>(std::make_unique<GzipSource>(bytes, where))
           : std::make_unique<PlainSource>(bytes);
  Idx idx;
  idx.dimensions = read_header(*source, where);
  const std::int64_t header = 4 * (1 + static_cast<std::int64_t>(idx.dimensions.size()));
  const std::int64_t values = product(idx.dimensions, where);
  // Before anything is allocated: a short file cannot ask for much memory.
  if (values > source->at_most()) {
    throw InputError(where,
                     "its header claims " + std::to_string(values) + " values, more than it holds",
                     "at most " + std::to_string(source->at_most()) + " can follow");
  }
  idx.values.resize(static_cast<std::size_t>(values));
  const std::size_t got = source->read(idx.values);
  if (got != idx.values.size()) {
    fail_short(where, header + static_cast<std::int64_t>(got), header + values);
  }
  std::array<std::uint8_t, 1> more{};
  if (source->read(more) != 0) {
    throw InputError(where, "goes on after its last value",
                     std::to_string(header + values) + " bytes expected from the header");
  }
  return idx;
}

Idx read_idx(const std::string& path) {
  return parse_idx(read_bytes(path, static_cast<std::size_t>(kMaxBytes)), path);
}

}  // namespace tilewave::models
