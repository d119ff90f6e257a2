#include "words/json_text.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using json_text::entry;

namespace {

template <class Get>
std::string refused(std::string_view text, Get get) {
  const auto read = json_text::read(text, "a.json", get);
  REQUIRE_FALSE(read);
  CHECK(read.error().category == errc::data_loss);
  return read.error().message;
}

}  // namespace

TEST_CASE("a value of another kind is refused with its path, itself and what would be right") {
  CHECK(refused(R"({"a": {"b": [1, "x"]}})", [](const entry& e) { return e.at("a").at("b").elements()[1].integer(); })
        == "a.json: a.b[1] must be a whole number of 64 bits, not \"x\"");
  CHECK(refused("[]", [](const entry& e) { return e.members().size(); }) == "a.json: it must be an object, not []");
  CHECK(refused("{\"a\": -1}", [](const entry& e) { return e.at("a").count(); })
        == "a.json: a must be a whole number of at least 0, not -1");
  CHECK(refused("9007199254740993", [](const entry& e) { return e.count(); })
        == "a.json: it must be a whole number of at most 2^53, not 9007199254740993");
}

TEST_CASE("what is no JSON, has a key twice or is nested too deeply is refused") {
  const auto any = [](const entry& e) { return e.value().is_null(); };
  CHECK(refused("{", any).starts_with("a.json: it is no JSON: "));
  CHECK(refused(R"({"a": {"b": 1, "b": 2}})", any) == "a.json: an object has the key \"b\" twice");
  CHECK(refused(std::string(65, '['), any) == "a.json: it nests deeper than 64");
  CHECK(json_text::read(std::string(64, '[') + std::string(64, ']'), "a.json", any) == false);
}

}  // namespace troupe::test
