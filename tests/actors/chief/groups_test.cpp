#include "actors/chief/groups.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

const error not_finite{errc::nan_loss, "the loss is not finite", {}, "b/replica/0", 12};

groups of_three() {
  return groups{{{group_id{0}, "mixture"}, {group_id{1}, "a", leaves_on::numbers_and_death}, {group_id{2}, "b", leaves_on::numbers_and_death}}};
}

}  // namespace

TEST_CASE("a group leaves for its own numbers, by its policy, and once") {
  auto g = of_three();
  CHECK(g.leaves_for(group_id{2}, not_finite));
  CHECK_FALSE(g.leaves_for(group_id{0}, not_finite));
  CHECK_FALSE(g.leaves_for(group_id{7}, not_finite));
  for (const auto category : {errc::invalid_argument, errc::resource_exhausted, errc::aborted, errc::cancelled, errc::out_of_range})
    CHECK_FALSE(g.leaves_for(group_id{2}, error{category, "what happens to one group happens to all"}));
  g.leave_at(12, group_id{2}, not_finite);
  CHECK(g.has_left(group_id{2}));
  CHECK_FALSE(g.leaves_for(group_id{2}, not_finite));
  CHECK(g.leaves_for(group_id{1}, not_finite));
}

TEST_CASE("a group that leaves for its numbers alone is not dropped for a death") {
  groups g{{{group_id{0}, "mixture"}, {group_id{1}, "a", leaves_on::numbers}}};
  CHECK(g.leaves_for(group_id{1}, not_finite));
  CHECK_FALSE(g.may_drop(group_id{1}));
}

TEST_CASE("the books say of states above its last one that a group has left, and bring it back as gone") {
  auto g = of_three();
  g.leave_at(12, group_id{2}, not_finite);
  CHECK_MESSAGE(g.books(12).empty(), "its part of state 12 had been sent");
  const auto books = g.books(15);
  REQUIRE(books.size() == 1);
  CHECK(books.at("left/b") == "12 " + to_string(not_finite));
  CHECK(g.text() == "group 'b' left at step 12: " + to_string(not_finite));

  auto later = of_three();
  later.restore(15, books);
  CHECK(later.left() == g.left());
  CHECK(later.books(15) == books);
  later.restore(10, {{"first_step", "0"}});
  CHECK_MESSAGE(later.left().empty(), "a checkpoint of before brings it back to work");
  CHECK(later.text().empty());
}

TEST_CASE("books of groups that the plan does not have, or that are damaged, remove nobody else") {
  auto g = of_three();
  g.restore(15, {{"left/c", "3 lost"}, {"left/a", ""}});
  REQUIRE(g.left().size() == 1);
  CHECK(g.left().at(group_id{1}) == departure{0, 1, ""});
}

TEST_CASE("a group that is dropped for a death stays out of all later attempts, from the checkpoint on from which they begin") {
  auto g = of_three();
  CHECK(g.may_drop(group_id{2}));
  CHECK_FALSE(g.may_drop(group_id{0}));
  g.drop(group_id{2}, error{errc::aborted, "b/replica/0 ended"});
  CHECK_FALSE(g.may_drop(group_id{2}));
  CHECK(g.left().empty());
  g.restore(10, {});
  CHECK(g.left().at(group_id{2}) == departure{10, 10, "aborted: b/replica/0 ended"});
  CHECK(g.books(10).contains("left/b"));
  g.restore(15, g.books(10));
  CHECK_MESSAGE(g.left().at(group_id{2}).step == 10, "the checkpoint knows better");
}

}  // namespace troupe::test
