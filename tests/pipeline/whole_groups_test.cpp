// Jobs of several groups with evaluations, hooks, exports and summaries; groups that fall with others; and the end of
// the last group.
#include "estimator/describe.hpp"
#include "storage/examination/examination.hpp"
#include "storage/exports/export_directory.hpp"
#include "support/ended_jobs.hpp"
#include "support/plans.hpp"
#include "support/whole_event_log.hpp"
#include "support/wrapped_engine.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

enum broken_program : size_t { of_mixture, of_a, of_b };

struct value_watcher final : hook {
  needs begin(int64_t) override { return {.steps = {{.first = 1, .every = 4}}, .values = {"a/mean", "b/mean"}}; }
  void on_step(const step_facts& f, job_control&) override { seen[f.step] = f.values; }
  void end(int64_t) override { ended = true; }
  std::map<int64_t, std::map<std::string, tensor>> seen;
  bool ended = false;
};

struct group_job {
  small_job_options o{.max_steps = 30, .recovers = 3};
  bool falls = false;                             ///< The mixture falls with either candidate.
  std::map<broken_program, int64_t> breaks = {};  ///< The step at which each program's numbers break.
  std::vector<group_id> shown = {};               ///< Empty: as the plan lists them.
  std::vector<stop_rule> rules = {};
  std::shared_ptr<value_watcher> watcher = std::make_shared<value_watcher>();

  training_job described() const {
    auto d = describe_small(o);
    d.basis.config.summary_steps = 4;
    d.basis.config.keep_checkpoint_max = 0;
    for (const std::string name : {"a", "b"}) {
      auto& e = d.evaluations.emplace_back(evaluation_policy{.data = small_evaluation(), .throttle_secs = 0});
      e.data.name = name;
      e.exports = exporting_of({candidate(name, name == "a" ? 5 : 7), {.model_dir = "/run", .seed = 7}},
                               {.input = small_evaluation().input,
                                .name = name,
                                .exporters = {{.name = "of_" + name, .rule = export_rule::final}}});
      e.exports_at_end = true;
    }
    d.keep_best = keep_best{.goal = {.evaluation = "a"}};
    d.stop_early = rules;
    d.hooks = {watcher};
    return d;
  }
  std::shared_ptr<prepared_job> prepared() const {
    auto w = two_candidates_evaluated(o.input, static_cast<int32_t>(o.replicas));
    for (auto& g : w.plan.groups)
      g.leaves = leaves_on::numbers_and_death;
    if (falls)
      w.plan.groups[of_mixture].falls_with = {1_group, 2_group};
    if (!shown.empty())
      w.plan.shown = shown;
    auto job = w.prepared(described());
    for (const auto& [which, at] : breaks) {
      auto& last = job->programs[which].engines.back();
      last = std::make_shared<broken_engine>(last, at);
    }
    return job;
  }
};

steps evaluated_by(const std::vector<job_event>& events, const std::string& name) {
  steps all;
  for (const auto& e : events)
    if (e.what == job_event::kind::evaluated && e.evaluation == name)
      all.push_back(e.step);
  return all;
}

/// The steps of each tag in the event files of training.
std::map<std::string, steps> tags_of(const std::shared_ptr<file_system>& files) {
  std::map<std::string, steps> all;
  const auto paths = list_event_logs(*files, "/run");
  REQUIRE(paths);
  for (const auto& path : *paths) {
    const auto log = read_whole_log(*files, path);
    REQUIRE(log);
    for (const auto& e : log->events)
      for (const auto& v : e.values)
        all[v.tag].push_back(e.step);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "several groups run with evaluations, summaries, hooks, observed values, a best checkpoint, a rule and exports, to "
    "one state in any order of turns") {
  std::optional<checkpoint_content> first;
  for (const int64_t replicas : {1, 2})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(replicas);
      CAPTURE(seed);
      group_job j{.o = {.max_steps = 30, .replicas = replicas},
                  .rules = {stop_if_lower("loss", 0, {.evaluation = "b"})}};
      simulated_job job{j.prepared(), seed};
      const auto result = run_to_end(job);
      CHECK(result.global_step == 30);
      CHECK(evaluated_by(job.events(), "a") == steps{5, 10, 15, 20, 25, 30});
      CHECK(evaluated_by(job.events(), "b") == steps{5, 10, 15, 20, 25, 30});
      CHECK(result.metrics == result.evaluations.at("a"));
      CHECK_FALSE(result.best_checkpoint.empty());
      CHECK(result.exports.at("a").size() == 1);
      CHECK(result.exports.at("b").size() == 1);
      REQUIRE(j.watcher->seen.size() == 8);
      for (const auto& [step, values] : j.watcher->seen) {
        std::vector<std::string> names;
        for (const auto& [name, value] : values) {
          names.push_back(name);
          CHECK(value.elements() == 1);
        }
        CHECK(names == std::vector<std::string>{"a/loss", "a/mean", "b/loss", "b/mean", "mixture/loss"});
        CHECK(values.at("a/mean") == values.at("b/mean"));
      }
      for (const auto& e : job.events())
        if (e.what == job_event::kind::progress) {
          CHECK(e.loss == e.metrics.at("mixture/loss"));
          CHECK(e.metrics.contains("a/loss"));
          CHECK_FALSE(e.metrics.contains("loss"));
        }
      const auto tags = tags_of(j.o.files);
      for (const auto* tag : {"mixture/loss", "a/loss", "b/loss", "a/learning_rate"})
        CHECK(tags.at(tag) == steps{4, 8, 12, 16, 20, 24, 28});
      CHECK_FALSE(tags.contains("loss"));
      const auto end = newest_checkpoint(j.o.files).content;
      if (replicas == 1)
        CHECK(same_state(first.emplace(first.value_or(end)), end));
    }
}

