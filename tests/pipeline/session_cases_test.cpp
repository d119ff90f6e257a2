// The protocol of a session, in whole simulated jobs: the order of the hooks' calls, stops by hooks, data that end,
// nodes that do not end, and the files and saves that a directory and its triggers lead to.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/prediction_case.hpp"
#include "words/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using texts = std::vector<std::string>;
using namespace std::chrono_literals;

/// Records its calls in a list that hooks may share. It has a gate at every state, and stops the job at `stops_at`.
struct signer : hook {
  std::string name;
  texts& book;
  std::optional<int64_t> stops_at;

  signer(std::string n, texts& b, std::optional<int64_t> at = {}) : name(std::move(n)), book(b), stops_at(at) {}
  void sign(const std::string& what, int64_t step) { book.push_back(what + " " + std::to_string(step) + " " + name); }
  needs begin(int64_t step) override {
    sign("begin", step);
    return {.steps = {{.first = step + 1, .every = 1, .gate = true}}};
  }
  void on_step(const step_facts& facts, job_control& job) override {
    sign("state", facts.step);
    if (facts.step == stops_at)
      job.stop();
  }
  void on_event(const job_event& e, job_control&) override {
    if (e.what == kind::started || e.what == kind::finished)
      sign(std::string{to_string(e.what)}, e.step);
  }
  void end(int64_t step) override { sign("end", step); }
  void on_abort(const error&) override { sign("abort", -1); }
};

/// Runs the job to its end. A replica spends the time `takes` on each message.
train_result run_session(training_job description, std::vector<job_event>* events = nullptr,
                         std::chrono::nanoseconds takes = 0s) {
  description.basis.deadlines.start += 10 * std::chrono::ceil<std::chrono::milliseconds>(takes);
  auto prepared = prepare(std::move(description));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  world_conditions conditions;
  if (takes > 0s)
    conditions.cost["replica"] = {takes, takes};
  simulated_job job{std::move(*prepared), 1, conditions};
  auto result = run_to_end(job);
  CHECK(job.left().empty());
  if (events)
    *events = job.events();
  return result;
}

/// The small job with the configuration `config`.
training_job configured(const small_job_options& o, run_config config) {
  auto job = describe_small(o);
  config.seed = 7;
  const auto settled = resolve_config(config);
  REQUIRE_MESSAGE(settled, (settled ? "" : to_text(settled.error())));
  job.basis.config = *settled;
  return job;
}

/// The states that a job of 65 steps saves, which must take more than 800 s.
steps saved_in_800_s(const small_job_options& o, const run_config& config) {
  std::vector<job_event> events;
  run_session(configured(o, config), &events, 40s);
  CHECK(events.back().seconds > 800);
  return steps_of(events, kind::saved);
}

bool has_tag(const std::vector<log_event>& events, const std::string& tag) {
  return std::any_of(events.begin(), events.end(), [&](const log_event& e) {
    return std::any_of(e.values.begin(), e.values.end(), [&](const summary_value& v) { return v.tag == tag; });
  });
}

/// A model whose variable counts the steps. At step 10 t, for t from 1 to 5, its loss in evaluation is .5, .4, .45, .41
/// and .04, and "gain" is 1 - loss.
model counting_model() {
  return model{"counting", [](graph& g, const features& x, const labels&, mode m) {
                 const symbol one = g.constant(tensor::scalar(1.0f));
                 const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::zeros()});
                 const symbol each = mul(scale(x["x"], 0) + one, w);
                 if (m == mode::train)
                   return model_spec{
                       .mode = m, .loss = scale(reduce_mean(each), -1), .optimizer = gradient_descent{.rate = 1}};
                 const symbol a = scale(each, 0.1) - one;
                 const symbol b = mul(a, a - one);
                 const symbol c = mul(b, a - scale(one, 2));
                 const symbol loss = scale(one, 0.5) - scale(a, 0.1) + scale(b, 0.075) - scale(c, 0.04);
                 const ratio_metric gain{.total = reduce_sum(one - loss), .weight = reduce_sum(scale(x["x"], 0) + one)};
                 return model_spec{.mode = m, .loss = reduce_mean(loss), .metrics = {{"gain", gain}}};
               }};
}

}  // namespace

