#include "cli/configuration/nearest.hpp"

#include <doctest/doctest.h>

namespace troupe::cli {

TEST_CASE("the distance of two words counts insertions, deletions, substitutions and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("step", "steps") == 1);
  CHECK(edit_distance("trian", "train") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
}

TEST_CASE("the nearest name is offered, and none where nothing is near") {
  const std::vector<std::string> known{"--max-steps", "--epochs", "--model-dir"};
  CHECK(nearest("--max-step", known) == "--max-steps");
  CHECK(nearest("--epcohs", known) == "--epochs");
  CHECK_FALSE(nearest("--verbose", known));
  CHECK_FALSE(nearest("x", {"ab"}));
  CHECK(did_you_mean(nearest("--model_dir", known)) == "; did you mean --model-dir?");
  CHECK(did_you_mean(std::nullopt).empty());
}

}  // namespace troupe::cli
