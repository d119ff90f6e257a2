#include "actors/chief/verdicts.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a commit gets a verdict if its books name another best checkpoint than is known by then") {
  verdicts v;
  v.books_name(10, std::nullopt);
  v.books_name(20, checkpoint_id{10});
  v.books_name(30, checkpoint_id{10});
  CHECK(v.is_outdated(10, checkpoint_id{10}));
  CHECK_FALSE(v.is_outdated(20, checkpoint_id{10}));
  CHECK(v.is_outdated(30, checkpoint_id{20}));
  CHECK_MESSAGE(!v.is_outdated(30, checkpoint_id{40}), "once for each save");
  CHECK_MESSAGE(!v.is_outdated(99, checkpoint_id{40}), "no books of it were sent");
}

TEST_CASE("books that are sent twice name what the first ones named") {
  verdicts v;
  v.books_name(10, checkpoint_id{5});
  v.books_name(10, checkpoint_id{10});
  CHECK(v.is_outdated(10, checkpoint_id{10}));
}

TEST_CASE("verdicts are kept once each that was sent is durable") {
  verdicts v;
  CHECK_FALSE(v.any_on_way());
  v.sent();
  v.sent();
  v.hold();
  CHECK_FALSE(v.kept());
  CHECK(v.any_on_way());
  CHECK(v.kept());
  CHECK_FALSE(v.any_on_way());
  CHECK_MESSAGE(v.holds(), "whoever asked for the hold ends it");
  v.let_go();
  CHECK_FALSE(v.holds());
}

}  // namespace troupe::test
