#include "words/guarded.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace troupe::test {

namespace {
struct early_stop {};
}  // namespace

TEST_CASE("what a guarded call throws is an error that names whose code threw, and its text where there is one") {
  CHECK(guarded("the input", [] { throw std::runtime_error{"no"}; }).error()
        == error{errc::state, "an exception left the input: no"});
  CHECK(guarded("the input", []() -> int { throw 1; }).error() == error{errc::state, "an exception left the input"});
  CHECK(guarded("the input", []() -> expected<int> { throw std::bad_alloc{}; }).error().message
        == "an exception left the input: std::bad_alloc");
}

TEST_CASE("the result of a guarded call that does not throw is passed on, errors included") {
  CHECK(*guarded("x", [] { return 3; }) == 3);
  CHECK(*guarded("x", []() -> expected<int> { return 4; }) == 4);
  CHECK(guarded("x", []() -> expected<int> { return fail(errc::not_found, "none"); }).error()
        == error{errc::not_found, "none"});
  int calls = 0;
  CHECK(guarded("x", [&] { ++calls; }).has_value());
  CHECK(calls == 1);
}

TEST_CASE("a type's name is the one of the source") {
  CHECK(type_name(typeid(error)) == "troupe::error");
  CHECK(type_name(typeid(early_stop)).ends_with("::early_stop"));
}

}  // namespace troupe::test
