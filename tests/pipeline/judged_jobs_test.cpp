// Whole simulated jobs with several evaluations, ends by a rule and a best checkpoint.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/checkpoints/best_checkpoint.hpp"
#include "storage/examination/examination.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/troubled_dataset.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using steps = std::vector<int64_t>;

/// A job of 20 steps that saves every 5 and has two evaluations: one without a name and one named "train".
training_job two_evaluations(const small_job_options& o) {
  auto job = describe_small(o);
  auto second = job.evaluations.front();
  second.data.name = "train";
  second.data.input = small_dataset(12).batch(4);
  job.evaluations.push_back(std::move(second));
  return job;
}

steps evaluated(const std::vector<job_event>& events, const std::string& name) {
  steps all;
  for (const auto& e : events)
    if (e.what == kind::evaluated && e.evaluation == name)
      all.push_back(e.step);
  return all;
}

std::string why(training_job description) {
  const auto prepared = prepare(std::move(description));
  return prepared ? "" : prepared.error().message;
}

/// A rule that every loss fulfils.
stop_rule at_once(int64_t min_steps = 0) { return stop_if_higher("loss", -1, {.min_steps = min_steps}); }

}  // namespace

TEST_CASE("several evaluations each evaluate every checkpoint, by their own data, into their own folders") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    small_job_options o{.evaluates = true};
    std::vector<job_event> events;
    const auto result = run_to_end(two_evaluations(o), seed, &events);
    CHECK(evaluated(events, "") == steps{5, 10, 15, 20});
    CHECK(evaluated(events, "train") == steps{5, 10, 15, 20});
    REQUIRE(result.evaluations.size() == 2);
    CHECK(result.metrics == result.evaluations.at(""));
    CHECK(result.evaluations.at("train").at("loss") != result.metrics.at("loss"));
    for (const std::string folder : {"/run/eval", "/run/eval_train"}) {
      const auto history = read_evaluations(*o.files, folder);
      REQUIRE(history);
      REQUIRE(history->size() == 4);
      CHECK(history->back().step == 20);
    }
  }
}

TEST_CASE("an evaluation beside a training that waits for another one holds nobody up, and is done at the end") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.evaluates = true};
    auto job = two_evaluations(o);
    job.evaluations[1].when = evaluation_mode::beside;
    job.evaluations[1].data.input = small_dataset(400).batch(4);
    std::vector<job_event> events;
    run_to_end(std::move(job), seed, &events);
    CHECK(evaluated(events, "") == steps{5, 10, 15, 20});
    CHECK(evaluated(events, "train").back() == 20);
  }
}

TEST_CASE("a model function is called once for training and once for all evaluations of the same data") {
  small_job_options o{.evaluates = true};
  int calls = 0;
  o.source.build = [&calls, inner = o.source.build](graph& g, const features& x, const labels& y, mode m) {
    ++calls;
    return inner(g, x, y, m);
  };
  REQUIRE(prepare(two_evaluations(o)));
  CHECK(calls == 2);
}

TEST_CASE(
    "[EST-48] two batches are evaluated before the first step: data that cannot be read fail a new job there, and the "
    "error says what was tried") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    small_job_options o{.evaluates = true, .when = seed % 2 == 0 ? evaluation_mode::waits : evaluation_mode::beside};
    auto job = two_evaluations(o);
    job.evaluations[1].data.input = dataset{std::make_shared<troubled_stage>(
        small_dataset(20).batch(8).last_stage(), 1,
        [] { return expected<void>{fail(errc::data_loss, "the evaluation's data are damaged")}; })};
    simulated_job running{*prepare(job), seed};
    const auto result = running.wait(std::chrono::hours{2});
    REQUIRE(result.has_value());
    REQUIRE_FALSE(result->has_value());
    CHECK(result->error().category == errc::data_loss);
    REQUIRE_FALSE(result->error().notes.empty());
    CHECK(result->error().notes.front()
          == "while evaluating 2 batches for 'train' before the first step (sanity_batches)");
    CHECK(running.progress().step == 0);
  }
}

