#include "words/checkpoint_id.hpp"

#include <troupe/options/option_field.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a reference to a checkpoint is read as it is written") {
  for (const auto& which : {checkpoint_ref::newest(), checkpoint_ref::best(), checkpoint_ref::of_step(0),
                            checkpoint_ref::of_step(INT64_MAX), checkpoint_ref::of_path("model.ckpt-390"),
                            checkpoint_ref::of_path("/runs/a b/model.ckpt-390-iteration-2")}) {
    CAPTURE(to_string(which));
    const auto read = parse_checkpoint_ref(to_string(which));
    REQUIRE(read);
    CHECK(*read == which);
    CHECK(validate(which));
  }
  CHECK(to_string(checkpoint_ref{}) == "newest");
  CHECK(to_string(checkpoint_ref::of_step(390)) == "390");
}

TEST_CASE("text that names no checkpoint is refused, and says what does") {
  for (const std::string text : {"", "bets", "-1", "1.5", "390 ", "99999999999999999999", "runs/a", "model.ckpt-",
                                 "model.ckpt-07", "a/model.ckpt-5.index"}) {
    CAPTURE(text);
    const auto read = parse_checkpoint_ref(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::invalid_argument);
    CHECK(read.error().message == "'" + text + "' names no checkpoint: it is newest, best, a step such as 390, or "
                                               "a path such as runs/fashion/model.ckpt-390");
  }
  CHECK(validate(checkpoint_ref::of_step(-1)).error().message == "the step of a checkpoint must be at least 0, not -1");
  CHECK(validate(checkpoint_ref::of_path("runs/a")).error().category == errc::invalid_argument);
}

TEST_CASE("a reference is a field of options") {
  checkpoint_ref which;
  CHECK(parse_option("best", which));
  CHECK(which == checkpoint_ref::best());
  CHECK_FALSE(parse_option("bets", which));
  CHECK(option_text(checkpoint_ref::of_step(7)) == "7");
}

TEST_CASE("the choice within a directory is that of the reference") {
  CHECK(choice_of(checkpoint_ref::newest()).step < 0);
  CHECK(choice_of(checkpoint_ref::best()).best);
  CHECK(choice_of(checkpoint_ref::of_step(8)).step == 8);
  CHECK(choice_of(checkpoint_ref::of_step(8)).iteration < 0);
  CHECK(choice_of(checkpoint_ref::of_path("a/model.ckpt-8-iteration-2")).iteration == 2);
  CHECK(choice_of(checkpoint_ref::of_path("a/model.ckpt-8")).iteration == 0);
}

}  // namespace troupe::test
