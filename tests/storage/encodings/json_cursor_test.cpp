#include "storage/encodings/json_cursor.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace troupe {

namespace {

using json = nlohmann::json;

/// Walks over a JSON value with the cursor, and returns it as a value of nlohmann's. `beyond` becomes true at a number
/// that no double can hold, which nlohmann's parser refuses.
json walked(json_cursor& at, bool& beyond) {
  if (at.is_list()) {
    json list = json::array();
    for (bool more = at.enter(); more; more = at.next())
      list.push_back(walked(at, beyond));
    return list;
  }
  if (at.is_object()) {
    json object = json::object();
    for (bool more = at.enter(); more; more = at.next()) {
      const auto name = text_of_json(at.name(), SIZE_MAX);
      object[name] = walked(at, beyond);
    }
    return object;
  }
  if (at.is_text()) {
    const auto text = text_of_json(at.token(), SIZE_MAX);
    CHECK(is_json_of(at.token(), text));
    CHECK_FALSE(is_json_of(at.token(), text + "x"));
    at.skip();
    return text;
  }
  if (bool truth = false; at.read(truth))
    return truth;
  if (int64_t whole = 0; at.read(whole))
    return whole;
  if (double real = 0; at.read(real))
    return real;
  beyond = beyond || at.is_number();
  CHECK((at.is_number() || at.token() == "null"));
  at.skip();
  return nullptr;
}

const std::vector<std::string> whole{"0",
                                     "-0",
                                     "1.5e3",
                                     "-1E-2",
                                     "10",
                                     "123456789012345678901234567890",
                                     "4.9e-324",
                                     "true",
                                     "false",
                                     "null",
                                     "\"\"",
                                     "[]",
                                     "{}",
                                     " [ ] ",
                                     "\t{\n}\r",
                                     "[1,2 , 3]",
                                     R"([[],[[]],{}])",
                                     R"({"a":1,"b":[true,null],"c":{"d":"e"}})",
                                     R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD834\uDD1E")",
                                     "\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\"",
                                     R"({"\u0061":[{"":-1}], "a": 2})",
                                     "\xef\xbb\xbf[1]",
                                     R"({"instances": [[1, 2.5], [3, -4e-3]]})",
                                     "[0.1,1e22,1e23,123456.789e-3,5e-320,1.7976931348623157e308]",
                                     R"("]}[{,:")"};

const std::vector<std::string> broken{"",
                                      " ",
                                      "x",
                                      "tru",
                                      "nul",
                                      "truex",
                                      "01",
                                      "-",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "0x10",
                                      "NaN",
                                      "Infinity",
                                      "[",
                                      "]",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "{",
                                      "}",
                                      "{1:2}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\" 1}",
                                      "{\"a\":1 \"b\":2}",
                                      "{a:1}",
                                      "[1}",
                                      "{\"a\":1]",
                                      "1 2",
                                      "[1]]",
                                      "\"",
                                      "\"a",
                                      "\"\\\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\ud834\"",
                                      "\"\\ud834\\u0041\"",
                                      "\"\\udd1e\"",
                                      "\"\n\"",
                                      "\"\x01\"",
                                      "\"\x80\"",
                                      "\"\xc0\xaf\"",
                                      "\"\xed\xa0\x80\"",
                                      "'a'",
                                      "[1]\xef\xbb\xbf",
                                      "\xef\xbb",
                                      "// x\n1",
                                      "[1/*x*/]"};

void agree(const std::string& text) {
  CAPTURE(text);
  if (find_flaw(text)) {
    CHECK_FALSE(json::accept(text));
    return;
  }
  json_cursor at{text};
  bool beyond = false;
  const auto found = walked(at, beyond);
  REQUIRE(json::accept(text) == !beyond);
  if (!beyond)
    CHECK(found == json::parse(text));
}

}  // namespace

TEST_CASE("a text is whole where nlohmann's parser takes it, and a walk over it finds the same values") {
  for (const auto& text : whole) {
    CHECK_FALSE(find_flaw(text));
    agree(text);
  }
  for (const auto& text : broken) {
    CAPTURE(text);
    CHECK(find_flaw(text));
    agree(text);
  }
}