TEST_CASE(
    "[SUP-9] two hooks are called one after the other at each begin, state, event and end, and nobody after the job "
    "has closed") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    texts book;
    simulated_job job{
        prepare_small(
            {.max_steps = 2, .hooks = {std::make_shared<signer>("A", book), std::make_shared<signer>("B", book)}}),
        seed};
    for (int64_t ran = 0; !job.ended();) {
      REQUIRE(job.crank());
      if (job.progress().step > ran)
        book.push_back("run to " + std::to_string(ran = job.progress().step));
    }
    run_to_end(job);
    CHECK(job.left().empty());
    CHECK(book
          == texts{"begin 0 A", "begin 0 B", "started 0 A", "started 0 B", "run to 1", "state 1 A", "state 1 B",
                   "run to 2", "state 2 A", "state 2 B", "finished 2 A", "finished 2 B", "end 2 A", "end 2 B"});
  }
}

TEST_CASE("[SUP-13] where one hook asks to stop at a state the other is still shown it, and nothing is run beyond") {
  for (const bool first_asks : {true, false})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      texts book;
      const std::optional<int64_t> there = 3;
      small_job_options o{.replicas = 2,
                          .hooks = {std::make_shared<signer>("A", book, first_asks ? there : std::nullopt),
                                    std::make_shared<signer>("B", book, first_asks ? std::nullopt : there)}};
      simulated_job job{prepare_small(o), seed};
      const auto result = run_to_end(job);
      CHECK(result.stopped);
      CHECK(result.global_step == 3);
      CHECK(newest_checkpoint(o.files).content.id.step == 3);
      CHECK(book
            == texts{"begin 0 A", "begin 0 B", "started 0 A", "started 0 B", "state 1 A", "state 1 B", "state 2 A",
                     "state 2 B", "state 3 A", "state 3 B", "end 3 A", "end 3 B"});
      job.ask(request::save);  // There is nobody left to run for.
      CHECK(job.progress().step == 3);
    }
}

TEST_CASE(
    "[SUP-14] data that end in run 4 show hooks no fourth state, end them, and are no error of the job, which says "
    "so") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    texts book;
    const auto source = fake_batches(3);
    const small_job_options o{.max_steps = 10,
                              .input = dataset_over(source),
                              .hooks = {std::make_shared<signer>("A", book), std::make_shared<signer>("B", book)},
                              .source = echo_model()};
    simulated_job job{prepare_small(o), seed};
    const auto result = run_to_end(job);
    CHECK(result.global_step == 3);
    CHECK(result.remark == "the data ended at step 3, before max_steps 10");
    CHECK_FALSE(result.stopped);
    CHECK(source->reads == steps{0, 1, 2});
    CHECK(book
          == texts{"begin 0 A", "begin 0 B", "started 0 A", "started 0 B", "state 1 A", "state 1 B", "state 2 A",
                   "state 2 B", "state 3 A", "state 3 B", "finished 3 A", "finished 3 B", "end 3 A", "end 3 B"});
  }
}

