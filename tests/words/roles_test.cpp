#include "words/roles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace troupe {

namespace {

using roles = std::vector<role>;

}  // namespace

TEST_CASE("each role is in the order of starting once, and in that of ending unless it ends by itself") {
  const auto starting = starting_order(), ending = ending_order();
  CHECK(std::set<role>(starting.begin(), starting.end()).size() == role_rows().size());
  CHECK(starting.size() == role_rows().size());
  for (const auto& row : role_rows()) {
    CAPTURE(row.name);
    CHECK(std::count(ending.begin(), ending.end(), row.what) == (row.is_log() ? 0 : 1));
  }
}

TEST_CASE("whoever is sent to at a node's start is started before it, and who sends to others is ended before them") {
  const auto starting = starting_order(), ending = ending_order();
  CHECK(roles(starting.begin(), starting.end())
        == roles{role::checkpoint_writer, role::summary_writer, role::eval_summary_writer, role::outfeed, role::reducer,
                 role::replica, role::infeed, role::evaluator, role::callbacks, role::predictor, role::chief,
                 role::checkpoint_watcher});
  CHECK(roles(ending.begin(), ending.begin() + 7)
        == roles{role::infeed, role::replica, role::reducer, role::outfeed, role::evaluator, role::callbacks,
                 role::checkpoint_writer});
}

TEST_CASE("no two roles have one place in an order, and every one is driven by somebody") {
  std::set<int> starts, ends;
  for (const auto& row : role_rows()) {
    CAPTURE(row.name);
    CHECK(starts.insert(row.starts).second);
    CHECK((row.is_log() || ends.insert(row.ends).second));
    CHECK(row.drivers != 0);
  }
}

TEST_CASE("a set of roles contains its own, and a value that is no role has no name") {
  CHECK(contains(set_of(role::infeed, role::chief), role::chief));
  CHECK_FALSE(contains(set_of(role::infeed, role::chief), role::replica));
  CHECK_FALSE(contains(launcher_alone, role::chief));
  CHECK(to_string(static_cast<role>(200)) == "unknown");
  CHECK(to_string(role::eval_summary_writer) == "summary_writer");
}

}  // namespace troupe
