// Work beside the runs of a session that is preempted while a run is under way, in simulated worlds: what was cancelled
// for it is made good, within the bounds of every recovery.
#include "support/prediction_case.hpp"
#include "support/simulated_session.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A source whose batch 8 is cancelled the first time that it is read, after `meanwhile` was called.
struct broken_off {
  std::shared_ptr<fake_source> source = fake_batches(1000);
  std::function<void()> meanwhile = [] {};
  int64_t times = 1;  ///< How often it breaks off.
  int64_t met = 0;

  broken_off() {
    source->before = [this](int64_t batch) {
      source->trouble.clear();
      if (batch != 8 || met == times)
        return;
      ++met;
      source->trouble = {{8, error{errc::cancelled, "the data broke off"}}};
      meanwhile();
    };
  }
  small_job_options job(std::vector<std::shared_ptr<hook>> hooks = {}) const {
    return {.max_steps = 40,
            .input = dataset_over(source),
            .hooks = std::move(hooks),
            .source = echo_model(),
            .recovers = 10};
  }
};

/// Makes the work beside the session fail.
void fails_beside(simulated_session& s, errc category, const std::string& text = "the feeder was preempted") {
  static_cast<void>(s->beside().request_stop(error{category, text}));
}

/// Of a run that must fail, and of the close after it.
std::vector<error> errors_of_run_and_close(simulated_session& s) {
  const auto made = s->run({.steps = 10});
  REQUIRE_FALSE(made);
  const auto closed = s->close();
  REQUIRE_FALSE(closed);
  return {made.error(), closed.error()};
}

}  // namespace

TEST_CASE(
    "[SUP-21] a run that is cancelled while work beside it holds aborted or unavailable recovers, and the same run is "
    "made again") {
  for (const auto category : {errc::aborted, errc::unavailable})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(to_string(category));
      CAPTURE(seed);
      texts book;
      const auto h = std::make_shared<signing_hook>("A", book);
      broken_off data;
      simulated_session s{data.job({h}), seed};
      data.meanwhile = [&] { fails_beside(s, category); };
      s.run(6);
      const auto made = s.run(10, {"loss"});
      CHECK(data.met == 1);
      CHECK(made.recoveries == 1);
      CHECK(made.steps_taken_back == 1);  // From 6 to the checkpoint of 5.
      CHECK(made.steps_run == 10);
      CHECK(made.step == 15);
      CHECK(made.values.contains("loss"));
      CHECK(std::count(book.begin(), book.end(), "begin 0 A") == 1);
      CHECK(std::count_if(book.begin(), book.end(), [](const std::string& x) { return x.starts_with("create"); }) == 2);
      REQUIRE(h->asked.size() == 3);
      CHECK(h->asked[1].begins == 6);
      CHECK(h->asked[2].begins == 5);
      CHECK(h->asked[2].asked.fetches == h->asked[1].asked.fetches);
      CHECK(h->seen.size() == 2);
      CHECK_FALSE(s->beside().should_stop());
      CHECK_FALSE(s->should_stop());
      CHECK(s.recoveries() == 1);
      CHECK(s.run().recoveries == 0);  // It was made good once.
      CHECK(s.close().global_step == 16);
    }
}

TEST_CASE("a run that has passed the checkpoint when it is cancelled for work beside it goes on to its end") {
  broken_off data;
  simulated_session s{data.job()};
  data.meanwhile = [&] {
    REQUIRE(s.crank_until([&] { return s->progress().committed_step == 5; }));
    fails_beside(s, errc::aborted);
  };
  s.run(2);
  const auto made = s.run(20);
  CHECK(made.step == 22);
  CHECK(made.recoveries == 1);
  CHECK(made.steps_taken_back == 0);
  CHECK_FALSE(s->beside().should_stop());
  s.close();
}

TEST_CASE("a step function whose run is cancelled for work beside it is called again") {
  broken_off data;
  simulated_session s{data.job()};
  data.meanwhile = [&] { fails_beside(s, errc::aborted); };
  s.run(6);
  int calls = 0;
  errc seen = errc::state;
  const auto done = s->run_step_fn([&](step_context& step) -> expected<void> {
    ++calls;
    const auto made = step.run({.steps = 4});
    if (!made) {
      seen = made.error().category;
      return fail(made.error());
    }
    CHECK(made->step == 9);
    return {};
  });
  CHECK(done);
  CHECK(calls == 2);
  CHECK(seen == errc::aborted);
  CHECK_FALSE(s->beside().should_stop());
  s.close();
}

TEST_CASE("[SUP-21] a session that may not recover fails with the preemption, and the cancellation is its note") {
  broken_off data;
  auto o = data.job();
  SUBCASE("no attempts") { o.recovers = 0; }
  SUBCASE("no checkpoints") { o.keeps = false; }
  simulated_session s{o};
  data.meanwhile = [&] { fails_beside(s, errc::aborted); };
  s.run(6);
  for (const auto& e : errors_of_run_and_close(s)) {
    CHECK(e.category == errc::aborted);
    CHECK(e.message == "work beside the runs has failed: the feeder was preempted");
    const auto is = [](const std::string& text) {
      return [text](const std::string& note) { return note.find(text) != std::string::npos; };
    };
    CHECK(std::count_if(e.notes.begin(), e.notes.end(), is("cancelled: the data broke off")) == 1);
    CHECK(std::count_if(e.notes.begin(), e.notes.end(), is("the feeder was preempted")) == 0);
  }
}

TEST_CASE("what is preempted again and again without progress uses up the attempts of a session") {
  broken_off data;
  data.times = 100;
  auto o = data.job();
  o.save_steps = 1000;
  o.recovers = 3;
  simulated_session s{o};
  data.meanwhile = [&] { fails_beside(s, errc::aborted, "preempted for time " + std::to_string(data.met)); };
  const auto made = s->run({.steps = 20});
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::aborted);
  CHECK(data.met == 4);
  CHECK(s.recoveries() == 3);
  CHECK_FALSE(s->close());
}

TEST_CASE(
    "[SUP-21] an error of a run that is no cancellation stands, and what has failed beside it is a note of the run and "
    "of the close") {
  for (const auto category : {errc::aborted, errc::not_found}) {
    CAPTURE(to_string(category));
    const auto source = fake_batches(100);
    source->trouble = {{8, error{errc::data_loss, "record 8 is damaged"}}};
    simulated_session s{
        small_job_options{.max_steps = 20, .input = dataset_over(source), .source = echo_model(), .recovers = 10}};
    s.run(6);
    source->before = [&](int64_t batch) {
      if (batch == 8)
        fails_beside(s, category, "no such table");
    };
    for (const auto& e : errors_of_run_and_close(s)) {
      CHECK(e.category == errc::data_loss);
      CHECK(e.message == "record 8 is damaged");
      CHECK(std::count_if(e.notes.begin(), e.notes.end(),
                          [](const std::string& note) { return note.find("no such table") != std::string::npos; })
            == 1);
    }
    CHECK(s.recoveries() == 0);
  }
}

TEST_CASE("a stop while the caller begins the work beside a cancelled run anew ends the session with its error") {
  broken_off data;
  simulated_session s{data.job()};
  data.meanwhile = [&] { fails_beside(s, errc::aborted); };
  s.run(6);
  const auto stopping = s->beside().at_stop([&] { s->request_stop(); });
  const auto made = s->run({.steps = 10});
  CHECK_FALSE(made);
  CHECK(s->should_stop());
  const auto closed = s->close();
  REQUIRE_FALSE(closed);
  CHECK(to_text(closed.error()).find("the feeder was preempted") != std::string::npos);
}

}  // namespace troupe::test
