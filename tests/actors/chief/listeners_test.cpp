#include "actors/chief/listeners.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a save and a commit wait until listeners have returned from the fact that tells of them") {
  listeners l;
  CHECK_FALSE(l.any());
  l.begin(true);
  CHECK(l.any());
  l.hear_saving(1, 10);
  l.hear_commit(2, committed{1, {10}, "/m/model.ckpt-10", {}});
  CHECK(l.hear_any_saving());
  CHECK(l.hear_any_commit());
  CHECK_FALSE(l.heard_saving(2));
  CHECK(l.heard_saving(1) == 10);
  CHECK_FALSE(l.heard_saving(1));
  CHECK(l.heard_commit(2)->id == checkpoint_id{10});
  CHECK_FALSE(l.hear_any_saving());
  CHECK_FALSE(l.hear_any_commit());
}

TEST_CASE(
    "what listeners were hearing of is handed over when nobody waits for them, and forgotten when another attempt "
    "begins") {
  listeners l;
  l.begin(true);
  l.hear_saving(1, 10);
  l.hear_commit(2, committed{1, {5}, "", {}});
  SUBCASE("handed over") {
    CHECK(l.take_savings() == std::map<uint64_t, int64_t>{{1, 10}});
    CHECK(l.take_commits().size() == 1);
  }
  SUBCASE("forgotten") { l.begin_attempt(); }
  CHECK_FALSE(l.hear_any_saving());
  CHECK_FALSE(l.hear_any_commit());
  CHECK_MESSAGE(l.any(), "listeners are of the job");
}

}  // namespace troupe::test
