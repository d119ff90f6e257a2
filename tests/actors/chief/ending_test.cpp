#include "actors/chief/ending.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A job that is draining, with its end marked at step 20.
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

TEST_CASE_FIXTURE(draining,
                  "the last checkpoint is evaluated once, if anything was trained and no signal stopped the job") {
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
    how.because(end_cause::signal);
    CHECK(next() == drain_next::end);
  }
  SUBCASE("nothing was trained") {
    commit(20);
    there.start_step = 20;
    CHECK(next() == drain_next::end);
  }
}

TEST_CASE_FIXTURE(draining, "a job that fails waits for its saves, and has the outfeed pass on what was made") {
  how.fails_by(failing::saving);
  saving.place(20, false);
  CHECK(next() == drain_next::wait);
  commit(20);
  CHECK(next() == drain_next::flush);
  there.flushing = true;
  CHECK(next() == drain_next::wait);
  there.flushing = false;
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

TEST_CASE("a job that ends for two reasons ends for the stronger one: a signal, a step that is not finite, a stop") {
  using enum end_cause;
  struct row {
    end_cause first, then, is;
  };
  for (const auto& [first, then, is] : {row{none, stop, stop},
                                        {none, not_finite, not_finite},
                                        {none, signal, signal},
                                        {stop, stop, stop},
                                        {stop, not_finite, not_finite},
                                        {stop, signal, signal},
                                        {not_finite, stop, not_finite},
                                        {not_finite, signal, signal},
                                        {signal, stop, signal},
                                        {signal, not_finite, signal}}) {
    ending how;
    CHECK_FALSE(how.stops());
    how.because(first);
    CHECK(how.stops() == (first != none));
    how.because(then);
    CAPTURE(static_cast<int>(first));
    CAPTURE(static_cast<int>(then));
    CHECK(how.cause() == is);
  }
}

TEST_CASE("an end goes forward only, and is entered once") {
  using enum end_state;
  struct row {
    end_state at, to;
    bool goes;
  };
  for (const auto& [at, to, goes] : {row{open, cut, true},
                                     {open, ended, true},
                                     {cut, cut, false},
                                     {cut, ended, true},
                                     {ended, cut, false},
                                     {ended, ended, false},
                                     {ended, exported, true},
                                     {exported, ended, false},
                                     {exported, cut, false}}) {
    ending how;
    CHECK(how.goes_to(at) == (at != open));
    CHECK(how.goes_to(to) == goes);
    CHECK(how.state() == (goes ? to : at));
  }
}

TEST_CASE("after a failure saves are settled at once or after a last save, and no last save follows the settling") {
  using enum failing;
  ending how;
  CHECK_FALSE(how.fails());
  SUBCASE("settled at once") {
    CHECK(how.fails_by(settling));
    CHECK_FALSE(how.fails_by(saving));
  }
  SUBCASE("a last save that a second failure interrupts") {
    CHECK(how.fails_by(saving));
    CHECK_FALSE(how.fails_by(saving));
    CHECK(how.fails_by(settling));
  }
  CHECK(how.failing() == settling);
  CHECK_FALSE(how.fails_by(settling));
  CHECK(how.fails());
}

}  // namespace troupe::test