TEST_CASE(
    "[SUP-23] a node that does not end at closing is waited for up to the stop deadline, and named in the result of a "
    "job that ended well") {
  struct last_call : hook {
    bool came = false;
    void end(int64_t) override { came = true; }
  };
  for (const std::string node : {"infeed/0", "replica/1", "outfeed", "checkpoint_writer"}) {
    CAPTURE(node);
    const auto last = std::make_shared<last_call>();
    small_job_options o{.replicas = 2, .hooks = {last}};
    auto description = describe_small(o);
    description.basis.deadlines.stop = 120s;
    simulated_job job{*prepare(std::move(description)), 1};
    REQUIRE(job.crank_until([&] { return last->came; }));
    job.hang(node);
    const auto began = job.now();
    const auto result = run_to_end(job);
    CHECK(job.now() - began >= 120s);
    CHECK(job.now() - began < 121s);
    CHECK(result.global_step == 20);
    CHECK(result.remark == node + " did not end in time");
    CHECK(newest_checkpoint(o.files).content.id.step == 20);
  }
  CHECK(chief_deadlines{}.stop == 30s);
}

TEST_CASE(
    "[SUP-26] a job without a directory writes nothing; with one, by default, rate and summaries of every 100 steps, "
    "before the checkpoint of a state") {
  small_job_options o{.max_steps = 200};
  std::vector<job_event> events;
  SUBCASE("none") {
    const auto description = configured(o, {});
    const auto job = *prepare(description);
    const auto& plan = job->plan;
    CHECK(plan.all(role::summary_writer, plan.find(role::chief, no_node)->id).empty());
    CHECK_FALSE(plan.saves());
    CHECK(run_session(description, &events).checkpoint.empty());
    CHECK(steps_of(events, kind::saved).empty());
    const auto root = o.files->list("/");
    CHECK((!root || root->empty()));
  }
  SUBCASE("one") {
    CHECK(run_session(configured(o, {.model_dir = "/run"}), &events, 1ms).checkpoint == "/run/model.ckpt-200");
    CHECK(steps_of(events, kind::saved) == steps{0, 200});
    CHECK(steps_of(events, kind::progress) == steps{100, 200});
    texts written;
    for (const auto& e : events_in(*o.files, "/run")) {
      if (e.note)
        written.push_back((e.note->what == session_note::kind::start ? "start " : "checkpoint ")
                          + std::to_string(e.step));
      for (const auto& v : e.values)
        if (v.tag == "loss" || v.tag == "global_step/sec")
          written.push_back(v.tag + " " + std::to_string(e.step));
    }
    CAPTURE(joined(written));
    CHECK(written == texts{"start 1", "checkpoint 0", "loss 100", "loss 200", "global_step/sec 200", "checkpoint 200"});
  }
}

TEST_CASE(
    "[SUP-27] saves by steps switch those by time off, none of either saves nothing, both are refused, and without log "
    "steps nothing is logged") {
  small_job_options o{.max_steps = 65};
  const steps tens{0, 10, 20, 30, 40, 50, 60, 65};
  CHECK(saved_in_800_s(o, {.model_dir = "/run", .save_checkpoints_steps = 10}) == tens);
  o.files = memory_disk::make();
  const auto by_time = saved_in_800_s(o, {.model_dir = "/run"});
  CHECK_MESSAGE(by_time.size() >= 3, "at the start, each 600 s, and at the end");
  CHECK_MESSAGE(by_time.size() < tens.size(), by_time.size());
  o.files = memory_disk::make();
  CHECK(saved_in_800_s(
            o, {.model_dir = "/run", .save_checkpoints_steps = std::nullopt, .save_checkpoints_secs = std::nullopt})
            .empty());

  const auto both = resolve_config({.model_dir = "/run", .save_checkpoints_steps = 10, .save_checkpoints_secs = 60.0});
  REQUIRE_FALSE(both);
  CHECK(both.error().category == errc::invalid_argument);
  CHECK(both.error().message
        == "at most one of save_checkpoints_steps (10) and save_checkpoints_secs (60) may have a value");

  o = {.max_steps = 200};
  for (const std::optional<int64_t> every : {std::optional<int64_t>{100}, {}}) {
    o.files = memory_disk::make();
    std::vector<job_event> events;
    run_session(configured(o, {.model_dir = "/run", .log_step_count_steps = every}), &events, 1ms);
    CHECK(steps_of(events, kind::progress) == (every ? steps{100, 200} : steps{}));
    CHECK(has_tag(events_in(*o.files, "/run"), "global_step/sec") == every.has_value());
  }
  o.files = memory_disk::make();
  run_session(configured(o, {.model_dir = "/run", .save_summary_steps = 0}), nullptr, 1ms);
  CHECK_FALSE(has_tag(events_in(*o.files, "/run"), "global_step/sec"));
  const auto zero = resolve_config({.model_dir = "/run", .log_step_count_steps = 0});
  REQUIRE_FALSE(zero);
  CHECK(zero.error().category == errc::invalid_argument);
  CHECK(zero.error().message == "log_step_count_steps must be at least 1, not 0");
}

