// Hooks of groups, as the callbacks call them.
#include "actors/callbacks.hpp"
#include "support/simulation.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct group_spy : hook {
  std::vector<need> wants = {};
  std::vector<std::string> values = {};
  std::vector<std::string> calls = {};
  std::map<std::string, tensor> seen = {};
  job_event told = {};
  bool stops = false, scales = false;

  void note(const std::string& what, int64_t step) { calls.push_back(what + " " + std::to_string(step)); }
  needs begin(int64_t step) override {
    note("begin", step);
    return {.steps = wants, .values = values};
  }
  void on_step(const step_facts& facts, job_control& job) override {
    note("at", facts.step);
    seen = facts.values;
    if (stops)
      job.stop();
    if (scales)
      job.scale_rate(0.5);
  }
  void on_event(const job_event& e, job_control&) override {
    note("event", e.step);
    told = e;
    if (e.max_steps)
      note("of", *e.max_steps);
  }
  void end(int64_t step) override { note("end", step); }
  void on_abort(const error&) override { note("abort", 0); }
};

/// A hook of the job, and one of the group "a", number 1, which begins at state 10.
struct group_callbacks : simulation {
  std::shared_ptr<group_spy> of_job = std::make_shared<group_spy>(), own = std::make_shared<group_spy>();
  recorder<hooks_ready, answered, hooks_ended, failure, request>
      chief = record<hooks_ready, answered, hooks_ended, failure, request>();
  callbacks_actor hooks;

  void begin_plan(int64_t step, group_hooks of_plan, std::optional<error> failure = {}) {
    tell(hooks, fact{.what = fact::begin_at,
                     .news = {.failure = std::move(failure)},
                     .at = step,
                     .of_plan = std::make_shared<const group_hooks>(std::move(of_plan))});
  }
  void start() {
    own->wants = {{.first = 2, .every = 2, .gate = true}};
    hooks = spawn(callbacks, callbacks_options{.hooks = {of_job}}, chief.as<hook_listener_actor>());
    tell(hooks, name_values{{"b/loss", "a/loss"}, {"b/norm", "a/norm"}});
    begin_plan(10, {{own, group_id{1}, "a", 10}});
  }
  void reach(int64_t step) {
    const auto value = [](float x) { return tensor::scalar(x); };
    tell(hooks, fact{.what = fact::step, .values = {step, {value(1), value(2), value(3), value(4)}}, .at = step});
  }
};

using calls = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(group_callbacks, "a hook of a group counts the steps of the group, and asks for them as such") {
  own->values = {"norm"};
  start();
  const auto& ready = chief.last<hooks_ready>();
  REQUIRE(ready.steps.size() == 1);
  CHECK(ready.steps[0].first == 12);
  CHECK(ready.steps[0].every == 2);
  CHECK(ready.steps[0].gate);
  reach(11);
  reach(14);
  tell(hooks, fact{.what = fact::event, .news = {.step = 15, .max_steps = 30}, .at = 15});
  tell(hooks, fact{.what = fact::end_at, .news = {.what = job_event::kind::finished, .step = 20}, .at = 20});
  CHECK(own->calls == calls{"begin 0", "at 4", "event 5", "of 20", "event 10", "end 10"});
  CHECK(of_job->calls == calls{"begin 10", "event 15", "of 30", "event 20", "end 20"});
  CHECK(own->seen.size() == 2);
  CHECK(own->seen.at("loss") == tensor::scalar(2.f));
  CHECK(own->seen.at("norm") == tensor::scalar(4.f));
}

TEST_CASE_FIXTURE(group_callbacks, "of an event a hook of a group is shown the metrics and the loss of its group") {
  start();
  const auto vector = tensor::of<double>({1}, {3});
  const auto show = [&](job_event e) { tell(hooks, fact{.what = fact::event, .news = std::move(e), .at = 12}); };
  show({.step = 12, .loss = 1, .metrics = {{"a/loss", 2}, {"a/accuracy", 0.5}, {"b/loss", 1}}});
  CHECK(own->told.loss == 2);
  CHECK(own->told.metrics == std::map<std::string, double>{{"loss", 2}, {"accuracy", 0.5}});
  CHECK(of_job->told.loss == 1);
  CHECK(of_job->told.metrics.size() == 3);
  show({.what = job_event::kind::evaluated,
        .step = 12,
        .metrics = {{"loss", 7}, {"a/loss", 3}, {"global_step", 6}},
        .arrays = {{"a/recall", vector}, {"recall", vector}},
        .checkpoint = checkpoint_id{.step = 12}});
  CHECK(own->told.metrics == std::map<std::string, double>{{"loss", 3}});
  CHECK(own->told.arrays.size() == 1);
  CHECK(own->told.arrays.contains("recall"));
  CHECK(own->told.checkpoint == of_job->told.checkpoint);
  show({.what = job_event::kind::chosen, .step = 12, .metrics = {{"one", 1}, {"two", 2}}});
  CHECK(own->told.metrics == of_job->told.metrics);
}

