#include "sim/chip/chip.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

using namespace tilewave;
using namespace tilewave::sim;
using Json = nlohmann::json;

namespace {

/// Every key, with a value that is not the default.
struct Change {
  const char* key;
  const char* value;
};
const Change kChanges[] = {
    {"name", "other"},
    {"clock_mhz", "1050.000001"},
    {"array.rows", "128"},
    {"array.cols", "64"},
    {"array.double_buffered_weights", "false"},
    {"array.weight_rows_per_cycle", "4"},
    {"precision.activation_bits", "16"},
    {"precision.weight_bits", "4"},
    {"precision.accumulator_bits", "24"},
    {"precision.overflow", "saturate"},
    {"accumulators.depth", "2048"},
    {"unified_buffer.capacity_kib", "64"},
    {"unified_buffer.row_bytes", "128"},
    {"weight_memory.capacity_mib", "16"},
    {"weight_memory.bandwidth_gb_per_s", "34.100000001"},
    {"weight_memory.latency_ns", "0.3"},
    {"weight_memory.fifo_tiles", "1"},
    {"weight_memory.packed_tiles", "true"},
    {"weight_memory.packed_bits", "true"},
    {"host_link.bandwidth_gb_per_s", "unlimited"},
    {"host_link.latency_us", "0"},
    {"activation_unit.pipeline_depth", "0"},
    {"systolic_data_setup.gather_rows_per_cycle", "0.25"},
    {"sequencer.issue_cycles", "0"},
    {"sequencer.queue_depth", "8"},
    {"energy.mac_pj", "0.1"},
    {"energy.accumulator_pj_per_byte", "1.25"},
    {"energy.unified_buffer_pj_per_byte", "2.5"},
    {"energy.weight_memory_pj_per_byte", "20"},
    {"energy.host_link_pj_per_byte", "30"},
    {"energy.static_watts", "0.01"},
};
/// Keys that do not go with the changes above, and those with one value only.
const char* const kApart[] = {"array.dataflow", "systolic_data_setup.im2col"};

/// "array.rows" as JSON's pointer to it, with `between` between the levels.
Json::json_pointer pointer(std::string key, const std::string& between = "/") {
  const std::size_t dot = key.find('.');
  if (dot != std::string::npos) key.replace(dot, 1, between);
  return Json::json_pointer("/" + key);
}

std::set<std::string> resolved_keys() {
  std::set<std::string> keys;
  const Json flat = Json::parse(to_json(Chip{})).flatten();
  for (const auto& [path, value] : flat.items()) {
    std::string key = path.substr(1);
    if (const std::size_t slash = key.find('/'); slash != std::string::npos) key[slash] = '.';
    keys.insert(key);
  }
  return keys;
}

}  // namespace

TEST_CASE("the list of keys in this test is the list of keys of the resolved form") {
  std::set<std::string> keys(std::begin(kApart), std::end(kApart));
  for (const Change& change : kChanges) keys.insert(change.key);
  CHECK(keys == resolved_keys());
}

TEST_CASE("every key can be changed, and survives YAML") {
  const Chip chip;
  CHECK(parse_chip(to_yaml(chip), "f.yaml") == chip);
  for (const auto& [key, value] : kChanges) {
    CAPTURE(key);
    const Chip changed = with_key(chip, key, value);
    CHECK(changed != chip);
    CHECK(parse_chip(to_yaml(changed), "f.yaml") == changed);
    CHECK(Json::parse(to_json(changed)).at(pointer(key)).dump().find(value) != std::string::npos);
  }
}

TEST_CASE("each key is another field of the chip") {
  Chip all;
  for (const auto& [key, value] : kChanges) {
    const Chip before = all;
    all = with_key(all, key, value);
    CAPTURE(key);
    CHECK(all != before);
  }
  CHECK(parse_chip(to_yaml(all), "f.yaml") == all);
}

TEST_CASE("each dataflow survives YAML") {
  for (const std::string_view name : kDataflowNames) {
    const Chip chip = with_key(Chip{}, "array.dataflow", std::string(name));
    CHECK(kDataflowNames[static_cast<std::size_t>(chip.array.dataflow)] == name);
    CHECK(parse_chip(to_yaml(chip), "f.yaml") == chip);
  }
}

