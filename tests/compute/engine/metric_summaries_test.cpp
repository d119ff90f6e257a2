#include "compute/engine/metric_summaries.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace troupe::test {

using kind = summary_value::kind;

TEST_CASE("numbers become scalars, arrays tables of text, and matrices pictures too") {
  const auto all = summaries_of(
      {{"accuracy", 0.5}, {"global_step", 7}},
      {{"confusion", tensor::of<double>({2, 2}, {3, 1, 0, 4})}, {"recall", tensor::of<double>({3}, {1, 0.5, 0})}});
  REQUIRE(all.size() == 4);
  CHECK((all[0].what == kind::scalar && all[0].tag == "accuracy" && all[0].scalar == 0.5));
  CHECK((all[1].what == kind::text && all[1].tag == "confusion"));
  CHECK(all[1].text == "| | 0 | 1 |\n|---|---|---|\n| **0** | 3 | 1 |\n| **1** | 0 | 4 |");
  CHECK((all[2].what == kind::image && all[2].tag == "confusion/image"));
  CHECK((all[3].what == kind::text && all[3].tag == "recall"));
  CHECK(all[3].text == "| | 0 | 1 | 2 |\n|---|---|---|---|\n|  | 1 | 0.5 | 0 |");
}

TEST_CASE("a picture has a square for each element, darker for a larger share of its row") {
  const auto picture = picture_of(tensor::of<double>({2, 2}, {3, 1, 0, 4}));
  CHECK(picture.dims() == shape{256, 256, 1});
  const auto at = [&](int64_t row, int64_t column) {
    return int{picture.as<uint8_t>()[static_cast<size_t>(row * 256 + column)]};
  };
  CHECK(at(0, 0) == 64);
  CHECK(at(127, 127) == 64);
  CHECK(at(127, 128) == 191);
  CHECK(at(128, 0) == 255);
  CHECK(at(255, 255) == 0);
}

TEST_CASE("rows of zeros, and rows with elements that are not finite, are drawn without trouble") {
  const auto picture = picture_of(tensor::of<double>({2, 2}, {0, 0, std::numeric_limits<double>::infinity(), 1}));
  for (const uint8_t pixel : picture.as<uint8_t>())
    CHECK(pixel == 255);
  CHECK(picture_of(tensor::zeros(dtype::float64, {700, 3})).dims() == shape{700, 3, 1});
}

TEST_CASE(
    "of a large array the table has the first rows and columns, and says so; one that is too large for a picture has "
    "none") {
  const auto text = markdown_of(tensor::zeros(dtype::float64, {101, 150}));
  CHECK(text.ends_with("\n\nThe first 100 × 100 of 101 × 150."));
  CHECK(has(text, "**99**"));
  CHECK_FALSE(has(text, "**100**"));
  CHECK(summaries_of({}, {{"confusion", tensor::zeros(dtype::float64, {1025, 2})}}).size() == 1);
}

}  // namespace troupe::test
