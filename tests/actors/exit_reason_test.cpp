#include "actors/exit_reason.hpp"

#include "words/ended_by_error.hpp"
#include "words/expect.hpp"

#include <doctest/doctest.h>

#include <new>

namespace troupe::test {

namespace {

template <class E>
caf::error reason_of(E thrown) {
  return to_reason(std::make_exception_ptr(std::move(thrown)));
}

}  // namespace

TEST_CASE("a broken invariant ends an actor with an error that no new attempt cures, and names what is broken") {
  expect(true, "nothing");
  CHECK_THROWS_AS(expect(false, "two and two are five"), broken_invariant);
  const auto reason = reason_of(broken_invariant{"two and two are five"});
  CHECK(category_of(reason) == errc::state);
  CHECK(describe(reason) == "an invariant is broken: two and two are five");
}

TEST_CASE("an error that is thrown ends an actor with its own category and message") {
  const error cause{errc::state, "an exception left the host call 'h'", {}, "outfeed", 4};
  CHECK(category_of(reason_of(ended_by_error{cause})) == errc::state);
  CHECK(describe(reason_of(ended_by_error{cause})) == "an exception left the host call 'h'");
  CHECK(category_of(reason_of(ended_by_error{{errc::resource_exhausted, "no memory"}})) == errc::resource_exhausted);
}

TEST_CASE("other exceptions end an actor as aborted, and a lack of memory as what it is") {
  CHECK(category_of(reason_of(std::runtime_error{"so"})) == errc::aborted);
  CHECK(describe(reason_of(std::runtime_error{"so"})) == "an exception left a handler: so");
  CHECK(category_of(reason_of(std::bad_alloc{})) == errc::resource_exhausted);
  CHECK(category_of(reason_of(7)) == errc::aborted);
}

}  // namespace troupe::test
