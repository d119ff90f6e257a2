#include <troupe/checkpoint_id.hpp>

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("an id is written in one way, and read in no other") {
  CHECK(to_string(checkpoint_id{1200}) == "1200");
  CHECK(to_string(checkpoint_id{1200, 2}) == "1200-iteration-2");
  for (const auto id :
       {checkpoint_id{0}, checkpoint_id{1200}, checkpoint_id{0, 1}, checkpoint_id{INT64_MAX, INT64_MAX}})
    CHECK(parse_checkpoint_id(to_string(id)) == id);
  for (const char* text : {"", "-1", "01", "+1", "1 ", "1-", "1-2", "1-iteration-", "1-iteration-0", "1-iteration-01",
                           "1-iteration--1", "1-iteration-2-", "1-iteration-2-iteration-3", "iteration-1",
                           "9223372036854775808", "1-iteration-9223372036854775808"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_checkpoint_id(text));
  }
}

}  // namespace troupe
