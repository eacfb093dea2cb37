#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"
#include "sim/isa/table_fields.h"
#include "sim/isa/validate.h"

// The binary form: "tilewave", version, the program's fields, input, output, the tables (a count
// each, then the entries' fields), tiles, weights, instructions. Integers are little-endian and as
// wide as in program.h, an enumeration or a bool is one byte, a float its bits, a count 8 bytes.

namespace tilewave::sim {
namespace {

constexpr std::string_view kMagic = "tilewave";
constexpr std::uint32_t kVersion = 3;

void fields(auto& visit, Is<Tile> auto& t) {
  visit("rows", t.rows);
  visit("cols", t.cols);
  visit("useful", t.useful);
}

class Writer {
 public:
  template <typename T>
  void operator()(std::string_view, const T& value) {
    put(value);
  }

  template <std::integral T>
  void put(T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
    }
  }
  template <typename E>
  requires std::is_enum_v<E>
  void put(E value) { put(static_cast<std::uint8_t>(value)); }
  void put(float value) { put(std::bit_cast<std::uint32_t>(value)); }
  void put(const quant::FixedPointMultiplier& value) {
    put(value.q31);
    put(value.exponent);
  }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    raw(text);
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    for (const T& value : values) put(value);
  }
  template <char separator, typename... T>
  void put(const Joined<separator, T...>& value) {
    std::apply([this](const auto&... part) { (put(part), ...); }, value.parts);
  }
  void put(const Instruction& instruction) {
    const EncodedInstruction encoded = encode(instruction);
    bytes_.insert(bytes_.end(), encoded.begin(), encoded.end());
  }

  template <typename Entry>
  void entries(const std::vector<Entry>& table) {
    put(std::uint64_t{table.size()});
    for (const Entry& entry : table) fields(*this, entry);
  }

  std::vector<std::uint8_t> take() { return std::move(bytes_); }
  void raw(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::uint8_t>(c));
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

class Reader {
 public:
  Reader(const std::vector<std::uint8_t>& bytes, const std::string& where)
      : bytes_(bytes), where_(where) {}

  template <typename T>
  void operator()(std::string_view key, T&& value) {
    key_ = key;
    get(value);
  }

  template <std::integral T>
  void get(T& value) {
    need(sizeof(T));
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bits |= static_cast<std::uint64_t>(bytes_[at_ + i]) << (8 * i);
    }
    if constexpr (std::same_as<T, bool>) {
      if (bits > 1) fail(std::to_string(bits), "0 or 1");
    }
    at_ += sizeof(T);
    value = static_cast<T>(bits);
  }
  template <typename E>
  requires std::is_enum_v<E>
  void get(E& value) {
    std::uint8_t bits = 0;
    get(bits);
    if (bits >= EnumNames<E>::names.size()) {
      at_ -= sizeof(bits);
      fail(std::to_string(bits), "0 to " + std::to_string(EnumNames<E>::names.size() - 1));
    }
    value = static_cast<E>(bits);
  }
  void get(float& value) {
    std::uint32_t bits = 0;
    get(bits);
    value = std::bit_cast<float>(bits);
  }
  void get(quant::FixedPointMultiplier& value) {
    get(value.q31);
    get(value.exponent);
  }
  void get(std::string& text) {
    text.resize(count(1));
    std::memcpy(text.data(), bytes_.data() + at_, text.size());
    at_ += text.size();
  }
  template <typename T>
  void get(std::vector<T>& values) {
    values.resize(count(sizeof(T)));
    for (T& value : values) get(value);
  }
  template <char separator, typename... T>
  void get(Joined<separator, T...>& value) {
    std::apply([this](auto&... part) { (get(part), ...); }, value.parts);
  }

  template <typename Entry>
  void entries(std::string_view name, std::vector<Entry>& table) {
    key_ = name;
    // Grown as the entries come: a count alone must not allocate more than the file is long.
    for (std::uint64_t left = count(1); left > 0; --left) fields(*this, table.emplace_back());
  }
  void instructions(std::vector<Instruction>& list) {
    key_ = "instructions";
    list.resize(count(kInstructionBytes));
    for (std::size_t i = 0; i < list.size(); ++i, at_ += kInstructionBytes) {
      EncodedInstruction encoded;
      std::memcpy(encoded.data(), bytes_.data() + at_, kInstructionBytes);
      list[i] = decode(encoded, where_ + ": instruction " + std::to_string(i));
    }
  }
  void header() {
    if (bytes_.size() < kMagic.size() ||
        std::memcmp(bytes_.data(), kMagic.data(), kMagic.size()) != 0) {
      throw InputError(where_, "is not a program", "one that begins with \"tilewave\"");
    }
    at_ = kMagic.size();
    std::uint32_t version = 0;
    (*this)("version", version);
    if (version != kVersion) {
      throw InputError(where_, "has version " + std::to_string(version), std::to_string(kVersion));
    }
  }
  void end() {
    if (at_ != bytes_.size()) {
      throw InputError(where_, std::to_string(bytes_.size() - at_) + " bytes follow the program");
    }
  }

 private:
  void need(std::size_t size) {
    if (bytes_.size() - at_ < size) {
      throw InputError(where_,
                       "ends at byte " + std::to_string(bytes_.size()) + ", inside " + key_);
    }
  }
  /// A count of values of `size` bytes that the file is long enough for.
  std::uint64_t count(std::size_t size) {
    std::uint64_t value = 0;
    get(value);
    if (value > (bytes_.size() - at_) / size) {
      at_ -= sizeof(value);
      fail("a count of " + std::to_string(value), "at most what the file holds");
    }
    return value;
  }
  [[noreturn]] void fail(const std::string& what, const std::string& allowed) const {
    throw InputError(where_ + ": byte " + std::to_string(at_), key_ + " is " + what, allowed);
  }

  const std::vector<std::uint8_t>& bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::string key_;
};

}  // namespace

void derive(Program& program) {
  for (HostTensor* tensor : {&program.input, &program.output}) {
    tensor->quantization.format = program.activation_format;
    if (tensor->bits != 0) tensor->quantization.format.bits = tensor->bits;
  }
  std::int64_t end = 0;
  for (Tile& tile : program.tiles) {
    tile.offset = end;
    std::int64_t size = 0;
    if (__builtin_mul_overflow(tile.rows, tile.cols, &size) ||
        __builtin_add_overflow(end, size, &end)) {
      return;
    }
  }
}

std::vector<std::uint8_t> to_bytes(const Program& program) {
  validate(program, "the program to write");
  Writer writer;
  writer.raw(kMagic);
  writer.put(kVersion);
  fields(writer, program);
  fields(writer, program.input);
  fields(writer, program.output);
  for_each_table(program, [&](std::string_view, const auto& table) { writer.entries(table); });
  writer.entries(program.tiles);
  writer.put(program.weights);
  writer.put(program.instructions);
  return writer.take();
}

Program program_from_bytes(const std::vector<std::uint8_t>& bytes, const std::string& where) {
  Program program;
  Reader reader(bytes, where);
  reader.header();
  fields(reader, program);
  fields(reader, program.input);
  fields(reader, program.output);
  for_each_table(program, [&](std::string_view name, auto& table) { reader.entries(name, table); });
  reader.entries("tile", program.tiles);
  reader("weights", program.weights);
  reader.instructions(program.instructions);
  reader.end();
  derive(program);
  validate(program, where);
  return program;
}

}  // namespace tilewave::sim
