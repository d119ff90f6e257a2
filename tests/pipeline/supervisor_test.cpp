// Supervisors, in simulated worlds: their services by time, their scope, and its errors.
#include "estimator/supervise.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/virtual_time.hpp"

#include <doctest/doctest.h>

#include <thread>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using namespace std::chrono_literals;

/// Time that a loop moves, and not the thread that awaits its end: nobody knows when the loop's thread gets to that.
struct time_of_loops final : virtual_time {
  const std::thread::id awaits = std::this_thread::get_id();
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
            std::optional<time> deadline) override {
    virtual_time::wait(lock, changed, std::this_thread::get_id() == awaits ? std::nullopt : deadline);
  }
};

struct supervised final : one_simulated {
  small_job_options job;
  supervisor_options options;
  coordinator together;
  std::vector<std::string> lines;

  explicit supervised(small_job_options o, supervisor_options by = {})
    : one_simulated(1), job(std::move(o)), options(std::move(by)), together({.clock = options.clock}) {
    options.log = [this](const std::string& line) { lines.push_back(line); };
  }
  expected<train_result> scope(const std::function<expected<void>(session&)>& body) {
    auto result = supervise(
        launcher_, describe_small(job), options, together, [](session*) {}, body);
    if (launched_)
      CHECK(left().empty());
    return result;
  }
  /// A step every 10 s, for so many seconds by the job's clock.
  expected<void> steps_for(session& s, double secs) {
    launched_ = true;
    for (const auto end =
             now() + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{secs});
         now() < end && !s.should_stop();) {
      if (auto made = s.run(); !made)
        return fail(made.error());
      for (const auto next = now() + 10s; now() < next;)
        if (!crank())
          pass(100ms);
    }
    return {};
  }
  ~supervised() {
    if (launched_)
      world().end_all();
  }
  bool launched_ = false;
};

/// The seconds at which the event file has a loss, and the steps of its notes.
struct written {
  std::vector<double> losses;
  std::vector<std::string> notes;
  int64_t first_step = -1;  ///< Of the first loss.
  bool rate = false;
  explicit written(const std::shared_ptr<file_system>& files) {
    for (const auto& e : events_in(*files, "/run")) {
      if (e.note)
        notes.push_back((e.note->what == session_note::kind::start  ? "start "
                         : e.note->what == session_note::kind::stop ? "stop "
                                                                    : "checkpoint ")
                        + std::to_string(e.step));
      for (const auto& v : e.values) {
        if (v.tag == "loss" && losses.empty())
          first_step = e.step;
        if (v.tag == "loss")
          losses.push_back(e.wall_time);
        rate = rate || v.tag == "global_step/sec";
      }
    }
  }
};

}  // namespace

