#include "storage/records/example_columns.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <troupe/tfrecord.hpp>

#include <limits>

namespace troupe {

namespace {

const example sample_example{{{"bytes", byte_strings{"ab", "", std::string("\0\xff", 2)}},
                              {"floats", std::vector<float>{1.5f, -0.0f, std::numeric_limits<float>::infinity()}},
                              {"integers", std::vector<int64_t>{0, -1, std::numeric_limits<int64_t>::max()}},
                              {"no floats", std::vector<float>{}},
                              {"nothing", std::monostate{}}}};

expected<void> read_row(const example& x, const component& column, std::span<std::byte> into) {
  auto columns = example_columns::of({column});
  REQUIRE(columns);
  std::byte* const at[] = {into.data()};
  return columns->read(*encode_example(x), at);
}

void refused(const example& x, const component& column, std::string_view message) {
  std::byte room[64];
  const auto result = read_row(x, column, room);
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::invalid_argument);
  CHECK(result.error().message == message);
}

}  // namespace

TEST_CASE("an example of every kind of feature is decoded as it was encoded") {
  const auto bytes = encode_example(sample_example);
  REQUIRE(bytes);
  const auto read = decode_example(*bytes);
  REQUIRE(read);
  CHECK(*read == sample_example);
  CHECK(*decode_example("") == example{});
  CHECK(encode_example(example{})->empty());
}

TEST_CASE("an example is bytes that TensorFlow documents") {
  // The fields: Example.features (1), Features.feature (1) with key (1) and value (2), Feature.int64_list (3),
  // Int64List.value (1), packed.
  const auto bytes = encode_example({{{"a", std::vector<int64_t>{7, 300}}}});
  REQUIRE(bytes);
  CHECK(*bytes == "\x0a\x0e\x0a\x0c\x0a\x01" "a\x12\x07\x1a\x05\x0a\x03\x07\xac\x02");
  // Lists that are not packed are also read.
  const auto loose = decode_example(
      "\x0a\x0d\x0a\x0b\x0a\x01"
      "a\x12\x06\x1a\x04\x08\x07\x08\x09");
  REQUIRE(loose);
  CHECK(std::get<std::vector<int64_t>>(loose->features.at("a")) == std::vector<int64_t>{7, 9});
}

TEST_CASE("an example cut off anywhere is data_loss or a smaller example, and never more") {
  const auto bytes = *encode_example(sample_example);
  for (size_t length = 1; length < bytes.size(); ++length) {
    const auto read = decode_example(std::string_view{bytes}.substr(0, length));
    CAPTURE(length);
    REQUIRE_FALSE(read);  // The length of the field Features does not fit.
    CHECK(read.error().category == errc::data_loss);
  }
}

TEST_CASE("a feature's name has to be UTF-8") {
  CHECK(encode_example({{{"\xff", std::vector<float>{1}}}}).error().category == errc::invalid_argument);
  CHECK(decode_example("\x0a\x05\x0a\x03\x0a\x01\xff").error().category == errc::data_loss);
}

TEST_CASE("features become rows: floats, integers of both widths, bytes") {
  const example x{
      {{"f", std::vector<float>{1, 2, 3}}, {"i", std::vector<int64_t>{-5, 1 << 20}}, {"b", byte_strings{"xyz"}}}};
  auto columns = example_columns::of(
      {{"b", dtype::uint8, {3}}, {"f", dtype::float32, {3}}, {"i", dtype::int32, {2}}, {"i", dtype::int64, {2}}});
  REQUIRE(columns);
  char b[3];
  float f[3];
  int32_t narrow[2];
  int64_t wide[2];
  std::byte* const into[] = {reinterpret_cast<std::byte*>(b), reinterpret_cast<std::byte*>(f),
                             reinterpret_cast<std::byte*>(narrow), reinterpret_cast<std::byte*>(wide)};
  REQUIRE(columns->read(*encode_example(x), into));
  CHECK(std::string(b, 3) == "xyz");
  CHECK(f[2] == 3);
  CHECK(narrow[0] == -5);
  CHECK(wide[1] == 1 << 20);
}

TEST_CASE(
    "a feature that is missing, of another kind or size, or too large is refused, with what is there and what was "
    "wanted") {
  const example x{{{"f", std::vector<float>{1, 2, 3}},
                   {"i", std::vector<int64_t>{int64_t{1} << 31}},
                   {"b", byte_strings{"xyz"}},
                   {"two", byte_strings{"x", "y"}},
                   {"n", std::monostate{}}}};
  refused(x, {"g", dtype::float32, {3}}, "feature 'g' is missing, wanted float32[3]");
  refused(x, {"f", dtype::int64, {3}}, "feature 'f' is a list of 3 floats, wanted int64[3]");
  refused(x, {"f", dtype::float32, {4}}, "feature 'f' is a list of 3 floats, wanted float32[4]");
  refused(x, {"i", dtype::float32, {}}, "feature 'i' is a list of 1 integers, wanted float32[]");
  refused(x, {"i", dtype::int32, {}}, "feature 'i' is a list with 2147483648, wanted int32[]");
  refused(x, {"b", dtype::uint8, {2}}, "feature 'b' is a list of 1 strings of bytes, 3 of them, wanted uint8[2]");
  refused(x, {"two", dtype::uint8, {2}}, "feature 'two' is a list of 2 strings of bytes, wanted uint8[2]");
  refused(x, {"n", dtype::float32, {1}}, "feature 'n' is nothing, wanted float32[1]");
}

TEST_CASE("a column of a dtype that examples do not hold, or of no size, is refused by name") {
  for (const auto& c :
       {component{"x", dtype::boolean, {1}}, component{"x", dtype::float64, {1}}, component{"x", dtype::float32, {-1}},
        component{"x", dtype::float32, {int64_t{1} << 40, int64_t{1} << 40}}}) {
    const auto columns = example_columns::of({c});
    REQUIRE_FALSE(columns);
    CHECK(columns.error().category == errc::invalid_argument);
    CHECK(has(columns.error().message, "feature 'x' cannot be " + std::string{to_string(c.type)}));
  }
}

}  // namespace troupe
