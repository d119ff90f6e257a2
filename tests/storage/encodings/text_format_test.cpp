#include "storage/encodings/text_format.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace troupe {

namespace {

/// The fields of a text as "name=value", with strings in quotes, or the error.
std::string read(std::string_view text, int depth_max = 100) {
  const auto fields = parse_text_format(text, depth_max);
  if (!fields)
    return fields.error().message;
  std::string all;
  for (const auto& f : *fields)
    all += (all.empty() ? "" : " ") + f.name + "=" + (f.quoted ? "\"" + f.value + "\"" : f.value);
  return all;
}

double number(const std::string& value) { return text_format_double({.name = "x", .value = value}).value(); }

}  // namespace

TEST_CASE("fields are read in order, however they are spaced, separated and listed") {
  CHECK(read("") == "");
  CHECK(read(" # a comment: 1\n") == "");
  CHECK(read("a: 1") == "a=1");
  CHECK(read("a:1,b :'x';c\n:\n\"y\" # z\nd: -2.5e-3f") == "a=1 b=\"x\" c=\"y\" d=-2.5e-3f");
  CHECK(read("a: [1, 2] a: 3 b: [] c: ['x' 'y', \"z\"]") == "a=1 a=2 a=3 c=\"xy\" c=\"z\"");
  CHECK(read("a: true b: - inf c: 0x1F d: .5") == "a=true b=-inf c=0x1F d=.5");
  const auto fields = parse_text_format("\n  first: 1\nsecond: 2");
  REQUIRE(fields);
  CHECK(fields->at(0).line == 2);
  CHECK(fields->at(0).column == 3);
  CHECK(fields->at(1).line == 3);
}

TEST_CASE("messages and extensions are passed over with all that is in them") {
  CHECK(read("a { b: 1 c < d: 'x}' > e: [{f: 1}, <g: 2>] } h: 3") == "h=3");
  CHECK(read("a: { } b: < > c: 1") == "c=1");
  CHECK(read("3 { a: 1 } 4: 1 b: 2") == "4=1 b=2");
  CHECK(read("[some.pack_age.ext]: 1 [type.googleapis.com/a.B] { x: 1 } y: 2") == "y=2");
}

TEST_CASE("every escape of a string is read") {
  CHECK(read(R"(a: "\a\b\f\n\r\t\v\\\'\"\?")") == "a=\"\a\b\f\n\r\t\v\\'\"?\"");
  CHECK(read(R"(a: "\1\12\123\1234\x4\x41\x412\X4a")") == "a=\"\1\12\123\123" "4\4AA2J\"");
  CHECK(read(R"(a: "\u00e9\u20AC\U0001F600")") == "a=\"\u00e9\u20ac\U0001F600\"");
  CHECK(read("a: \"\\377\"") == "a=\"\377\"");
}

TEST_CASE("a mistake is told with its line and column") {
  CHECK(read("a: 1\nb 2") == "line 2, column 3: expected \":\" after b");
  CHECK(read(": 1") == "line 1, column 1: expected the name of a field");
  CHECK(read("a:") == "line 1, column 3: expected a value");
  CHECK(read("a: \"x") == "line 1, column 6: a string has no end");
  CHECK(read("a: \"x\n\"") == "line 1, column 6: a string has no end");
  CHECK(read("a: \"\\q\"") == "line 1, column 6: a string has an escape that does not exist");
  CHECK(read("a: \"\\U00110000\"") == "line 1, column 15: a string has an escape that does not exist");
  CHECK(read("a { b: 1") == "line 1, column 9: a message has no }");
  CHECK(read("a < b: 1 }") == "line 1, column 10: expected the name of a field");
  CHECK(read("a: [1 2]") == "line 1, column 7: expected \",\" or \"]\" in a list");
  CHECK(read("[x: 1") == "line 1, column 3: the name of an extension has no ]");
  CHECK(read(std::string_view("a: \0", 4)) == "line 1, column 4: expected a value");
}

TEST_CASE("messages and lists nest as deep as they may, and no deeper") {
  CHECK(read("a { b { } } c: 1", 2) == "c=1");
  CHECK(read("a { b { c { } } }", 2) == "line 1, column 11: messages nest deeper than 2");
  CHECK(read("a: [[1]] c: 1", 2) == "c=1");
  CHECK(read("a: [[[1]]]", 2) == "line 1, column 6: lists nest deeper than 2");
}

TEST_CASE("numbers are those that a double takes, and are written in the digits that give them back") {
  CHECK(number("1604320000") == 1604320000);
  CHECK(number("-2.5e-3") == -2.5e-3);
  CHECK(number("1.5f") == 1.5);
  CHECK(number("1e400") == std::numeric_limits<double>::infinity());
  CHECK(number("-1e400") == -std::numeric_limits<double>::infinity());
  CHECK(number("1e-400") == 0);
  CHECK(number("-inf") == -std::numeric_limits<double>::infinity());
  CHECK(number("Infinity") == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(number("nan")));
  for (const char* value : {"", "-", "x", "1x", "0x10", "--1", "1.2.3", "true"}) {
    const auto refused = text_format_double({.name = "t", .value = value, .line = 3, .column = 9});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "line 3, column 9: t must be a number, not " + std::string{value});
  }
  CHECK(text_format_double({.name = "t", .value = "1", .quoted = true}).error().message
        == "line 0, column 0: t must be a number, not \"1\"");

  CHECK(to_text_format(1604320000) == "1604320000");
  CHECK(to_text_format(1600000000.25) == "1600000000.25");
  CHECK(to_text_format(0.1) == "0.1");
  CHECK(to_text_format(1e21) == "1e+21");
  CHECK(to_text_format(1.0 / 3) == "0.33333333333333331");
  for (const double x : {1758000000.1234567, 5e-324, 1.7976931348623157e308, -0.0})
    CHECK(number(to_text_format(x)) == x);
}

}  // namespace troupe