TEST_CASE("[SUP-34] a chief's services save at 0, 600 and 1200 s and record each 120 s, and 0 switches each one off") {
  small_job_options o{.max_steps = 10'000};
  std::vector<double> saved;
  const auto go = [&](const supervisor_options& options) {
    o.files = memory_disk::make();
    supervised sv{o, options};
    REQUIRE(sv.scope([&](session& s) { return sv.steps_for(s, 1300); }));
    saved.clear();
    for (const auto& e : sv.events())
      if (e.what == kind::saved)
        saved.push_back(e.seconds);
    return written{o.files};
  };
  {
    const auto both = go({});
    REQUIRE(saved.size() == 4);  // With the last state.
    for (size_t i = 0; i < 3; ++i)
      CHECK(saved[i] == doctest::Approx(600.0 * static_cast<double>(i)).epsilon(0.02));
    CHECK(both.notes[0] == "start 1");
    CHECK(both.notes[1] == "checkpoint 0");
    REQUIRE(both.losses.size() >= 10);
    CHECK(both.losses.size() <= 11);
    CHECK(both.first_step == 1);
    for (size_t i = 1; i < both.losses.size(); ++i)
      CHECK(both.losses[i] - both.losses[i - 1] == doctest::Approx(120).epsilon(0.1));
    CHECK(both.rate);
    const int64_t reached = newest_checkpoint(o.files).content.id.step;
    supervised again{o};
    REQUIRE(again.scope([&](session& s) { return again.steps_for(s, 10); }));
    const auto notes = written{o.files}.notes;
    REQUIRE(notes.size() > both.notes.size());
    CHECK(notes[both.notes.size()] == "start " + std::to_string(reached + 1));
  }
  {
    const auto no_saves = go({.save_model_secs = 0});
    CHECK(saved.empty());
    CHECK(no_saves.losses.size() >= 10);
  }
  const auto no_records = go({.save_summaries_secs = 0});
  CHECK(saved.size() == 4);
  CHECK(no_records.losses.empty());
  CHECK_FALSE(no_records.rate);
}

TEST_CASE("without a new step there is no new summary, and the next step is recorded") {
  small_job_options o{.max_steps = 10'000};
  supervised sv{o};
  REQUIRE(sv.scope([&](session& s) -> expected<void> {
    sv.launched_ = true;
    REQUIRE(s.run());
    for (const auto end = sv.now() + 1000s; sv.now() < end;)
      if (!sv.crank())
        sv.pass(100ms);
    CHECK(s.run());
    CHECK(s.run());
    return {};
  }));
  CHECK(written{o.files}.losses.size() == 2);
}

TEST_CASE(
    "[SUP-35] services are refused beside the chief, a line says that there are none, and so does an event file") {
  small_job_options o{.max_steps = 5, .keeps = false};
  supervised none{o};
  CHECK(none.scope([&](session& s) -> expected<void> {
    none.launched_ = true;
    CHECK(s.run());
    const auto computed = s.summarise({{"x", 1}});
    REQUIRE_FALSE(computed);
    CHECK(computed.error().category == errc::state);
    return {};
  }));
  REQUIRE(none.lines.size() == 1);
  CHECK(none.lines[0] == "a supervisor without a model_dir has no services: nothing is saved or recorded");
  const auto root = o.files->list("/");
  CHECK((!root || root->empty()));

  supervised worker{{.max_steps = 5}, {.is_chief = false, .save_model_secs = 10}};
  const auto refused = worker.scope([](session&) -> expected<void> { return {}; });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::state);
  CHECK(refused.error().message == "save_model_secs is for the chief's supervisor, and is_chief is false");
  CHECK_MESSAGE(worker.together.should_stop(), "threads that have enlisted before end");

  supervisor sv{{small_model(), {}}, {.input = o.input}};
  CHECK(sv.summary_computed({{"x", 1}}).error().category == errc::state);
  CHECK(sv.should_stop());
}

TEST_CASE("[SUP-36] the end of a scope saves the last state and writes a note without a step as the last event") {
  small_job_options o{.max_steps = 10'000};
  supervised sv{o};
  const auto result = sv.scope([&](session& s) { return sv.steps_for(s, 30); });
  REQUIRE(result);
  CHECK(result->global_step == 3);
  CHECK(newest_checkpoint(o.files).content.id.step == 3);
  const written all{o.files};
  CHECK(all.notes.back() == "stop 0");
  CHECK(events_in(*o.files, "/run").back().note);
}

TEST_CASE("values that the program has computed are in the event file, once, beside those of the model") {
  small_job_options o{.max_steps = 10'000};
  supervised sv{o};
  REQUIRE(sv.scope([&](session& s) -> expected<void> {
    sv.launched_ = true;
    REQUIRE(s.run({.steps = 4}));
    CHECK(s.summarise({{"lag", 0.5}}));
    CHECK(s.summarise({{"lag", 0.25}}, 3));
    REQUIRE(s.run());
    return {};
  }));
  std::vector<std::pair<int64_t, double>> lags;
  for (const auto& e : events_in(*o.files, "/run"))
    for (const auto& v : e.values)
      if (v.tag == "lag")
        lags.emplace_back(e.step, v.scalar);
  CHECK((lags == std::vector<std::pair<int64_t, double>>{{4, 0.5}, {3, 0.25}}));
}

TEST_CASE("of computed values beyond 10,000 that wait the newest are refused, and none that was taken is lost") {
  small_job_options o{.max_steps = 10'000};
  supervised sv{o};
  REQUIRE(sv.scope([&](session& s) -> expected<void> {
    sv.launched_ = true;
    for (int64_t i = 0; i < 10'000; ++i)
      REQUIRE(s.summarise({{"lag", static_cast<double>(i)}}, 1));
    const auto refused = s.summarise({{"lag", 10'000}}, 1);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::resource_exhausted);
    CHECK(refused.error().message.starts_with("10000 calls of summarise wait for the next record or checkpoint"));
    REQUIRE(s.run());
    return {};
  }));
  double next = 0;
  for (const auto& e : events_in(*o.files, "/run"))
    for (const auto& v : e.values)
      if (v.tag == "lag") {
        CHECK(v.scalar == next);
        ++next;
      }
  CHECK(next == 10'000);
}

TEST_CASE(
    "[SUP-37] an error of work beside the session at 120 s stops the loop and leaves the scope, and all is closed") {
  const auto of_loop = std::make_shared<time_of_loops>();
  small_job_options o{.max_steps = 10'000};
  supervised sv{o, {.clock = of_loop}};
  std::vector<int64_t> calls;
  const auto result = sv.scope([&](session& s) -> expected<void> {
    REQUIRE(sv.steps_for(s, 120));
    s.loop("table", 120s, [&](const loop_context&) -> expected<void> {
      calls.push_back(of_loop->seconds());
      return calls.size() == 1 ? expected<void>{} : fail(errc::not_found, "the table has gone");
    });
    while (!s.should_stop())
      std::this_thread::yield();  // Only the loop moves the time.
    CHECK(sv.together.should_stop());
    CHECK(s.run().error().message == "the table has gone");
    return {};
  });
  CHECK((calls == std::vector<int64_t>{0, 120}));
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::not_found);
  CHECK(result.error().message == "the table has gone");
  CHECK(newest_checkpoint(o.files).content.id.step == 12);
}

TEST_CASE("[SUP-38] an error of the body leaves the scope after the close, and the end of data does not") {
  small_job_options o{.max_steps = 10'000};
  const auto leaves_with = [&](error cause) {
    o.files = memory_disk::make();
    supervised sv{o};
    auto result = sv.scope([&](session& s) -> expected<void> {
      REQUIRE(sv.steps_for(s, 20));
      return fail(std::move(cause));
    });
    CHECK(newest_checkpoint(o.files).content.id.step == 2);
    return result;
  };
  const auto aborted = leaves_with({errc::aborted, "preempted"});
  REQUIRE_FALSE(aborted);
  CHECK(aborted.error().category == errc::aborted);
  CHECK(leaves_with({errc::out_of_range, "no more data"}));
  o.files = memory_disk::make();
  supervised sv{o};
  const auto thrown = sv.scope([&](session&) -> expected<void> {
    sv.launched_ = true;
    throw std::runtime_error("no");
  });
  REQUIRE_FALSE(thrown);
  CHECK(thrown.error().message == "an exception left the body of a managed session: no");
  const auto empty = supervised{o}.scope({});
  REQUIRE_FALSE(empty);
  CHECK(empty.error() == error{errc::invalid_argument, "the body of a managed session is an empty function"});
}

TEST_CASE("a node that dies in a scope is not made good there, and the caller may begin another scope") {
  small_job_options o{.max_steps = 10'000};
  supervised sv{o};
  const auto died = sv.scope([&](session& s) -> expected<void> {
    REQUIRE(sv.steps_for(s, 20));
    sv.kill("replica/0");
    const auto made = s.run();
    REQUIRE_FALSE(made);
    return fail(made.error());
  });
  REQUIRE_FALSE(died);
  CHECK(died.error().category == errc::aborted);
  const auto again = sv.scope([&](session& s) { return sv.steps_for(s, 20); });
  REQUIRE(again);
  CHECK(again->global_step == 2);
}

TEST_CASE(
    "[SUP-39] init_fn is called only without a checkpoint, and a state file that a person has changed is followed") {
  small_job_options o{.max_steps = 10'000};
  int calls = 0;
  const supervisor_options options{.init_fn = [&](parameter_access& all) -> expected<void> {
    ++calls;
    CHECK_MESSAGE(all.read("dense/kernel")->as<float>()[0] != 0, "it has its initial value");
    return {};
  }};
  const auto go = [&] {
    supervised sv{o, options};
    int64_t began = -1;
    REQUIRE(sv.scope([&](session& s) {
      began = s.progress().step;
      return sv.steps_for(s, 50);
    }));
    return began;
  };
  CHECK(go() == 0);
  CHECK(calls == 1);
  CHECK(go() == 5);
  CHECK(calls == 1);
  auto text = *read_file(*o.files, "/run/checkpoint");
  const auto first = text.find("model.ckpt-10\"");
  REQUIRE(first != std::string::npos);
  text.replace(first, std::string{"model.ckpt-10\""}.size(), "model.ckpt-5\"");
  REQUIRE(write_file_atomically(*o.files, "/run", "checkpoint", text));
  CHECK(go() == 5);
  CHECK(calls == 1);
}

TEST_CASE(
    "[SUP-42] a thread that does not end is a state error or a line, and a loop of 5 s is called until the stop") {
  const auto clock = std::make_shared<virtual_time>();
  small_job_options o{.max_steps = 10'000};
  SUBCASE("a straggler") {
    for (const bool ignored : {false, true}) {
      o.files = memory_disk::make();
      supervised sv{o, {.ignore_live_threads = ignored, .clock = clock}};
      std::optional<coordinator::membership> here;
      const auto result = sv.scope([&](session& s) {
        here.emplace(sv.together.enlist("reader"));
        return sv.steps_for(s, 10);
      });
      CHECK(result.has_value() == ignored);
      if (!ignored) {
        CHECK(result.error().category == errc::state);
        CHECK(result.error().message == "'reader' did not end within 120 s of the stop");
      }
      using lines = std::vector<std::string>;
      CHECK(sv.lines == (ignored ? lines{"'reader' did not end within 120 s of the stop"} : lines{}));
    }
  }
  SUBCASE("a loop") {
    const auto of_loop = std::make_shared<time_of_loops>();
    supervised sv{o, {.clock = of_loop}};
    std::vector<int64_t> calls;
    REQUIRE(sv.scope([&](session& s) -> expected<void> {
      REQUIRE(sv.steps_for(s, 10));
      s.loop("five", 5s, [&](const loop_context&) -> expected<void> {
        calls.push_back(of_loop->seconds());
        return calls.size() == 3 ? sv.together.request_stop() : expected<void>{};
      });
      while (!sv.together.should_stop())
        std::this_thread::yield();  // Only the loop moves the time.
      return {};
    }));
    CHECK((calls == std::vector<int64_t>{0, 5, 10}));
  }
}

}  // namespace troupe::test
