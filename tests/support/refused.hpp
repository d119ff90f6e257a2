// Checks that a call failed, with this category and with this text in the message.
#pragma once

#include "tests/support/has.hpp"

#include <troupe/error.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

template <class T>
void refused(const expected<T>& x, errc category, const std::string& names) {
  REQUIRE_FALSE(x);
  CHECK(x.error().category == category);
  CHECK(has(x.error().message, names));
}

}  // namespace troupe::test
