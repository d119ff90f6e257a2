#include "actors/chief/ending.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A job whose end at step 20 is marked.
struct draining {
  ending how;
  horizon ahead;
  saves saving;
  evaluations evaluating{{{}}};
  gates closed;
  drain_situation there;

  draining() {
    ahead.begin(0, 20);
    ahead.granted({}, 20);
  }
  drain_next next() const { return next_of_draining(how, ahead, saving, evaluating, closed, there); }
  void commit(int64_t step) {
    saving.committed({1, {step}, "", {}});
    saving.take_published(step);
  }
};

}  // namespace

TEST_CASE_FIXTURE(draining, "a job ends when every step is reported, every save committed and every fact told") {
  saving.place(20, false);
  CHECK(next() == drain_next::wait);
  ahead.reach(20);
  CHECK(next() == drain_next::wait);
  SUBCASE("all is there") {
    commit(20);
    CHECK(next() == drain_next::end);
  }
  SUBCASE("a commit is held back") {
    saving.committed({1, {20}, "", {}});
    CHECK(next() == drain_next::wait);
  }
  SUBCASE("a hook has not answered") {
    commit(20);
    closed.set_needs({{.first = 20, .gate = true}}, {});
    closed.marked(20);
    CHECK(next() == drain_next::wait);
    closed.answered(20);
    CHECK(next() == drain_next::end);
  }
  SUBCASE("a step is still to be shown") {
    commit(20);
    there.facts_expected = true;
    CHECK(next() == drain_next::wait);
  }
  SUBCASE("an evaluation runs") {
    commit(20);
    evaluating.offer({10});
    evaluating.at(0).begin({});
    CHECK(next() == drain_next::wait);
  }
}

TEST_CASE_FIXTURE(draining, "the last checkpoint is evaluated once, if anything was trained and no signal stopped the job") {
  there.evaluates = true;
  ahead.reach(20);
  SUBCASE("it is") {
    commit(20);
    CHECK(next() == drain_next::evaluate);
    evaluating.offer({20});
    evaluating.at(0).begin({});
    evaluating.at(0).end();
    CHECK(next() == drain_next::end);
  }
  SUBCASE("there is none of the last state") {
    commit(10);
    CHECK(next() == drain_next::end);
  }
  SUBCASE("by signal") {
    commit(20);
    how.by_signal = true;
    CHECK(next() == drain_next::end);
  }
  SUBCASE("nothing was trained") {
    commit(20);
    there.start_step = 20;
    CHECK(next() == drain_next::end);
  }
}

TEST_CASE_FIXTURE(draining, "a job that fails waits for its saves, and has the outfeed pass on what was made") {
  how.failing = failing::saving;
  saving.place(20, false);
  CHECK(next() == drain_next::wait);
  commit(20);
  CHECK(next() == drain_next::flush);
  how.flushing = true;
  CHECK(next() == drain_next::wait);
  how.flushing = false;
  SUBCASE("all was told") {
    ahead.reach(20);
    CHECK(next() == drain_next::end);
    there.facts_expected = true;
    CHECK(next() == drain_next::flush);
  }
  SUBCASE("there is no outfeed any more") {
    there.outfeed = false;
    CHECK(next() == drain_next::end);
  }
}

}  // namespace troupe::test
