// Saving listeners in whole simulated jobs.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/files/file_system.hpp"
#include "support/small_job.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using calls = std::vector<std::string>;

/// Records its calls, each with whether the checkpoint can be read at that moment. Stops the job after the save of
/// `stops_at`.
struct recording_listener final : saving_listener {
  std::shared_ptr<file_system> files;
  std::string name;
  calls* log = nullptr;
  int64_t stops_at = -1;
  std::string throws_in = {};

  std::string there(int64_t step) const {
    const auto store = checkpoint_store::open(files, "/run", {.read_only = true});
    return store && (*store)->restore_step(step) ? " committed" : " not committed";
  }
  void note(const std::string& what, int64_t step, bool look = false) {
    log->push_back(name + what + " " + std::to_string(step) + (look ? there(step) : ""));
    if (what == throws_in)
      throw std::runtime_error{"no room"};
  }
  void begin(int64_t step) override { note("begin", step); }
  void before_save(int64_t step) override { note("before", step, true); }
  answer after_save(int64_t step, const std::string& prefix) override {
    note("after", step, true);
    CHECK(prefix == "/run/" + checkpoint_name({step}));
    return step == stops_at ? answer::stop : answer::go_on;
  }
  void end(int64_t step) override { note("end", step); }
};

/// A hook of an evaluation that records when an evaluation begins.
struct evaluation_log final : hook {
  calls& log;
  explicit evaluation_log(calls& all) : log(all) {}
  void on_event(const job_event& e, job_control&) override {
    if (e.what == kind::started)
      log.push_back("evaluating " + std::to_string(e.step));
  }
};

/// A hook that holds a job at its saves or at its evaluations, and stops it at that of step 10.
struct stops_at final : hook {
  kind what;
  calls& log;
  stops_at(kind of, calls& all) : what(of), log(all) {}
  needs begin(int64_t) override { return {.holds = {.saved = what == kind::saved, .evaluated = what != kind::saved}}; }
  void on_event(const job_event& e, job_control& job) override {
    if (e.what == what && e.step == 10) {
      log.push_back("stopping 10");
      job.stop();
    }
  }
};

struct listening {
  small_job_options options{.max_steps = 12, .save_steps = 5};
  calls log;
  std::vector<std::shared_ptr<hook>> of_evaluations = {};

  std::shared_ptr<recording_listener> listener(const std::string& name = "", int64_t stops_at = -1) {
    const auto l = std::make_shared<recording_listener>();
    l->files = options.files;
    l->name = name;
    l->log = &log;
    l->stops_at = stops_at;
    return l;
  }
  expected<train_result> run(std::vector<std::shared_ptr<saving_listener>> listeners, uint64_t seed = 1,
                             std::vector<job_event>* events = nullptr) {
    auto description = describe_small(options);
    description.saving_listeners = std::move(listeners);
    if (!description.evaluations.empty())
      description.evaluations.front().data.hooks = of_evaluations;
    auto prepared = prepare(std::move(description));
    REQUIRE(prepared);
    simulated_job job{*prepared, seed};
    auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result.has_value());
    CHECK(job.left().empty());
    if (events)
      *events = job.events();
    return *result;
  }
};

}  // namespace

TEST_CASE_FIXTURE(listening,
                  "[EST-24] a listener hears of each save before anything of it is committed and when it is durable; "
                  "given twice, it is one") {
  for (const int64_t replicas : {1, 2})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      options.files = memory_disk::make();
      options.replicas = replicas;
      log.clear();
      const auto a = listener("a "), b = listener("b ");
      const auto result = run({a, b, a}, seed);
      REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
      calls wanted{"a begin 0", "b begin 0"};
      for (const char* step : {"0", "5", "10", "12"})
        for (const char* what :
             {"a before # not committed", "b before # not committed", "a after # committed", "b after # committed"}) {
          std::string call = what;
          wanted.push_back(call.replace(call.find('#'), 1, step));
        }
      wanted.insert(wanted.end(), {"a end 12", "b end 12"});
      CHECK(log == wanted);
    }
}

TEST_CASE_FIXTURE(listening,
                  "[EST-25] a listener that stops after the save of step 5 ends the job there without another save, "
                  "and with the evaluation of that save where there is one; the first save cannot") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    options.evaluates = seed % 2 == 0;
    options.files = memory_disk::make();
    log.clear();
    std::vector<job_event> events;
    const auto result = run({listener("", 5)}, seed, &events);
    REQUIRE(result);
    CHECK(result->global_step == 5);
    CHECK(result->stopped);
    CHECK(steps_of(events, kind::saved) == steps{0, 5});
    CHECK(steps_of(events, kind::evaluated) == (options.evaluates ? steps{5} : steps{}));
    CHECK(log.back() == "end 5");

    options.files = memory_disk::make();
    const auto whole = run({listener("", 0)}, seed, &events);
    REQUIRE(whole);
    CHECK(whole->global_step == 12);
    CHECK_FALSE(whole->stopped);
    CHECK(steps_of(events, kind::saved) == steps{0, 5, 10, 12});
  }
}

