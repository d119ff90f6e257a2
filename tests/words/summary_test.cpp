#include <troupe/summary.hpp>

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("every kind of summary has a name of its own") {
  CHECK(to_string(summary_value::kind::scalar) == "scalar");
  CHECK(to_string(summary_value::kind::histogram) == "histogram");
  CHECK(to_string(summary_value::kind::image) == "image");
  CHECK(to_string(summary_value::kind::text) == "text");
}

}  // namespace troupe