TEST_CASE("the check before the first step is neither told nor written, and a job that goes on makes none") {
  small_job_options o{.max_steps = 5, .evaluates = true};
  std::vector<job_event> events;
  run_to_end(describe_small(o), 1, &events);
  CHECK(evaluated(events, "") == steps{5});
  CHECK(read_evaluations(*o.files, "/run/eval")->size() == 1);
  o.max_steps = 10;
  auto job = describe_small(o);
  int64_t reads = 0;
  job.evaluations.front().data.input = dataset{
      std::make_shared<troubled_stage>(small_dataset(20).batch(8).last_stage(), 0, [&reads] {
        ++reads;
        return expected<void>{};
      })};
  run_to_end(job);
  CHECK_MESSAGE(reads == 1, "one evaluation, at step 10");
}

TEST_CASE(
    "[EST-72] a rule ends a job at exactly the evaluated step, and the same job again trains nothing and says so") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    small_job_options o{.max_steps = 100, .evaluates = true};
    auto job = describe_small(o);
    job.stop_early = {at_once(10)};
    const auto first = run_to_end(job, seed);
    CHECK(first.global_step == 10);
    CHECK_FALSE(first.stopped);
    CHECK(first.remark.starts_with("ended early: loss higher than -1 from step 10 on: loss was "));
    const auto books = newest_checkpoint(o.files).content.properties;
    CHECK(books.at("ended").starts_with("early: loss higher than -1"));
    const auto again = run_to_end(job, seed + 1);
    CHECK(again.steps_run == 0);
    CHECK(again.remark.starts_with("nothing to train: /run/model.ckpt-10 has ended early: loss higher than -1"));
    // Event files store float32.
    CHECK(again.metrics.at("loss") == static_cast<double>(static_cast<float>(first.metrics.at("loss"))));

    job.stop_early = {at_once(20)};
    const auto further = run_to_end(job, seed);
    CHECK(further.global_step == 20);
    CHECK(further.steps_run == 10);
    small_job_options whole{.max_steps = 20};
    run_to_end(whole, seed);
    const auto wanted = newest_checkpoint(whole.files).content, found = newest_checkpoint(o.files).content;
    CHECK(found.blobs == wanted.blobs);
    CHECK(std::equal(found.tensors.begin(), found.tensors.end(), wanted.tensors.begin(), wanted.tensors.end(),
                     [](const auto& a, const auto& b) { return a.name == b.name && a.value == b.value; }));
  }
}

TEST_CASE(
    "[EST-72] a rule that looks at evaluations beside training ends the job at the horizon, for all replicas; a "
    "resumed job is not stopped by it") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    small_job_options o{.max_steps = 400, .replicas = 2, .evaluates = true, .when = evaluation_mode::beside};
    auto job = describe_small(o);
    job.stop_early = {at_once()};
    simulated_job running{*prepare(job), seed};
    int64_t granted = 0;  // To any node: no replica may go beyond it.
    running.watch([&granted](const std::string& from, const std::string&, const caf::type_erased_tuple& x) {
      if (from == "chief" && x.match_elements<troupe::run>())
        granted = std::max(granted, x.get_as<troupe::run>(0).until);
    });
    REQUIRE(running.crank_until([&] { return !evaluated(running.events(), "").empty(); }));
    const auto granted_when_it_applied = granted;
    const auto first = run_to_end(running);
    running.watch({});
    CHECK(first.global_step == granted_when_it_applied);
    CHECK(granted == granted_when_it_applied);
    CHECK(newest_checkpoint(o.files).content.id.step == first.global_step);
    CHECK(newest_checkpoint(o.files).content.properties.contains("ended"));
    job.stop_early.clear();
    CHECK(run_to_end(job, seed).global_step == 400);
  }
}

TEST_CASE("rules count the evaluations of earlier runs, which they find in event files") {
  small_job_options o{.max_steps = 10, .evaluates = true};
  run_to_end(o);
  o.max_steps = 100;
  auto job = describe_small(o);
  size_t seen = 0;
  job.stop_early = {stop_if("four evaluations", [&seen](const evaluation_history& history) {
    seen = std::max(seen, history.size());
    return history.size() >= 4;
  })};
  const auto result = run_to_end(job);
  CHECK(result.global_step == 20);
  CHECK(result.remark == "ended early: four evaluations, at step 20");
  CHECK(seen == 4);
}

