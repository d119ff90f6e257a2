#include "tests/estimator/small_start.hpp"
#include "tests/support/has.hpp"
#include "tests/support/threads.hpp"

#include <troupe/caf.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A host program's own actor system, with an actor that answers each message with its content.
struct program {
  struct settings : caf::actor_system_config {
    explicit settings(bool knows) {
      if (knows)
        add_troupe_types(*this);
    }
  };
  settings config;
  caf::actor_system system;
  caf::actor echo;

  explicit program(bool knows = true)
    : config(knows), system(config),
      echo(system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int64_t x) { return x; }}; })) {}
  ~program() { caf::anon_send_exit(echo, caf::exit_reason::user_shutdown); }

  bool lives() {
    bool answered = false;
    caf::scoped_actor self{system};
    self->request(echo, std::chrono::seconds{60}, int64_t{7})
        .receive([&](int64_t x) { answered = x == 7; }, [](const caf::error&) {});
    return answered;
  }
};

}  // namespace

TEST_CASE("a job in the caller's system does what one in a system of its own does, and leaves nothing there") {
  temporary_directory directory;
  program p;
  REQUIRE(p.lives());
  const auto before = threads();
  const auto running_before = p.system.registry().running();
  {
    auto there = start(p.system, small_estimator(directory / "there"), small_training(40));
    auto own = start(small_estimator(directory / "own"), small_training(40));
    REQUIRE(there.has_value());
    REQUIRE(own.has_value());
    const auto a = there->wait(soon), b = own->wait(soon);
    REQUIRE_MESSAGE(a.has_value(), why(a));
    REQUIRE(b.has_value());
    CHECK(a->global_step == 40);
    CHECK(a->metrics == b->metrics);  // This compares the losses bit for bit.
  }
  CHECK(threads_fall_to(before));
  CHECK(p.system.registry().running() == running_before);
  CHECK(p.lives());
}

TEST_CASE("several jobs share the caller's system, and one that is destroyed while it runs ends alone") {
  temporary_directory directory;
  program p;
  const auto before = threads();
  {
    auto kept = start(p.system, small_estimator(directory / "kept"), small_training(endless));
    REQUIRE(kept.has_value());
    {
      const auto gone = start(p.system, small_estimator(directory / "gone"), small_training(endless));
      REQUIRE(gone.has_value());
    }
    CHECK(p.lives());
    kept->stop();
    const auto result = kept->wait(soon);
    REQUIRE_MESSAGE(result.has_value(), why(result));
    CHECK(result->stopped);
  }
  CHECK(threads_fall_to(before));
  CHECK(p.lives());
}

TEST_CASE("a session in the caller's system makes the steps of one in a system of its own, and leaves nothing there") {
  temporary_directory directory;
  program p;
  const auto before = threads();
  {
    auto there = open_session(p.system, small_estimator(directory / "there"), small_training(40));
    auto own = session::open(small_estimator(directory / "own"), small_training(40));
    REQUIRE_MESSAGE(there.has_value(), why(there));
    REQUIRE(own.has_value());
    while (!there->should_stop()) {
      const run_request what{.what = {.fetches = {"loss"}}, .steps = 7};
      const auto a = there->run(what), b = own->run(what);
      REQUIRE_MESSAGE(a.has_value(), why(a));
      REQUIRE(b.has_value());
      CHECK(a->values.at("loss") == b->values.at("loss"));
    }
    CHECK(there->close()->global_step == 40);
  }
  CHECK(threads_fall_to(before));
  CHECK(p.lives());
  program unknown{false};
  const auto refused = open_session(unknown.system, small_estimator(directory / "not"), small_training(40));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::failed_precondition);
}

TEST_CASE(
    "an evaluation and a prediction in the caller's system give what they give in one of their own, and leave nothing "
    "there") {
  temporary_directory directory;
  const auto e = small_estimator(directory / "run");
  REQUIRE(train(e, small_training(10)).has_value());
  const eval_spec evaluation{.input = small_dataset(20).batch(8)};
  const predict_spec wanted{.input = small_dataset(20).batch(8), .keys = {"probabilities"}, .batches_ahead = 1};
  program p;
  REQUIRE(p.lives());
  const auto before = threads();
  const auto running_before = p.system.registry().running();
  {
    const auto there = evaluate(p.system, e, evaluation), own = evaluate(e, evaluation);
    REQUIRE_MESSAGE(there.has_value(), why(there));
    REQUIRE(own.has_value());
    CHECK(there->global_step == 10);
    CHECK(there->metrics == own->metrics);
    CHECK(there->warnings.empty());
  }
  {
    auto there = predict(p.system, e, wanted), own = predict(e, wanted);
    REQUIRE_MESSAGE(there.has_value(), why(there));
    REQUIRE(own.has_value());
    int64_t rows = 0;
    for (const auto& one : *there) {
      const auto other = own->next();
      REQUIRE(other.has_value());
      REQUIRE(other->has_value());
      CHECK(one.values.at("probabilities") == (*other)->values.at("probabilities"));
      ++rows;
    }
    CHECK(there->status().has_value());
    CHECK(rows == 20);
    CHECK(there->global_step() == 10);
    auto dropped = predict(p.system, e, wanted);
    REQUIRE(dropped->next().has_value());
  }
  CHECK(threads_fall_to(before));
  CHECK(p.system.registry().running() == running_before);
  CHECK(p.lives());
}

TEST_CASE("a system that was made without our messages is refused with the call that is missing") {
  temporary_directory directory;
  program p{false};
  const auto e = small_estimator(directory / "run");
  const auto check_refused = [](const auto& refused) {
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().category == errc::failed_precondition);
    CHECK(has(refused.error().message, "troupe::add_troupe_types"));
  };
  check_refused(start(p.system, e, small_training(10)));
  check_refused(evaluate(p.system, e, {.input = small_dataset(20).batch(8)}));
  check_refused(predict(p.system, e, {.input = small_dataset(20).batch(8)}));
}

TEST_CASE("what is wrong with a job is said in the caller's system as elsewhere") {
  program p;
  const auto refused = start(p.system, {small_model(), {}}, small_training(-1));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message == "max_steps must be at least 1, not -1");
}

}  // namespace troupe::test
