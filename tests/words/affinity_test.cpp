#include "words/affinity.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>

namespace troupe {

namespace {

using processors = std::vector<int32_t>;

struct outcome {
  std::error_code refusal;
  processors own, inherited;  ///< Of the thread, and of one that it starts.
};

/// Restricts a thread, which then says where it may run.
outcome restricted(const processors& to) {
  outcome seen;
  std::promise<void> go;
  std::thread thread{[&seen, ready = go.get_future()] {
    ready.wait();
    seen.own = allowed_processors();
    std::thread{[&seen] { seen.inherited = allowed_processors(); }}.join();
  }};
  seen.refusal = restrict_to(thread, to);
  go.set_value();
  thread.join();
  return seen;
}

}  // namespace

TEST_CASE("a thread runs on the processors that it is restricted to, and so do those that it starts") {
  const auto all = allowed_processors();
  REQUIRE_FALSE(all.empty());
  CHECK(std::is_sorted(all.begin(), all.end()));
  for (const auto p : all) {
    const auto seen = restricted({p});
    CHECK_MESSAGE(!seen.refusal, seen.refusal.message());
    CHECK(seen.own == processors{p});
    CHECK(seen.inherited == processors{p});
  }
  CHECK(restricted(all).own == all);
  CHECK_MESSAGE(allowed_processors() == all, "other threads are as they were");
}

TEST_CASE("a processor that the machine lacks is refused, and the thread runs where it ran") {
  const auto all = allowed_processors();
  for (const processors& none : {processors{1023}, {70000}, {}}) {
    REQUIRE(std::find(all.begin(), all.end(), none.empty() ? -1 : none[0]) == all.end());
    const auto seen = restricted(none);
    CHECK(seen.refusal == std::errc::invalid_argument);
    CHECK(seen.own == all);
  }
}

}  // namespace troupe