TEST_CASE("an output-stationary array's tile is as long as it is, others have the array's") {
  Chip chip;  // 256 x 256
  CHECK(chip.tile_bytes(3, 5) == 65536);
  chip.array.dataflow = Dataflow::input_stationary;
  CHECK(chip.tile_bytes(3, 5) == 65536);
  chip.array.dataflow = Dataflow::output_stationary;
  CHECK(chip.tile_bytes(3, 5) == 3 * 256);
  CHECK(chip.tile_bytes(1000, 5) == 256'000);
  chip.precision.weight_bits = 16;
  CHECK(chip.tile_bytes(1000, 5) == 512'000);
  chip.weight_memory.packed_tiles = true;
  CHECK(chip.tile_bytes(1000, 5) == 10'000);
}

TEST_CASE("a weight takes whole bytes in weight memory unless bits are packed") {
  Chip chip;
  const auto bytes_with = [&](int bits) {
    chip.precision.weight_bits = bits;
    return chip.tile_bytes(3, 5);
  };
  CHECK(bytes_with(4) == 65536);
  chip.weight_memory.packed_bits = true;
  CHECK(bytes_with(4) == 32768);
  CHECK(bytes_with(3) == 24576);
  CHECK(bytes_with(16) == 131072);
  chip.weight_memory.packed_tiles = true;
  CHECK(bytes_with(8) == 15);
  CHECK(bytes_with(5) == 10);  // 75 bits
  CHECK(bytes_with(2) == 4);   // 30 bits
}

TEST_CASE("random chips survive YAML") {
  REQUIRE(rc::check([] {
    Chip chip;
    chip.clock_mhz =
        static_cast<double>(*rc::gen::inRange<std::int64_t>(1000, 5'000'000'000)) / 1e6;
    chip.array.rows = *rc::gen::inRange(1, 4096);
    chip.array.cols = *rc::gen::inRange(1, 4096);
    chip.weight_memory.bandwidth =
        *rc::gen::inRange<std::int64_t>(1'000'000, 1'000'000'000'000'000);
    chip.weight_memory.latency_ns = static_cast<double>(*rc::gen::inRange(0, 1'000'000)) / 1000;
    chip.energy.mac_pj = static_cast<double>(*rc::gen::inRange(0, 1'000'000)) / 977;
    RC_ASSERT(parse_chip(to_yaml(chip), "f.yaml") == chip);
  }));
}

TEST_CASE("a whole sub-mapping can be changed at once") {
  const Chip chip = with_key(Chip{}, "array", "{rows: 8, cols: 16}");
  CHECK(chip.array.rows == 8);
  CHECK(chip.array.cols == 16);
  CHECK(chip.array.double_buffered_weights);
}

TEST_CASE("keys changed together need to fit together only in the end") {
  const Chip wide = with_key(Chip{}, "array", "{rows: 1024, cols: 4096}");
  CHECK_THROWS_AS(with_key(wide, "array.rows", "65536"), InputError);
  const Chip chip = with_keys(wide, {{"array.rows", "65536"}, {"array.cols", "8"}});
  CHECK(chip.array.rows == 65536);
  CHECK(chip.array.cols == 8);
}

TEST_CASE("the schema describes every key, with its default, and nothing else") {
  const Json schema = Json::parse(json_schema());
  CHECK(schema.at("additionalProperties") == false);
  std::size_t described = 0;
  const Json defaults = Json::parse(to_json(Chip{}));
  for (const std::string& key : resolved_keys()) {
    CAPTURE(key);
    const Json& entry = schema.at("properties").at(pointer(key, "/properties/"));
    CHECK(entry.at("description").get<std::string>().back() == '.');
    CHECK(entry.at("default") == defaults.at(pointer(key)));
    ++described;
  }
  std::size_t listed = 0;
  for (const auto& [key, entry] : schema.at("properties").items())
    listed += entry.contains("properties") ? entry.at("properties").size() : 1;
  CHECK(listed == described + 1);  // and extends
}

TEST_CASE("the clock is exact to the hertz") {
  Chip chip;
  CHECK(chip.clock_hz() == 700'000'000);
  chip.clock_mhz = 33.333333;
  CHECK(chip.clock_hz() == 33'333'333);
  CHECK(chip.seconds(33'333'333) == 1.0);
}

TEST_CASE("a transfer takes the exact number of cycles, rounded up") {
  const Chip chip;
  CHECK(chip.transfer_cycles(65536, 34'000'000'000) == 1350);  // 1349.27
  CHECK(chip.transfer_cycles(34, 34'000'000'000) == 1);        // 0.7
  CHECK(chip.transfer_cycles(340, 34'000'000'000) == 7);       // 7 exactly
  CHECK(chip.transfer_cycles(341, 34'000'000'000) == 8);
  CHECK(chip.transfer_cycles(0, 34'000'000'000) == 0);
  CHECK(chip.transfer_cycles(1 << 30, std::nullopt) == 0);
  // 2^50 bytes * 7 * 10^8 Hz is above 2^64; divided by 7 * 10^8 it is 2^50 again.
  CHECK(chip.transfer_cycles(std::int64_t{1} << 50, 700'000'000) == std::int64_t{1} << 50);
}

TEST_CASE("a latency that is a whole number of cycles is not rounded up") {
  Chip chip;
  CHECK(chip.latency_cycles(100) == 70);
  CHECK(chip.latency_cycles(0) == 0);
  CHECK(chip.latency_cycles(100.001) == 71);
  chip.clock_mhz = 1000;
  CHECK(chip.latency_cycles((0.1 + 0.2) * 10) == 3);  // 3.0000000000000004 as a double
  CHECK(chip.latency_cycles(2.007 * 1000) == 2007);   // 2007.0000000000002 likewise
  CHECK(chip.latency_cycles(3.001) == 4);
}
