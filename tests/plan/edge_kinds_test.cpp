#include "plan/edge_kinds.hpp"

#include "support/plans.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("each kind of edge says who sends what to whom, and who holds the sender to its credit") {
  for (const auto& row : edge_rows()) {
    CAPTURE(row.name);
    CHECK_FALSE(row.message.empty());
    CHECK_FALSE(row.held_by.empty());
    CHECK(row.from != 0);
    CHECK(row.to != 0);
    CHECK((row.credit.messages.value_or(1) >= 1));
  }
}

TEST_CASE("a node makes a part of a snapshot if and only if edges of parts may begin at it, or it passes parts on") {
  const auto& parts = row_of(edge_kind::part);
  for (const auto& row : role_rows()) {
    CAPTURE(row.name);
    CHECK((row.makes_part || contains(parts.to, row.what))
          == (contains(parts.from, row.what) || row.what == role::checkpoint_writer));
  }
}

}  // namespace troupe::test
