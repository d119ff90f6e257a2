#include "cli/terminal/columns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

namespace troupe::cli {

namespace {

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> words;
  for (std::string w; in >> w;)
    words.push_back(w);
  return words;
}

}  // namespace

TEST_CASE("a character takes one column, whatever its bytes and its script") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("été") == 3);
  CHECK(columns_of("\xe2\x82\xac \xf0\x9f\x98\x80") == 3);
  CHECK(columns_of("漢字") == 2);  // Terminals show each in two columns.
  CHECK(columns_of("\xff\xfe") == 2);
}

TEST_CASE("a text fits if each of its lines does") {
  CHECK(fits_in("", 0));
  CHECK(fits_in("abc\nab\n", 3));
  CHECK_FALSE(fits_in("abc\nabcd\n", 3));
  CHECK_FALSE(fits_in("abcd", 3));
  CHECK(fits_in("été\n", 3));
}

TEST_CASE("lines that fit stay as they are, with their spaces and their ends") {
  for (const std::string text : {"", "\n", "a   b\n\n  c \n", "a table:\n   1   2\n  10  20", "abcdefghijklmnopqrst"})
    CHECK(wrapped(text, 20) == text);
}

TEST_CASE("a line that does not fit goes on below, two columns further right than it begins") {
  CHECK(wrapped("error: the data are not there\n", 16) == "error: the data\n  are not there\n");
  CHECK(wrapped("error: a\n  note: --data names other data", 16)
        == "error: a\n  note: --data\n    names other\n    data");
  CHECK(wrapped("a  b   c    d", 6) == "a  b\n  c\n  d");
}

TEST_CASE("a word that is wider than the window is not broken") {
  CHECK(wrapped("saved runs/fashion-mnist/model.ckpt-936 now", 12)
        == "saved\n  runs/fashion-mnist/model.ckpt-936\n  now");
  CHECK(wrapped("abcdefgh", 3) == "abcdefgh");
  CHECK(wrapped("a b", 0) == "a\nb");
}

TEST_CASE("a number stays on the line of the word before it where both fit, but rows of numbers are broken anywhere") {
  CHECK(wrapped("accuracy 0.86, loss -0.39", 20) == "accuracy 0.86,\n  loss -0.39");
  CHECK(wrapped("the loss 0.39", 11) == "the\n  loss 0.39");
  CHECK(wrapped("an average_loss 0.39", 12) == "an\n  average_loss\n  0.39");
  CHECK(wrapped("1 2 3 4 5 6", 5) == "1 2 3\n  4 5\n  6");
}

TEST_CASE("in a window of any width no line is wider than it, but for single words, and no word is lost") {
  const std::string text =
      "warning: a late évaluation of step 936 gave accuracy 0.8457 - the best, of 12,345 - and\n"
      "    a note of\n\n  many words 7 8 -9 z\n";
  for (size_t width = 0; width < 100; ++width) {
    CAPTURE(width);
    const auto result = wrapped(text, width);
    CHECK(words_in(result) == words_in(text));
    CHECK(std::count(result.begin(), result.end(), '\n') >= 4);
    std::istringstream lines{result};
    for (std::string line; std::getline(lines, line);)
      CHECK((columns_of(line) <= width || words_in(line).size() == 1));
  }
}

TEST_CASE("what is cut off a text is told by three dots, within its width") {
  CHECK(shortened("evaluated step 8", 16) == "evaluated step 8");
  CHECK(shortened("evaluated step 8", 15) == "evaluated st...");
  CHECK(shortened("été été", 6) == "été...");
  CHECK(shortened("été été", 5) == "ét...");
  CHECK(shortened("abcdef", 3) == "...");
  CHECK(shortened("abcdef", 2) == "..");
  CHECK(shortened("abcdef", 0) == "");
}

TEST_CASE("fields that do not fit are left out from the last rank down, the later of equal ones first") {
  const std::vector<text_field> fields{{2, "two"}, {0, "zero"}, {1, ""}, {3, "a", ", "}, {3, "b", ", "}};
  const auto line = [&](size_t room) { return line_of(fitting(fields, room)); };
  CHECK(line(15) == "two  zero, a, b");
  CHECK(line(14) == "two  zero, a");
  CHECK(line(12) == "two  zero, a");
  CHECK(line(11) == "two  zero");
  CHECK(line(8) == "zero");  // "a" would fit, but "two" has a higher rank.
  CHECK(line(3) == "");
}

}  // namespace troupe::cli
