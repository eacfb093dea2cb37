#include "base/yaml.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace tilewave;

namespace {

/// Reads one key of a mapping of that key.
template <typename T>
T read(const std::string& yaml, T value = {}) {
  const yaml::Node node = yaml::parse(yaml, "f.yaml");
  yaml::Map map(node, "f.yaml");
  map.get("key", value);
  map.finish();
  return value;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("each getter reads its type") {
  CHECK(read<std::int64_t>("key: -9223372036854775808") == INT64_MIN);
  CHECK(read<int>("key: 12") == 12);
  CHECK(read<double>("key: 12.5e-1") == 1.25);
  CHECK(read<double>("key: 7") == 7);
  CHECK(read<bool>("key: true"));
  CHECK_FALSE(read<bool>("key: false", true));
  CHECK(read<std::string>("key: \"8 # 9\"") == "8 # 9");
  CHECK(read<std::string>("key: 8") == "8");
  CHECK(read<std::optional<std::int64_t>>("key: 5") == 5);
  CHECK(read<std::optional<double>>("key: 0.5") == 0.5);
  CHECK(read<std::optional<double>>("key: unlimited", 0.5) == std::nullopt);
}

TEST_CASE("an absent key leaves the value as it was") {
  CHECK(read<std::int64_t>("{}", 3) == 3);
  CHECK(read<std::int64_t>("", 3) == 3);
  CHECK(read<std::optional<double>>("# nothing", 0.5) == 0.5);
  CHECK(read<std::string>("{}", "x") == "x");
}

TEST_CASE("a whole number is digits and nothing else") {
  for (const std::string bad : {"1e3", "1.0", "0x10", "+1", "8 9", "1_000", "'8'", "nine", ".inf",
                                "9223372036854775808", "-9223372036854775809"})
    CHECK_THROWS_WITH(
        read<std::int64_t>("\nkey: " + bad),
        Catch::StartsWith("f.yaml:2: key: ") && Catch::EndsWith(" is not a whole number"));
  CHECK_THROWS_WITH(read<int>("key: 2147483648"), "f.yaml:1: key: 2147483648 is not allowed");
}

TEST_CASE("a number is finite") {
  for (const std::string bad : {"nan", ".nan", "inf", "-inf", ".inf", "1e999", "'1'", "1.5.2"})
    CHECK_THROWS_AS(read<double>("key: " + bad), InputError);
  CHECK_THROWS_WITH(read<double>("key: nan"), "f.yaml:1: key: nan is not a number");
  CHECK_THROWS_WITH(read<std::optional<double>>("key: unlimitd"),
                    "f.yaml:1: key: unlimitd is not a number");
}

TEST_CASE("a value of the wrong kind is named") {
  CHECK_THROWS_WITH(read<double>("key: [1]"), "f.yaml:1: key: a sequence is not a number");
  CHECK_THROWS_WITH(read<int>("key: {a: 1}"), "f.yaml:1: key: a mapping is not a whole number");
  CHECK_THROWS_WITH(read<int>("key:"), "f.yaml:1: key: an empty value is not a whole number");
  CHECK_THROWS_WITH(read<std::string>("key: ~"), "f.yaml:1: key: an empty value is not a text");
  CHECK_THROWS_WITH(read<bool>("key: yes"),
                    "f.yaml:1: key: yes is not allowed (one of true, false)");
  CHECK_THROWS_WITH(read<int>("[1, 2]"), "f.yaml:1: a sequence is not a mapping (key: value)");
  CHECK_THROWS_WITH(read<int>("\n\"key\""), "f.yaml:2: \"key\" is not a mapping (key: value)");
}

TEST_CASE("an unknown key is refused with the nearest one") {
  CHECK_THROWS_WITH(read<int>("key: 1\nkez: 2"), "f.yaml:2: kez: unknown key (did you mean key?)");
  CHECK_THROWS_WITH(read<int>("bandwidth: 2"), "f.yaml:1: bandwidth: unknown key (one of key)");
  CHECK_THROWS_WITH(read<int>("\"" + repeated("x", 100) + "\\n\": 2"),
                    "f.yaml:1: " + repeated("x", 40) + "...: unknown key (one of key)");
}

TEST_CASE("names of an enumeration are the only values") {
  enum class Colour { red, green };
  const yaml::Names<Colour> names{{Colour::red, "red"}, {Colour::green, "green"}};
  const auto read_colour = [&](const std::string& text) {
    const yaml::Node node = yaml::parse(text, "f.yaml");
    yaml::Map map(node, "f.yaml");
    Colour colour = Colour::red;
    map.get("colour", colour, names);
    return colour;
  };
  CHECK(read_colour("colour: green") == Colour::green);
  CHECK(read_colour("{}") == Colour::red);
  CHECK_THROWS_WITH(read_colour("colour: gren"),
                    "f.yaml:1: colour: gren is not allowed (did you mean green?)");
  CHECK_THROWS_WITH(read_colour("colour: 7"),
                    "f.yaml:1: colour: 7 is not allowed (one of red, green)");
}

TEST_CASE("errors in a sub-mapping name the whole path") {
  const auto read_rows = [](const std::string& text) {
    const yaml::Node node = yaml::parse(text, "f.yaml");
    yaml::Map map(node, "f.yaml");
    std::int64_t rows = 1;
    map.get("array", [&](yaml::Map& array) { array.get("rows", rows); });
    map.finish();
    return rows;
  };
  CHECK(read_rows("array: {rows: 8}") == 8);
  CHECK(read_rows("array:") == 1);
  CHECK_THROWS_WITH(read_rows("array:\n  rows: x"),
                    "f.yaml:2: array.rows: x is not a whole number");
  CHECK_THROWS_WITH(read_rows("array:\n  row: 8"),
                    "f.yaml:2: array.row: unknown key (did you mean rows?)");
  CHECK_THROWS_WITH(read_rows("array: 8"), "f.yaml:1: array: 8 is not a mapping (key: value)");
}

TEST_CASE("what YAML allows and a description has no use for is refused") {
  const auto parse = [](const std::string& text) { return yaml::parse(text, "f.yaml"); };
  CHECK_THROWS_WITH(parse("a: 1\nb: 2\na: 3"), "f.yaml:3: the key a appears twice");
  CHECK_THROWS_WITH(parse("x: {a: 1, a: 1}"), "f.yaml:1: the key a appears twice");
  CHECK_THROWS_WITH(parse("a: &x 1\nb: *x"), "f.yaml:1: anchors and aliases are not allowed");
  CHECK_THROWS_WITH(parse("a: &x [1]"), "f.yaml:1: anchors and aliases are not allowed");
  CHECK_THROWS_WITH(parse("a: !!int 1"), "f.yaml:1: tags are not allowed");
  CHECK_THROWS_WITH(parse("a: !x {b: 1}"), "f.yaml:1: tags are not allowed");
  CHECK_THROWS_WITH(parse("a: 1\n---\nb: 1"), "f.yaml: has more than one document");
  CHECK_THROWS_WITH(parse("? [a]\n: 1"), "f.yaml:1: a key must be a name");
  CHECK_THROWS_WITH(parse("~: 1"), "f.yaml:1: a key is empty");
}

TEST_CASE("malformed YAML is an input error with its line") {
  CHECK_THROWS_WITH(yaml::parse("a: 1\nb: [1, 2", "f.yaml"),
                    Catch::StartsWith("f.yaml:2: malformed YAML: "));
  CHECK_THROWS_AS(yaml::parse("a: b: c", "f.yaml"), InputError);
  CHECK_THROWS_AS(yaml::parse("\t- a\n\tb", "f.yaml"), InputError);
}

TEST_CASE("32 levels are read and 33 are refused") {
  CHECK_NOTHROW(yaml::parse(repeated("[", 32) + repeated("]", 32), "f.yaml"));
  CHECK_THROWS_WITH(yaml::parse(repeated("[", 33) + repeated("]", 33), "f.yaml"),
                    "f.yaml:1: is nested too deeply (at most 32 levels)");
}

TEST_CASE("hostile nesting does not overflow the stack") {
  for (const std::string opening :
       {"[", "{", "{a: ", "- ", "? ", "[{a: ", "[? ", "\"]\": [", "a: [\n"})
    CHECK_THROWS_AS(yaml::parse(repeated(opening, 100'000), "f.yaml"), InputError);
}

TEST_CASE("a text above one mebibyte is refused") {
  CHECK_NOTHROW(yaml::parse("a: 1\n#" + std::string((1 << 20) - 6, 'x'), "f.yaml"));
  CHECK_THROWS_WITH(yaml::parse("a: 1\n#" + std::string((1 << 20) - 5, 'x'), "f.yaml"),
                    "f.yaml: is too large (at most 1048576 bytes)");
}