TEST_CASE("texts with bytes that are changed, removed or repeated are whole where nlohmann's parser takes them") {
  std::mt19937 random{7};  // NOLINT: the same numbers each time.
  const std::string bytes = "[]{}:,\"\\u0123eE+-. tfn\xc3\xa9\x01";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole[random() % whole.size()];
    for (auto changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = bytes[random() % bytes.size()]; break;
        case 1: text.erase(at, 1 + random() % 3); break;
        default: text.insert(at, text, random() % text.size(), random() % 5);
      }
    }
    agree(text);
  }
}

TEST_CASE("a byte of 0 ends no text") {
  CHECK(find_flaw(std::string_view{"[1]\0", 4})->at == 3);
  CHECK(find_flaw(std::string_view{"[1\0]", 4})->at == 2);
  CHECK(find_flaw(std::string_view{"\"\\\0\"", 4})->at == 2);
}

TEST_CASE("depth is bounded, and a text that nests without an end takes no stack") {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK_FALSE(find_flaw(nested(64)));
  const auto flaw = find_flaw(nested(65));
  REQUIRE(flaw);
  CHECK(to_text(*flaw) == "nests deeper than 64 at byte 64");
  CHECK(find_flaw(nested(3), 2)->deep);
  CHECK(find_flaw(std::string(10'000'000, '['))->deep);
  CHECK(to_text(*find_flaw("[1,")) == "is no JSON at byte 4");
}

TEST_CASE("brackets within texts, and those that were closed, do not count as depth") {
  CHECK_FALSE(find_flaw(R"({"[[[[\"[[[[": ["[[[", {}, [], [[]]]})", 4));
  CHECK_FALSE(find_flaw("[[[[]]]]", 4));
  const auto deep = find_flaw(R"(["\\", [[)", 2);
  REQUIRE(deep);
  CHECK((deep->deep && deep->at == 8));
}

TEST_CASE("a number that no double holds is 0 where it is small and is not read where it is large") {
  for (const std::string text : {"1e-400", "1e-99999999999999999999", "0.1e-400", "0.00000000000000000000001e-310"}) {
    CAPTURE(text);
    double x = 1;
    CHECK(json_cursor{text}.read(x));
    CHECK(x == 0);
  }
  for (const std::string text : {"1e400", "-1e400", "1e99999999999999999999", "1000000000000000000000000e300"}) {
    CAPTURE(text);
    double x = 1;
    json_cursor at{text};
    CHECK_FALSE(at.read(x));
    CHECK(x == 1);
    CHECK(at.token() == text);
  }
  CHECK(std::signbit([] {
    double x = 1;
    return json_cursor{"-1e-400"}.read(x) ? x : 1;
  }()));
}

TEST_CASE("a value of another kind or range is not read, and the cursor stays at it") {
  const std::string text = R"([256, -1, 2147483648, 9223372036854775808, 1.0, 1e39, "1", null, [], true])";
  json_cursor at{text};
  at.enter();
  const auto stays = [&](auto into) {
    const auto token = at.is_list() ? std::string_view{} : at.token();
    CHECK_FALSE(at.read(into));
    CHECK((at.is_list() || at.token() == token));
  };
  const auto next = [&] { at.skip(), at.next(); };
  stays(uint8_t{}), next();
  stays(uint8_t{}), stays(bool{}), next();
  stays(int32_t{}), next();
  stays(int64_t{}), next();
  stays(int64_t{}), stays(int32_t{}), next();
  stays(float{}), next();
  for (int i = 0; i < 3; ++i)
    stays(int64_t{}), stays(double{}), stays(float{}), stays(bool{}), next();
  stays(double{}), stays(uint8_t{});
  bool truth = false;
  CHECK((at.read(truth) && truth));
  CHECK(json_cursor{text}.count() == 10);
}

TEST_CASE("a text is cut between characters") {
  CHECK(text_of_json(R"("abc")", 3) == "abc");
  CHECK(text_of_json(R"("abcd")", 3) == "abc...");
  CHECK(text_of_json(R"("ab\u20acd")", 4) == "ab...");
}

}  // namespace troupe
