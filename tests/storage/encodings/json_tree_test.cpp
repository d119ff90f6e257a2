#include "storage/encodings/json_tree.hpp"

#include "tests/support/has.hpp"
#include "tests/support/scarce_memory.hpp"

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

constexpr std::string_view
    nested_json = R"({"a": [1, [2, {"b": ["a long text that has a block of its own", {}]}], []], )"
                  R"("c": {"d": {"e": [[[0]]]}}, "f": [null, true]})";

}  // namespace

TEST_CASE(
    "a tree for which memory ends while it is built or before it is taken apart leaves an error, and nothing worse") {
  int refused = 0;
  for (int64_t allocations = 0;; ++allocations) {
    test::scarce_memory memory{allocations};
    try {
      const json_tree tree{nested_json};
      memory.end();  // The destructor must need none.
      break;
    } catch (const std::bad_alloc&) {
      ++refused;
    }
  }
  CHECK(refused > 10);
  const json_tree tree{nested_json};
  CHECK(tree.root() == nlohmann::json::parse(nested_json));
}

TEST_CASE("what is no JSON, nests too deep, or is of another kind is an error that names the file") {
  using json = nlohmann::json;
  const auto read = [](std::string_view text) {
    return read_json(text, "a/b.json: ", [](const json& j) -> expected<int64_t> { return j.at("x").get<int64_t>(); });
  };
  CHECK(*read(R"({"x": 3})") == 3);
  CHECK(read("{\"x\": 3").error() == error{errc::data_loss, "a/b.json: it is no JSON at byte 8"});
  CHECK(read(std::string(100, '[')).error() == error{errc::data_loss, "a/b.json: it nests deeper than 64 at byte 64"});
  for (const auto* text : {R"({"x": "3"})", R"({"y": 3})", "[]", "1e999"}) {
    CHECK(read(text).error().category == errc::data_loss);
    CHECK(has(read(text).error().message, "a/b.json: [json.exception."));
  }
}

TEST_CASE("a number that is no integer of 64 bits is an error that shows it, and not another number") {
  using json = nlohmann::json;
  const auto read = [](std::string_view text) {
    return read_json(text, "a.json: ", [](const json& j) -> expected<int64_t> { return integer_of(j); });
  };
  CHECK(*read("-9223372036854775808") == INT64_MIN);
  CHECK(*read("9223372036854775807") == INT64_MAX);
  for (const auto* text :
       {"1e30", "-1e30", "2.5", "3.0", "9223372036854775808", "18446744073709551615", "\"3\"", "[3]", "null", "true"}) {
    CAPTURE(text);
    REQUIRE_FALSE(read(text));
    CHECK(read(text).error().category == errc::data_loss);
    CHECK(has(read(text).error().message, "must be an integer of 64 bits, but is "));
  }
}

}  // namespace troupe
