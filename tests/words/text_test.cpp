#include "words/text.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace troupe {

TEST_CASE("a list is joined between its elements only, also where the first is empty") {
  CHECK(joined(std::vector<std::string>{}) == "");
  CHECK(joined(std::vector<std::string>{"a"}) == "a");
  CHECK(joined(std::vector<std::string>{"a", "b"}, " -> ") == "a -> b");
  CHECK(joined(std::vector<std::string>{"", "b"}) == ", b");
  CHECK(joined(std::vector<int64_t>{-3, 5}) == "-3, 5");
  CHECK(joined(std::map<std::string, int>{{"a", 1}, {"b", 2}}, ", ", [](const auto& x) { return quoted(x.first); })
        == "'a', 'b'");
}

TEST_CASE("a text cannot control the terminal on which it is printed, and keeps its letters") {
  CHECK(printable("a\x1b[31m\n\x7f größe") == "a?[31m?? größe");
}

TEST_CASE("a part of a file's name has no slash, no control character, and at most 200 bytes") {
  for (const auto& name : {std::string{}, std::string{"größe 1.5"}, std::string(200, 'x')})
    CHECK(wrong_in_file_name(name) == "");
  CHECK(wrong_in_file_name("a/b") == "has a slash");
  CHECK(wrong_in_file_name(std::string{"a\0b", 3}) == "has a control character");
  CHECK(wrong_in_file_name("a\nb") == "has a control character");
  CHECK(wrong_in_file_name(std::string(201, 'x')) == "has 201 bytes, and 200 at most fit");
}

TEST_CASE("a number has as many digits as give it back, and a padded one at least those that are wanted") {
  CHECK(shortest_text(0.1f) == "0.1");
  CHECK(shortest_text(static_cast<double>(0.1f)) == "0.10000000149011612");
  CHECK(shortest_text(int64_t{-7}) == "-7");
  CHECK(zero_padded(42, 5) == "00042");
  CHECK(zero_padded(1'234'567, 5) == "1234567");
}

TEST_CASE("a time of day is of UTC, and unknown where there is none") {
  CHECK(time_text(1'600'000'000.9) == "2020-09-13 12:26:40 UTC");
  CHECK(time_text(0) == "unknown");
  CHECK(time_text(-1) == "unknown");
  CHECK(time_text(1e300) == "unknown");
}

TEST_CASE("a path has a directory and a file name, whatever it begins with") {
  CHECK(parent_of("/a/b") == "/a");
  CHECK(parent_of("/a") == "/");
  CHECK(parent_of("a") == ".");
  CHECK(file_name_of("/a/b") == "b");
  CHECK(file_name_of("b") == "b");
}

}  // namespace troupe