TEST_CASE("summaries by seconds are of the first step, and of the next one that is made after each period") {
  const small_job_options o{.max_steps = 65};
  std::vector<job_event> events;
  run_session(configured(o, {.model_dir = "/run", .save_summary_steps = 1, .save_summary_secs = 100}), &events, 40s);
  const auto seconds = events.back().seconds;
  REQUIRE(seconds > 800);
  steps recorded;
  for (const auto& e : events_in(*o.files, "/run"))
    for (const auto& v : e.values)
      if (v.tag == "loss")
        recorded.push_back(e.step);
  REQUIRE_FALSE(recorded.empty());
  CHECK(recorded.front() == 1);
  CHECK(std::is_sorted(recorded.begin(), recorded.end()));
  CHECK(std::ssize(recorded) >= 4);
  CHECK(static_cast<double>(std::ssize(recorded)) <= seconds / 100 + 1);
}

TEST_CASE(
    "[SUP-53] losses .5, .4, .45, .41 at steps 10 to 40 end a job that may go 20 steps without a better one at 40; the "
    "best is at 20") {
  small_job_options o{.max_steps = 100, .save_steps = 10, .evaluates = true, .source = counting_model()};
  auto job = describe_small(o);
  std::vector<job_event> events;
  const auto ends_at_40 = [&] {
    const auto result = run_session(job, &events);
    CHECK(steps_of(events, kind::evaluated) == steps{10, 20, 30, 40});
    CHECK(result.global_step == 40);
    CHECK(result.best_checkpoint == "/run/model.ckpt-20");
    CHECK(result.checkpoint == result.best_checkpoint);
    CHECK(result.metrics.at("global_step") == 20);
    CHECK(result.metrics.at("loss") == doctest::Approx(0.4));
    CHECK(result.metrics.at("gain") == doctest::Approx(0.6));
    CHECK_MESSAGE(result.remark.ends_with("at step 20 and no better up to step 40"), result.remark);
    return result.remark;
  };
  SUBCASE("the least loss") {
    job.stop_early = {stop_if_no_decrease("loss", 20)};
    job.keep_best = keep_best{.restore_best = true};
    CHECK(ends_at_40().starts_with("ended early: no decrease of loss within 20 steps: loss was 0."));
    const double losses[] = {.5, .4, .45, .41};
    size_t seen = 0;
    for (const auto& e : events)
      if (e.what == kind::evaluated)
        CHECK(e.metrics.at("loss") == doctest::Approx(losses[seen++]));
  }
  SUBCASE("the greatest gain") {
    job.stop_early = {stop_if_no_increase("gain", 20)};
    job.keep_best = keep_best{.goal = {.metric = "gain", .smaller_is_better = false}, .restore_best = true};
    CHECK(ends_at_40().starts_with("ended early: no increase of gain within 20 steps: gain was 0."));
  }
  SUBCASE("a metric that there is not") {
    job.stop_early = {stop_if_no_increase("auc", 20)};
    const auto refused = prepare(job);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::invalid_argument);
    CHECK(refused.error().message.ends_with(
        "asks for the metric 'auc', which the evaluation does not have; it has gain, global_step, loss"));
  }
}

}  // namespace troupe::test
