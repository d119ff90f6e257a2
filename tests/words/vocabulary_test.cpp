#include <troupe/vocabulary.hpp>

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("words become the numbers of their places in the vocabulary") {
  const std::vector<std::string> kinds{"shirt", "bag", ""}, words{"bag", "", "shirt", "bag"};
  const auto found = indices_of(words, kinds);
  REQUIRE(found);
  CHECK(*found == tensor::of<int32_t>({4}, {1, 2, 0, 1}));
  CHECK(indices_of({}, kinds)->dims() == shape{0});
}

TEST_CASE(
    "a word that the vocabulary does not have is named with its row; a vocabulary without words, or with one twice, is "
    "none") {
  const std::vector<std::string> kinds{"shirt", "bag"}, words{"bag", "boot", "hat"};
  CHECK(indices_of(words, kinds).error()
        == error{errc::invalid_argument, "'boot' of row 1 is not in the vocabulary of 2 words"});
  CHECK(indices_of(words, {}).error() == error{errc::invalid_argument, "the vocabulary has no words"});
  const std::vector<std::string> twice{"shirt", "bag", "shirt"};
  CHECK(validate_vocabulary(twice).error() == error{errc::invalid_argument, "the vocabulary has 'shirt' twice"});
  CHECK(validate_vocabulary(kinds));
}

}  // namespace troupe