TEST_CASE("a plan with another number of evaluators than the job has evaluations is refused") {
  const group_job j;
  auto d = j.described();
  d.evaluations.pop_back();
  const auto w = two_candidates_evaluated(j.o.input);
  const auto prepared = prepare(std::move(d), planned_job{w.plan, w.resources, {}});
  REQUIRE_FALSE(prepared);
  CHECK(has(prepared.error().message, "the plan lists 2 evaluators, and the job has 1 evaluations"));
}

TEST_CASE(
    "the group that is shown first leaves, the next one gives the number, and what is evaluated and exported of it "
    "ends with it") {
  std::optional<checkpoint_content> first;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    group_job j{.breaks = {{of_a, 12}}, .shown = {1_group, 2_group, 0_group}};
    simulated_job job{j.prepared(), seed};
    const auto result = run_to_end(job);
    CHECK(has(result.remark, "group 'a' left at step 12: nan_loss: "));
    CHECK(evaluated_by(job.events(), "a") == steps{5, 10});
    CHECK(evaluated_by(job.events(), "b") == steps{5, 10, 15, 20, 25, 30});
    CHECK(result.exports.at("a") == std::vector<std::string>{""});
    CHECK(result.exports.at("b").size() == 1);
    for (const auto& e : job.events())
      if (e.what == job_event::kind::progress && e.step != 15)  // The interval to 15 has steps of a.
        CHECK(e.loss == e.metrics.at(e.step <= 10 ? "a/loss" : "b/loss"));
    for (const auto& [step, values] : j.watcher->seen)
      for (const auto& [name, value] : values)
        CHECK_MESSAGE((value.elements() == 0) == (step > 12 && name.starts_with("a/")), name << " at step " << step);
    const auto tags = tags_of(j.o.files);
    CHECK(tags.at("a/loss") == steps{4, 8, 12});
    CHECK(tags.at("b/loss") == steps{4, 8, 12, 16, 20, 24, 28});
    const auto end = newest_checkpoint(j.o.files).content;
    CHECK(same_state(first.emplace(first.value_or(end)), end));
  }
}

TEST_CASE(
    "a mixture that falls with its candidates leaves at the step of the first of them and reads no zeros, in any order "
    "of turns") {
  group_job alone{.o = {.max_steps = 12}};
  simulated_job whole{alone.prepared(), 1};
  run_to_end(whole);
  const auto last_of_mixture = variables(newest_checkpoint(alone.o.files).content, "mixture/");
  for (const int64_t replicas : {1, 2}) {
    std::optional<checkpoint_content> first;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(replicas);
      CAPTURE(seed);
      group_job j{.o = {.max_steps = 30, .save_steps = 4, .replicas = replicas}, .falls = true, .breaks = {{of_b, 12}}};
      simulated_job job{j.prepared(), seed};
      const auto result = run_to_end(job);
      CHECK(has(result.remark, "group 'b' left at step 12: nan_loss: "));
      CHECK(has(result.remark,
                "group 'mixture' left at step 12: cancelled: it falls with the first of the groups 'a', 'b'"));
      CHECK(result.metrics.contains("loss"));
      auto store = checkpoint_store::open(j.o.files, "/run", {.read_only = true});
      REQUIRE(store);
      const auto at_12 = (*store)->restore_step(12);
      REQUIRE(at_12);
      if (replicas == 1)
        CHECK(variables(at_12->content, "mixture/") == last_of_mixture);
      CHECK(variables(at_12->content, "b/").size() == 8);
      const auto end = newest_checkpoint(j.o.files).content;
      CHECK(variables(end, "mixture/").empty());
      CHECK(variables(end, "b/").empty());
      CHECK(end.properties.contains("left/mixture"));
      CHECK(same_state(first.emplace(first.value_or(end)), end));
    }
  }
}

