#include "actors/chief/groups.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

const error not_finite{errc::nan_loss, "the loss is not finite", {}, "b/replica/0", 12};

groups of_three() {
  return groups{{{group_id{0}, "mixture"},
                 {group_id{1}, "a", leaves_on::numbers_and_death},
                 {group_id{2}, "b", leaves_on::numbers_and_death}}};
}

}  // namespace

TEST_CASE("a group leaves for its own numbers, by its policy, and once") {
  auto g = of_three();
  CHECK(g.leaves_for(group_id{2}, not_finite));
  CHECK_FALSE(g.leaves_for(group_id{0}, not_finite));
  CHECK_FALSE(g.leaves_for(group_id{7}, not_finite));
  for (const auto category :
       {errc::invalid_argument, errc::resource_exhausted, errc::aborted, errc::cancelled, errc::out_of_range})
    CHECK_FALSE(g.leaves_for(group_id{2}, error{category, "what happens to one group happens to all"}));
  CHECK(g.leave_at(12, group_id{2}, not_finite) == std::vector<group_id>{group_id{2}});
  CHECK(g.has_left(group_id{2}));
  CHECK_FALSE(g.leaves_for(group_id{2}, not_finite));
  CHECK(g.leaves_for(group_id{1}, not_finite));
}

TEST_CASE("a group that leaves for its numbers alone is not dropped for a death") {
  groups g{{{group_id{0}, "mixture"}, {group_id{1}, "a", leaves_on::numbers}}};
  CHECK(g.leaves_for(group_id{1}, not_finite));
  CHECK_FALSE(g.may_drop(group_id{1}));
}

TEST_CASE("the books of states above its last one say that a group has left, and bring it back as gone") {
  auto g = of_three();
  g.leave_at(12, group_id{2}, not_finite);
  CHECK_MESSAGE(g.left().at(group_id{2}).first_state == 13, "its part of state 12 had been sent");
  const auto books = g.book_of(group_id{2});
  CHECK(write_books(books) == checkpoint_properties{{"left/b", "12 " + to_text(not_finite)}});
  CHECK(g.text() == "group 'b' left at step 12: " + to_text(not_finite));

  auto later = of_three();
  later.restore(15, books);
  CHECK(later.left() == g.left());
  CHECK(later.book_of(group_id{2}) == books);
  later.restore(10, {.first_step = 0});
  CHECK_MESSAGE(later.left().empty(), "a checkpoint of before brings it back to work");
  CHECK(later.text().empty());
}

TEST_CASE("books of groups that the plan does not have, or that are damaged, remove nobody else") {
  auto g = of_three();
  g.restore(15, read_books({{"left/c", "3 lost"}, {"left/a", ""}}));
  REQUIRE(g.left().size() == 1);
  CHECK(g.left().at(group_id{1}) == departure{0, 1, ""});
  g.restore(15, read_books({{"left/a", "99999999999999999999 nan_loss: x"}}));
  CHECK(g.left().at(group_id{1}) == departure{INT64_MAX, 15, "nan_loss: x"});
}

TEST_CASE(
    "a group leaves where the first of those does with which it falls, and so do its own followers, with one text "
    "whoever was the first") {
  const auto of_four = [] {
    return groups{{{group_id{0}, "top", leaves_on::never, {group_id{1}}},
                   {group_id{1}, "mixture", leaves_on::never, {group_id{2}, group_id{3}}},
                   {group_id{2}, "a", leaves_on::numbers},
                   {group_id{3}, "b", leaves_on::numbers_and_death}}};
  };
  auto g = of_four(), other = of_four();
  CHECK(g.leave_at(12, group_id{3}, not_finite) == std::vector<group_id>{group_id{3}, group_id{1}, group_id{0}});
  CHECK(g.left().at(group_id{1}) == departure{12, 13, "cancelled: it falls with the first of the groups 'a', 'b'"});
  CHECK(g.left().at(group_id{0}) == departure{12, 13, "cancelled: it falls with group 'mixture'"});
  CHECK(g.any_remains());
  CHECK(g.leave_at(14, group_id{2}, not_finite) == std::vector<group_id>{group_id{2}});
  CHECK_FALSE(g.any_remains());
  CHECK(g.first_cause().category == errc::nan_loss);
  CHECK(g.first_cause().step == 12);
  CHECK(g.first_cause().message == "every group has left the job, group 'b' as the first: " + to_text(not_finite));
  other.leave_at(12, group_id{2}, not_finite);
  CHECK(other.left().at(group_id{1}) == g.left().at(group_id{1}));

  auto later = of_four();
  checkpoint_books books;
  for (const auto& [id, how] : g.left())
    books.left.merge(g.book_of(id).left);
  later.restore(15, books);
  CHECK_MESSAGE(later.first_cause() == g.first_cause(), "the books say as much");
}

TEST_CASE("a group whose death leaves nobody is not dropped, and who falls with a dropped one is dropped") {
  groups g{{{group_id{0}, "mixture", leaves_on::never, {group_id{1}}},
            {group_id{1}, "a", leaves_on::numbers_and_death},
            {group_id{2}, "b", leaves_on::numbers}}};
  CHECK(g.may_drop(group_id{1}));
  g.leave_at(3, group_id{2}, not_finite);
  CHECK_FALSE(g.may_drop(group_id{1}));
  g.restore(2, {});
  g.drop(group_id{1}, error{errc::aborted, "a/replica/0 ended"});
  CHECK(g.is_dropped(group_id{0}));
  g.restore(2, {});
  CHECK(g.left().at(group_id{0}) == departure{2, 2, "cancelled: it falls with group 'a'"});
  CHECK_FALSE(g.has_left(group_id{2}));
}

TEST_CASE(
    "a group that is dropped for a death stays out of all later attempts, from the checkpoint on from which they "
    "begin") {
  auto g = of_three();
  CHECK(g.may_drop(group_id{2}));
  CHECK_FALSE(g.may_drop(group_id{0}));
  g.drop(group_id{2}, error{errc::aborted, "b/replica/0 ended"});
  CHECK_FALSE(g.may_drop(group_id{2}));
  CHECK(g.left().empty());
  g.restore(10, {});
  CHECK(g.left().at(group_id{2}) == departure{10, 10, "aborted: b/replica/0 ended"});
  g.restore(15, g.book_of(group_id{2}));
  CHECK_MESSAGE(g.left().at(group_id{2}).step == 10, "the checkpoint knows better");
}

}  // namespace troupe::test