TEST_CASE(
    "[EST-71] where there is no folder of evaluations yet a rule has nothing to stop a job by, until the job's own "
    "first one") {
  small_job_options o{.max_steps = 10, .evaluates = true};
  CHECK(read_evaluations(*o.files, "/run/eval")->empty());
  auto job = describe_small(o);
  std::vector<size_t> seen;
  job.stop_early = {stop_if("never", [&seen](const evaluation_history& history) {
    seen.push_back(history.size());
    return false;
  })};
  CHECK(run_to_end(std::move(job)).global_step == 10);
  CHECK(seen == std::vector<size_t>{1, 2});
}

TEST_CASE("a predicate that throws ends the job with an error that names it, after a last save") {
  small_job_options o{.max_steps = 100, .evaluates = true};
  auto job = describe_small(o);
  job.stop_early = {stop_if("mine", [](const evaluation_history&) -> bool { throw std::runtime_error{"no"}; })};
  simulated_job running{*prepare(std::move(job)), 1};
  const auto result = running.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::state);
  CHECK(result->error().message == "the rule 'mine' threw: no");
  CHECK(newest_checkpoint(o.files).content.id.step == 5);
}

TEST_CASE(
    "the best checkpoint outlives retention and restarts, and is used in place of the newest where that is wanted") {
  small_job_options o{.max_steps = 20, .save_steps = 2, .evaluates = true};
  auto job = describe_small(o);
  job.basis.config.keep_checkpoint_max = 2;
  job.keep_best = keep_best{.goal = {.metric = "global_step", .smaller_is_better = true}};
  const auto first = run_to_end(job);
  CHECK(first.best_checkpoint == "/run/model.ckpt-2");
  CHECK(first.checkpoint == "/run/model.ckpt-20");
  const auto listed = [&] { return (*checkpoint_store::open(o.files, "/run", {.read_only = true}))->listed(); };
  CHECK(listed() == std::vector<checkpoint_id>{{2}, {18}, {20}});
  job.max_steps = 24;
  job.keep_best->restore_best = true;
  const auto second = run_to_end(job);
  CHECK_MESSAGE(second.best_checkpoint == "/run/model.ckpt-2", "the books of step 20 name it");
  CHECK(second.checkpoint == second.best_checkpoint);
  CHECK_MESSAGE(second.metrics.at("global_step") == 2, "its results are in the event file");
  CHECK(listed() == std::vector<checkpoint_id>{{2}, {22}, {24}});
}

TEST_CASE(
    "beside training, the best checkpoint is there at the end and is what the newest one names, whatever was saved "
    "meanwhile") {
  int64_t overtaken = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 40, .save_steps = 2, .evaluates = true, .when = evaluation_mode::beside};
    auto job = describe_small(o);
    job.basis.config.keep_checkpoint_max = 1 + static_cast<int32_t>(seed % 3);
    job.keep_best = keep_best{.goal = {.metric = "global_step", .smaller_is_better = seed % 2 == 0},
                              .restore_best = true};
    std::vector<job_event> events;
    const auto result = run_to_end(std::move(job), seed, &events);
    const auto store = *checkpoint_store::open(o.files, "/run", {.read_only = true});
    const auto best = best_in_use(*store);
    REQUIRE(best);
    CHECK(result.best_checkpoint == "/run/model.ckpt-" + to_string(*best));
    const auto restored = store->restore(*best);
    CHECK_MESSAGE(restored, (restored ? "" : to_text(restored.error())));
    for (size_t i = 0; i < events.size(); ++i)
      overtaken += events[i].what == kind::evaluated && i > 0 && events[i - 1].what == kind::saved
                           && events[i - 1].step > events[i].step
                       ? 1
                       : 0;
  }
  CHECK(overtaken > 20);
}

TEST_CASE(
    "a rule that has decided while a replica died ends the job at that state all the same, and the best is not "
    "forgotten") {
  int64_t recovered = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 100, .save_steps = 5, .evaluates = true, .recovers = 10};
    auto job = describe_small(o);
    job.stop_early = {at_once(10)};
    job.keep_best = keep_best{.goal = {.metric = "global_step", .smaller_is_better = true}};
    simulated_job run{*prepare(std::move(job)), seed};
    REQUIRE(run.crank_until([&] { return run.progress().step >= 10; }));
    run.crank_some(seed, 0, 120);
    run.kill("replica/0");
    const auto result = run_to_end(run);
    CHECK(result.global_step == 10);
    CHECK(result.best_checkpoint == "/run/model.ckpt-5");
    CHECK(newest_checkpoint(o.files).content.properties.contains("ended"));
    for (const auto& e : run.events())
      recovered += e.what == kind::recovered ? 1 : 0;
  }
  CHECK(recovered > 50);
}

