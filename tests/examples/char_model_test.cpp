// The parts of the example char_model other than its models: text as numbers, and the counts of characters with which
// it compares.
#include "examples/count_model.hpp"
#include "examples/text.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

namespace troupe::test {

namespace {

const std::vector<int32_t> nothing;

}  // namespace

TEST_CASE("counts are mixed with those of the shorter context, by how many characters followed it") {
  count_model counts{1, 2};
  counts.learn(std::vector<int32_t>{0, 1, 0, 1, 1});  // The text "ababb".
  // Two a and three b, so two kinds: (2 + 2/2) / (5 + 2) and (3 + 2/2) / (5 + 2).
  CHECK(counts.probability(nothing, 0) == doctest::Approx(3.0 / 7));
  CHECK(counts.probability(nothing, 1) == doctest::Approx(4.0 / 7));
  // After a: b twice, one kind. After b: a and b once each, two kinds.
  const std::vector<int32_t> a{0}, b{1};
  CHECK(counts.probability(a, 1) == doctest::Approx((2 + 1 * 4.0 / 7) / (2 + 1)));
  CHECK(counts.probability(a, 0) == doctest::Approx((0 + 1 * 3.0 / 7) / (2 + 1)));
  CHECK(counts.probability(b, 1) == doctest::Approx((1 + 2 * 4.0 / 7) / (2 + 2)));
  // The text continues with "ab": the bits are -log2 of a after b, and -log2 of b after a.
  const double bits = -std::log2((1 + 2 * 3.0 / 7) / 4) - std::log2((2 + 4.0 / 7) / 3);
  CHECK(counts.bits_per_character(std::vector<int32_t>{0, 1, 0, 1, 1, 0, 1}, 5) == doctest::Approx(bits / 2));
}

TEST_CASE("a context that was never seen counts for nothing, and one of order 3 does not look at a fourth character") {
  count_model counts{3, 4};
  counts.learn(std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 0, 3, 3, 1});
  const std::vector<int32_t> unseen{2, 2, 2}, shorter{2}, four{3, 0, 1, 2}, three{0, 1, 2};
  for (int32_t c = 0; c < 4; ++c) {
    CHECK(counts.probability(unseen, c) == counts.probability(shorter, c));
    CHECK(counts.probability(four, c) == counts.probability(three, c));
    CHECK(counts.probability(three, c) != counts.probability(shorter, c));
  }
}

TEST_CASE("the probabilities of all following characters add up to 1 after every context") {
  count_model counts{3, 5};
  std::vector<int32_t> text;
  for (int i = 0; i < 300; ++i)
    text.push_back(i * i / 7 % 5);
  counts.learn(text);
  for (size_t i = 0; i + 3 < text.size(); i += 11) {
    double sum = 0;
    for (int32_t c = 0; c < 5; ++c)
      sum += counts.probability(std::span{text}.subspan(i, 3), c);
    CHECK(sum == doctest::Approx(1));
  }
}

TEST_CASE("a character is a code point, and a byte that belongs to none stands for itself") {
  CHECK(code_points("a\xc3\xa9\xe2\x80\x9c\xf0\x9f\x8e\xad")
        == std::vector<char32_t>{U'a', U'\u00e9', U'\u201c', U'\U0001f3ad'});
  CHECK(code_points("\xe2\x80"
                    "a\xff\xc3")
        == std::vector<char32_t>{0xe2, 0x80, U'a', 0xff, 0xc3});
  CHECK(code_points("").empty());
  const auto numbers = numbered(
      code_points("b\xc3\xa9"
                  "ab"));
  CHECK(numbers.kinds == 3);
  CHECK(numbers.characters == std::vector<int32_t>{1, 2, 0, 1});
}

TEST_CASE("a text is read plain or gzip'ed; one that is cut off is data loss, and one that is not there not found") {
  temporary_directory directory;
  const std::string rhyme = "one two three four five\n";
  std::ofstream{directory / "plain"} << rhyme;
  const auto file = gzopen((directory / "packed.gz").c_str(), "wb");
  gzwrite(file, rhyme.data(), static_cast<unsigned>(rhyme.size()));
  gzclose(file);
  const auto plain = read_text(directory / "plain"), packed = read_text(directory / "packed.gz");
  REQUIRE(plain);
  REQUIRE(packed);
  CHECK(plain->characters.size() == rhyme.size());
  CHECK(plain->characters == packed->characters);
  std::ifstream in{directory / "packed.gz", std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  std::ofstream{directory / "cut.gz", std::ios::binary} << bytes.substr(0, bytes.size() - 9);
  const auto cut = read_text(directory / "cut.gz");
  REQUIRE_FALSE(cut);
  CHECK(cut.error().category == errc::data_loss);
  CHECK(read_text(directory / "absent").error().category == errc::not_found);
}

}  // namespace troupe::test