TEST_CASE_FIXTURE(group_callbacks, "an evaluation of a state before its iteration is not shown to a hook of a group") {
  start();
  tell(hooks, fact{.what = fact::event, .news = {.what = job_event::kind::evaluated, .step = 9}, .at = 12});
  CHECK(own->calls == calls{"begin 0"});
  CHECK(of_job->calls == calls{"begin 10", "event 9"});
}

TEST_CASE_FIXTURE(group_callbacks, "a need so late that no step of the job has its number is never due") {
  own->wants = {{.first = INT64_MAX}};
  hooks = spawn(callbacks, callbacks_options{.hooks = {of_job}}, chief.as<hook_listener_actor>());
  begin_plan(10, {{own, group_id{1}, "a", 10}});
  CHECK(chief.last<hooks_ready>().steps[0].first == INT64_MAX);
}

TEST_CASE_FIXTURE(group_callbacks, "a hook of a group that stops asks to retire its group, and does not stop the job") {
  own->stops = true;
  start();
  reach(12);
  REQUIRE(chief.count<request>() == 1);
  CHECK(chief.last<request>().what == request::retire_group);
  CHECK(chief.last<request>().group == group_id{1});
}

TEST_CASE_FIXTURE(group_callbacks, "a hook of a group that scales the rate fails the job, and is told what to do") {
  own->scales = true;
  start();
  reach(12);
  REQUIRE(chief.count<failure>() == 1);
  const auto& said = chief.last<failure>().what.message;
  CHECK(has(said, "on_step() of hooks[0] of 'a'"));
  CHECK(has(said, "cannot scale its learning rate alone"));
}

TEST_CASE_FIXTURE(group_callbacks, "a value of another group is unknown to a hook of a group, which is told its own") {
  own->values = {"b/norm"};
  start();
  REQUIRE(chief.count<failure>() == 1);
  CHECK(has(chief.last<failure>().what.message, "asks for the value 'b/norm', and the model observes 'norm'"));
}

TEST_CASE_FIXTURE(group_callbacks, "a hook of a group may name its loss, for which nothing is observed") {
  own->values = {"loss"};
  start();
  CHECK(chief.count<failure>() == 0);
  CHECK_FALSE(chief.last<hooks_ready>().observes);
}

TEST_CASE_FIXTURE(group_callbacks,
                  "with another plan the hooks of its groups begin, those before end, the job's go on") {
  start();
  const auto next = std::make_shared<group_spy>();
  tell(hooks, name_values{{"c/loss"}, {}});
  begin_plan(20, {{next, group_id{0}, "c", 20}});
  CHECK(chief.count<hooks_ready>() == 2);
  CHECK(chief.last<hooks_ready>().steps.empty());
  tell(hooks, fact{.what = fact::event, .news = {.step = 25}, .at = 25});
  CHECK(own->calls == calls{"begin 0", "end 10"});
  CHECK(next->calls == calls{"begin 0", "event 5"});
  CHECK(of_job->calls == calls{"begin 10", "event 25"});
}

TEST_CASE_FIXTURE(group_callbacks, "hooks of the groups of a plan that the job gives up are aborted") {
  start();
  begin_plan(5, {}, error{errc::aborted, "an older checkpoint"});
  tell(hooks, fact{.what = fact::end_at, .news = {.what = job_event::kind::finished, .step = 6}, .at = 6});
  CHECK(own->calls == calls{"begin 0", "abort 0"});
  CHECK(of_job->calls == calls{"begin 10", "event 6", "end 6"});
}

}  // namespace troupe::test