TEST_CASE("a verdict that cannot be written fails the job, also the last one") {
  small_job_options o{.max_steps = 10, .save_steps = 5, .evaluates = true};
  const auto disk = faulty_file_system::around(memory_disk::make());
  o.files = disk;
  auto job = describe_small(o);
  job.keep_best = keep_best{.goal = {.metric = "global_step", .smaller_is_better = false}};
  simulated_job run{*prepare(std::move(job)), 1};
  REQUIRE(run.crank_until([&] { return run.progress().step >= 10; }));
  disk->inject({.path_contains = "verdict", .for_ever = true});
  CHECK(failure_of(run).source == "checkpoint_writer");
  CHECK(disk->failures() > 0);
}

TEST_CASE("a final export of the best checkpoint has that one's metrics") {
  small_job_options o{.max_steps = 6, .save_steps = 2, .evaluates = true};
  auto job = describe_small(o);
  job.keep_best = keep_best{.goal = {.metric = "global_step", .smaller_is_better = true}, .restore_best = true};
  std::vector<std::pair<std::string, double>> seen;
  job.evaluations.front().exports_at_end = true;
  job.evaluations.front().exports = [&seen](const export_surroundings&,
                                            const export_occasion& now) -> expected<std::vector<std::string>> {
    if (now.is_final)
      seen.emplace_back(now.checkpoint, now.metrics.at("global_step"));
    return std::vector<std::string>{""};
  };
  run_to_end(std::move(job));
  CHECK(seen == std::vector<std::pair<std::string, double>>{{"/run/model.ckpt-2", 2}});
}

TEST_CASE("what was evaluated of a checkpoint that is damaged is evaluated again once that is made again") {
  small_job_options o{.max_steps = 20, .save_steps = 5, .evaluates = true, .recovers = 10};
  simulated_job run{prepare_small(o), 1};
  REQUIRE(run.crank_until([&] { return evaluated(run.events(), "").size() == 2; }));
  REQUIRE(o.files->remove("/run/model.ckpt-10.manifest.json"));
  run.kill("replica/0");
  run_to_end(run);
  CHECK(evaluated(run.events(), "") == steps{5, 10, 10, 15, 20});
}

TEST_CASE("rules and keep_best that ask for what there is not are refused before anything starts") {
  small_job_options o{.evaluates = true};
  auto job = two_evaluations(o);
  job.stop_early = {stop_if_higher("auc", 0.5)};
  CHECK(why(job) == "the rule 'auc higher than 0.5' asks for the metric 'auc', which the evaluation does not have; "
                    "it has accuracy, "
                    "average_loss, global_step, loss");
  job.stop_early = {stop_if_higher("loss", 0.5, {.evaluation = "dev"})};
  CHECK(why(job) == "the rule 'loss higher than 0.5 in evaluation 'dev'' needs an evaluation named 'dev'; there "
                    "are: one without a name, 'train'");
  job.stop_early.clear();
  job.keep_best = keep_best{.goal = {.metric = "auc"}};
  CHECK(why(job).starts_with("keep_best asks for the metric 'auc'"));
  job.keep_best.reset();
  job.asked = {{"reduce_on_plateau", "", "loss"}, {"the exporter 'best'", "train", "auc"}};
  CHECK(why(job).starts_with(
      "the exporter 'best' asks for the metric 'auc', which the evaluation does not have; it has "));
  job.asked = {{"reduce_on_plateau", "dev", "loss"}};
  CHECK(why(job).starts_with("reduce_on_plateau needs an evaluation named 'dev'; there are: "));
  auto alone = describe_small({});
  alone.stop_early = {at_once()};
  CHECK(why(alone) == "the rule 'loss higher than -1' needs an evaluation without a name; there is none");
}

}  // namespace troupe::test