TEST_CASE_FIXTURE(listening,
                  "[EST-78] an evaluation begins after the listeners of its save have returned, and data that end at "
                  "step 13 are evaluated there") {
  options.evaluates = true;
  options.max_steps = 22;
  options.input = small_dataset(52).batch(4);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    options.files = memory_disk::make();
    log.clear();
    of_evaluations = {std::make_shared<evaluation_log>(log)};
    std::vector<job_event> events;
    const auto result = run({listener()}, seed, &events);
    REQUIRE(result);
    CHECK(result->global_step == 13);
    CHECK(steps_of(events, kind::evaluated) == steps{5, 10, 13});
    CHECK(log
          == calls{"begin 0", "before 0 not committed", "after 0 committed", "before 5 not committed",
                   "after 5 committed", "evaluating 5", "before 10 not committed", "after 10 committed",
                   "evaluating 10", "before 13 not committed", "after 13 committed", "evaluating 13", "end 13"});
  }
}

TEST_CASE_FIXTURE(listening,
                  "[EST-79] a listener or a hook that stops at the second save ends training there, before an "
                  "evaluation that is made, and so does a hook that stops after the second evaluation") {
  options.evaluates = true;
  options.max_steps = 22;
  for (uint64_t seed = 1; seed <= 5; ++seed)
    for (const std::string by : {"listener", "hook at saves", "hook at evaluations"}) {
      CAPTURE(by);
      options.files = memory_disk::make();
      log.clear();
      of_evaluations = {std::make_shared<evaluation_log>(log)};
      options.hooks.clear();
      if (by != "listener")
        options.hooks = {std::make_shared<stops_at>(by == "hook at saves" ? kind::saved : kind::evaluated, log)};
      std::vector<job_event> events;
      const auto result = run({listener("", by == "listener" ? 10 : -1)}, seed, &events);
      REQUIRE(result);
      CHECK(result->global_step == 10);
      const auto place = [&](const std::string& call) { return std::find(log.begin(), log.end(), call) - log.begin(); };
      const auto stop = place(by == "listener" ? "after 10 committed" : "stopping 10");
      CHECK((stop < place("evaluating 10")) == (by != "hook at evaluations"));
      CHECK(place("evaluating 10") < std::ssize(log));
      CHECK(steps_of(events, kind::evaluated) == steps{5, 10});
      CHECK(steps_of(events, kind::saved) == steps{0, 5, 10});
    }
}

TEST_CASE_FIXTURE(
    listening,
    "a listener that throws before a save fails the job, after a last save; one that throws after it, as well") {
  for (const std::string where : {"before", "after"}) {
    options.files = memory_disk::make();
    log.clear();
    const auto bad = listener();
    bad->throws_in = where;
    const auto result = run({bad});
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::state);
    CHECK(result.error().message.starts_with("an exception left " + where + "_save() of saving_listeners[0] ("));
    CHECK(result.error().message.ends_with("): no room"));
    const auto store = checkpoint_store::open(options.files, "/run", {.read_only = true});
    REQUIRE(store);
    CHECK((*store)->newest().has_value());
  }
}

TEST_CASE_FIXTURE(listening,
                  "whoever dies at whichever turn, each commit that a listener hears of was announced, and the state "
                  "is that without it") {
  options.recovers = 10;
  options.max_steps = 22;
  REQUIRE(run({}));
  const auto wanted = newest_checkpoint(options.files).content;
  int64_t recovered = 0;
  for (uint64_t seed = 1; seed <= 240; ++seed) {
    CAPTURE(seed);
    options.files = memory_disk::make();
    log.clear();
    auto description = describe_small(options);
    description.saving_listeners = {listener()};
    auto prepared = prepare(std::move(description));
    REQUIRE(prepared);
    simulated_job job{*prepared, seed};
    job.crank_some(seed, 0, 400);
    job.kill(seed % 2 == 0 ? "replica/0" : "infeed/0");
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
    CHECK(job.left().empty());
    CHECK(same_state(newest_checkpoint(options.files).content, wanted));
    recovered += steps_of(job.events(), kind::recovered).empty() ? 0 : 1;
    std::set<std::string> announced;
    for (const auto& call : log) {
      if (call.starts_with("before "))
        announced.insert(call.substr(7, call.find(' ', 7) - 7));
      if (call.starts_with("after "))
        CHECK_MESSAGE(announced.contains(call.substr(6, call.find(' ', 6) - 6)), call);
    }
    CHECK(log.back() == "end 22");
  }
  CHECK(recovered > 50);
}

TEST_CASE_FIXTURE(
    listening,
    "a job that fails without its outfeed saves and ends at once, also where listeners would hear of that save") {
  options = {.max_steps = 40, .save_steps = 10};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    log.clear();
    options.files = memory_disk::make();
    auto description = describe_small(options);
    description.saving_listeners = {listener()};
    auto prepared = prepare(std::move(description));
    REQUIRE(prepared);
    simulated_job job{*prepared, seed};
    job.crank_some(seed, 30, 200);
    job.kill("outfeed");
    const auto before = job.now();
    REQUIRE(job.wait(std::chrono::hours{2}).has_value());
    CHECK(job.now() - before < std::chrono::seconds{100});
  }
}

TEST_CASE_FIXTURE(listening, "a resumed job calls listeners for its new saves only") {
  options.max_steps = 5;
  REQUIRE(run({}));
  options.max_steps = 8;
  REQUIRE(run({listener()}));
  CHECK(log == calls{"begin 5", "before 8 not committed", "after 8 committed", "end 8"});
}

}  // namespace troupe::test