TEST_CASE("where both candidates leave at one step the mixture falls once, and the job fails with the first cause") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    group_job j{.falls = true, .breaks = {{of_a, 12}, {of_b, 12}}};
    simulated_job job{j.prepared(), seed};
    const auto failed = failure_of(job);
    CHECK(failed.category == errc::nan_loss);
    CHECK(failed.message.starts_with("every group has left the job, group 'a' as the first: nan_loss: "));
    CHECK(failed.step == 12);
    CHECK(newest_checkpoint(j.o.files).content.id.step == 10);
    CHECK_FALSE(j.watcher->ended);
  }
}

TEST_CASE(
    "a job of which a mixture has fallen is resumed, and recovers, to the state of one that was not interrupted") {
  const auto breaking = [](small_job_options o) {
    return group_job{.o = std::move(o), .falls = true, .breaks = {{of_b, 12}}};
  };
  const auto undisturbed = breaking({.max_steps = 30});
  simulated_job unbroken{undisturbed.prepared(), 9};
  run_to_end(unbroken);
  const auto wanted = newest_checkpoint(undisturbed.o.files).content;
  for (const int64_t at : {7, 12, 14, 22})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(at);
      CAPTURE(seed);
      const auto j = breaking({.max_steps = 30});
      {
        simulated_job job{j.prepared(), seed};
        REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
      }
      simulated_job again{breaking(j.o).prepared(), seed + 10};
      run_to_end(again);
      CHECK(same_state(newest_checkpoint(j.o.files).content, wanted));

      const auto k = breaking({.max_steps = 30, .recovers = 3});
      simulated_job recovering{k.prepared(), seed};
      REQUIRE(recovering.crank_until([&] { return recovering.progress().step >= at; }));
      REQUIRE(recovering.kill(at < 20 ? "a/replica/0" : "feed"));
      run_to_end(recovering);
      CHECK(steps_of(recovering.events(), job_event::kind::recovered).size() == 1);
      CHECK(same_state(newest_checkpoint(k.o.files).content, wanted));
    }
}

TEST_CASE("who falls with a group whose node dies is dropped with it, and the death of the last group fails the job") {
  for (const bool of_last : {false, true})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(seed);
      group_job j{.o = {.max_steps = 30, .recovers = 0}, .falls = true};
      simulated_job job{j.prepared(), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 6 + static_cast<int64_t>(seed); }));
      REQUIRE(job.kill("b/replica/0"));
      REQUIRE(job.crank_until([&] { return job.progress().step >= 14; }));
      REQUIRE_FALSE(job.ended());
      if (of_last) {
        REQUIRE(job.kill("a/replica/0"));
        CHECK(has(to_text(failure_of(job)), "a/replica/0 ended"));
        continue;
      }
      CHECK(has(run_to_end(job).remark, ": cancelled: it falls with the first of the groups 'a', 'b'"));
      const auto end = newest_checkpoint(j.o.files).content;
      CHECK(end.properties.contains("left/mixture"));
      CHECK(variables(end, "mixture/").empty());
      CHECK(variables(end, "b/").empty());
      CHECK(variables(end, "a/").size() == 8);
    }
}

TEST_CASE("a job of several groups is paused with one of them gone, and goes on to the same state") {
  group_job whole{.breaks = {{of_b, 12}}};
  simulated_job unbroken{whole.prepared(), 2};
  run_to_end(unbroken);
  group_job j{.breaks = {{of_b, 12}}};
  simulated_job job{j.prepared(), 3};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 13; }));
  job.ask(request::pause);
  REQUIRE(job.crank_until([&] { return job.progress().paused; }));
  job.ask(request::resume);
  run_to_end(job);
  CHECK(same_state(newest_checkpoint(j.o.files).content, newest_checkpoint(whole.o.files).content));
}

TEST_CASE("on real threads a mixture falls, and the others end in the state of the simulation") {
  const auto at_60 = [] {
    return group_job{.o = {.max_steps = 200, .save_steps = 50}, .falls = true, .breaks = {{of_b, 60}}};
  };
  const auto simulated = at_60(), real = at_60();
  simulated_job beside{simulated.prepared(), 3};
  run_to_end(beside);
  const auto job = local_launcher{}.train(real.prepared());
  const auto result = job->wait(std::chrono::minutes{2});
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
  CHECK(same_state(newest_checkpoint(real.o.files).content, newest_checkpoint(simulated.o.files).content));
}

}  // namespace troupe::test
