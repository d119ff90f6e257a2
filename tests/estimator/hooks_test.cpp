// Ready-made hooks, and hooks of evaluations and predictions, as a user's program calls them.
#include "small_start.hpp"
#include "support/prediction_case.hpp"
#include "tests/support/has.hpp"

#include <troupe/hooks.hpp>
#include <troupe/predict.hpp>
#include <troupe/step_timer.hpp>

#include <doctest/doctest.h>

#include <numeric>

namespace troupe::test {

namespace {

using lines = std::vector<std::string>;

line_writer into(lines& all) {
  return [&all](const std::string& line) { all.push_back(line); };
}

/// Records the requests that a hook makes of a job.
struct kept_requests final : job_control {
  bool stopped = false;
  std::vector<double> factors;
  void save() override {}
  void stop() override { stopped = true; }
  void scale_rate(double factor) override { factors.push_back(factor); }
};

step_facts at(int64_t step, double seconds, float loss) { return {step, seconds, {{"loss", tensor::scalar(loss)}}}; }

/// Records its calls. It stops the job at batch `stops_at`, and throws in the call `throws_in`.
struct recorder_hook final : hook {
  lines calls;
  std::vector<float> losses;
  int64_t stops_at = -1;
  std::string throws_in = {};

  void note(const std::string& what, const std::string& call) {
    calls.push_back(call);
    if (what == throws_in)
      throw std::runtime_error{"not today"};
  }
  needs begin(int64_t step) override {
    note("begin", "begin " + std::to_string(step));
    return {.steps = {{.first = 1, .every = 1}}};
  }
  void on_event(const job_event& e, job_control&) override {
    note("event", std::string{to_string(e.what)} + " " + std::to_string(e.step));
  }
  void on_step(const step_facts& facts, job_control& job) override {
    note("step", "step " + std::to_string(facts.step));
    if (facts.values.contains("loss"))
      losses.push_back(facts.values.at("loss").as<float>()[0]);
    if (facts.step == stops_at)
      job.stop();
  }
  void end(int64_t step) override { note("end", "end " + std::to_string(step)); }
  void on_abort(const error& cause) override { note("abort", "abort: " + cause.message); }
};

/// A model whose loss is the mean of x · w, where w is 1 at first. Its only prediction is "product", x · w.
estimator mean_model() {
  return {model{"mean",
                [](graph& g, const features& x, const labels&, mode m) {
                  const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
                  const auto product = mul(x["x"], w);
                  model_spec spec{.mode = m, .loss = reduce_mean(product), .optimizer = gradient_descent{}};
                  spec.predictions["product"] = product;
                  return spec;
                }},
          {}};
}

}  // namespace

TEST_CASE(
    "[EST-42] a timer has the logs of 30 runs at 1, 11 and 21, as the Estimator; a job logs every tenth step, and the "
    "last where wanted, by name in the order of names; two triggers or none are refused") {
  auto timer = *step_timer::every_steps(10);
  std::vector<int64_t> due;
  for (int64_t run = 1; run <= 30; ++run)
    if (timer.due(run, 0)) {
      timer.trigger(run, 0);
      due.push_back(run);
    }
  CHECK(due == std::vector<int64_t>{1, 11, 21});

  lines said;
  auto by_steps = log_values({.every_steps = 10, .at_end = true, .write = into(said)});
  REQUIRE(by_steps);
  const auto directory = temporary_directory{};
  REQUIRE_MESSAGE(train(small_estimator(directory / "run"), small_training(25, {*by_steps})), "");
  REQUIRE(said.size() == 3);
  CHECK(said[0].starts_with("step 10: loss "));
  CHECK(said[0].find('(') == std::string::npos);
  CHECK(said[1].starts_with("step 20: loss "));
  CHECK(said[1].ends_with(" s)"));
  CHECK(said[2].starts_with("step 25: loss "));

  said.clear();
  auto last = log_values({.at_end = true, .write = into(said)});
  REQUIRE(last);
  REQUIRE(train(small_estimator(directory / "run"), small_training(30, {*last})));
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("step 30: loss "));

  said.clear();
  const auto names = *log_values({.values = {"z", "a"}, .every_steps = 10, .write = into(said)});
  kept_requests job;
  CHECK(names->begin(0).values == std::vector<std::string>{"z", "a"});
  names->on_step({10, 1, {{"z", tensor::scalar(1.0f)}, {"loss", tensor::scalar(0.5f)}, {"a", tensor::scalar(2.0f)}}},
                 job);
  CHECK(said == lines{"step 10: a 2, loss 0.5, z 1"});

  CHECK(log_values({}).error()
        == error{errc::invalid_argument, "a timer needs either every_steps or every_secs, and neither is given"});
  CHECK(log_values({.every_steps = 10, .every_secs = 1.0}).error()
        == error{errc::invalid_argument, "a timer needs either every_steps or every_secs, and both are given"});
  CHECK(log_values({.every_steps = 0}).error().category == errc::invalid_argument);
  CHECK(log_values({.every_secs = 1.0, .look_every = 0}).error().message == "look_every must be above 0, not 0");
}

TEST_CASE(
    "values are logged by seconds at the first step that is looked at, then once these have passed, and at the end") {
  lines said;
  const auto log = *log_values({.every_secs = 2.0, .at_end = true, .look_every = 5, .write = into(said)});
  kept_requests job;
  const auto wanted = log->begin(0);
  REQUIRE(wanted.steps.size() == 1);
  CHECK(wanted.steps[0].first == 5);
  CHECK(wanted.steps[0].every == 5);
  CHECK(wanted.last);
  for (const auto& facts : {at(5, 1, 0.5f), at(10, 2.5, 0.4f), at(15, 3, 0.25f), at(18, 3.5, 0.125f)})
    log->on_step(facts, job);
  log->end(18);
  CHECK(said == lines{"step 5: loss 0.5", "step 15: loss 0.25 (2.00 s)", "step 18: loss 0.125 (0.50 s)"});
}

TEST_CASE("a job stops at the first step that is looked at once the time has come") {
  auto now = std::chrono::system_clock::time_point{};
  const auto hook = *stop_at_time({.at = std::chrono::system_clock::time_point{std::chrono::seconds{60}},
                                   .look_every = 10,
                                   .now = [&now] { return now; }});
  CHECK(hook->begin(0).steps.front().every == 10);
  kept_requests job;
  now += std::chrono::seconds{59};
  hook->on_step(at(10, 0, 1), job);
  CHECK_FALSE(job.stopped);
  now += std::chrono::seconds{1};
  hook->on_step(at(20, 0, 1), job);
  CHECK(job.stopped);
}

TEST_CASE(
    "a plateau is as many evaluations without an improvement as are borne and one more; a pause follows, and the rate "
    "has a lower bound") {
  const auto history = [](std::vector<double> losses) {
    evaluation_history all;
    for (const double loss : losses)
      all.push_back({static_cast<int64_t>(all.size() + 1) * 10, {{"accuracy", 1 - loss}, {"loss", loss}}});
    return all;
  };
  const auto reductions = [&](reduce_on_plateau_options options, std::vector<double> losses) {
    return look_for_plateau(options, history(std::move(losses)))->reductions;
  };
  // The expected numbers are those of torch.optim.lr_scheduler.ReduceLROnPlateau(threshold_mode='abs'), version 2.
  CHECK(reductions({.patience = 1}, {1, 1}) == 0);
  CHECK(reductions({.patience = 1}, {1, 1, 1}) == 1);
  CHECK(reductions({.patience = 1}, {1, 1, 0.5, 1}) == 0);
  CHECK(reductions({.patience = 1}, {1, 1, 1, 1, 1}) == 2);
  CHECK(reductions({.patience = 1, .cooldown = 1}, {1, 1, 1, 1, 1}) == 1);
  CHECK(reductions({.patience = 1, .cooldown = 1}, {1, 1, 1, 1, 1, 1}) == 2);
  CHECK(reductions({.patience = 0, .min_delta = 0.1}, {1, 0.95, 0.94}) == 2);
  CHECK(reductions({.patience = 0, .min_delta = 0.1}, {1, 0.8}) == 0);
  CHECK(reductions({.goal = {.metric = "accuracy", .smaller_is_better = false}, .patience = 0}, {1, 0.5, 0.5}) == 1);
  CHECK(reductions({.patience = 0}, {1, std::nan("")}) == 1);
  const auto bounded = *look_for_plateau({.factor = 0.1, .patience = 0, .min_factor = 0.05}, history({1, 1, 1, 1}));
  CHECK(bounded.rate_factor == 0.05);
  CHECK(bounded.reductions == 2);
  const auto missing = look_for_plateau({.goal = {.metric = "auc"}}, history({1}));
  CHECK(missing.error().category == errc::key_missing);
  CHECK(missing.error().message
        == "reduce_on_plateau asks for the metric 'auc'; the evaluation of step 10 has accuracy, loss");

  for (const auto& wrong : std::vector<reduce_on_plateau_options>{{.goal = {.metric = ""}},
                                                                  {.factor = 0},
                                                                  {.factor = 1},
                                                                  {.patience = -1},
                                                                  {.min_delta = -1},
                                                                  {.cooldown = -1},
                                                                  {.min_factor = 2}}) {
    const auto refused = reduce_on_plateau(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::invalid_argument);
    CHECK(refused.error().message.starts_with("reduce_on_plateau: "));
  }
}

TEST_CASE(
    "a plateau goes on with the history of earlier runs up to where the job begins, and forgets what a recovery takes "
    "back") {
  const evaluation_history earlier{{10, {{"loss", 1}}}, {20, {{"loss", 1}}}, {30, {{"loss", 0.5}}}};
  const auto hook = *reduce_on_plateau({.factor = 0.5, .patience = 1, .history = earlier});
  CHECK(hook->begin(20).holds.evaluated);
  kept_requests job;
  const auto evaluated = [&](int64_t step, double loss) {
    hook->on_event({.what = job_event::kind::evaluated, .step = step, .metrics = {{"loss", loss}}}, job);
  };
  evaluated(30, 1);
  CHECK(job.factors == std::vector<double>{0.5});
  hook->on_event({.what = job_event::kind::recovered, .step = 20}, job);
  evaluated(30, 0.9);
  CHECK(job.factors.size() == 1);
  hook->on_event({.what = job_event::kind::evaluated, .step = 40, .metrics = {{"loss", 1}}, .evaluation = "train"},
                 job);
  evaluated(40, 1);
  CHECK(job.factors.size() == 1);
  evaluated(50, 1);
  CHECK(job.factors == std::vector<double>{0.5, 0.5});
}

TEST_CASE(
    "[EST-33] the progress of an evaluation is told after every batch, or, where 20 and more are asked for, after "
    "every tenth of them and the last; empty data are an error") {
  const auto told = [](std::optional<int64_t> steps, int64_t batches) {
    lines said;
    const auto result = evaluate(
        mean_model(),
        {.input = dataset_over(fake_batches(batches)), .steps = steps, .hooks = {log_evaluation_progress(into(said))}});
    REQUIRE_MESSAGE(result, why(result));
    return said;
  };
  const auto numbered = [](std::vector<int64_t> batches, const std::string& of) {
    lines all;
    for (const auto b : batches)
      all.push_back("evaluated " + std::to_string(b) + of + " batches");
    return all;
  };
  std::vector<int64_t> all(19);
  std::iota(all.begin(), all.end(), 1);
  CHECK(told(19, 19) == numbered(all, " of 19"));
  all.resize(25);
  std::iota(all.begin(), all.end(), 1);
  CHECK_MESSAGE(told(std::nullopt, 25) == numbered(all, ""), "nobody knows how many there will be");
  CHECK(told(20, 20) == numbered({2, 4, 6, 8, 10, 12, 14, 16, 18, 20}, " of 20"));
  CHECK(told(25, 25) == numbered({2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 25}, " of 25"));
  const auto empty = evaluate(mean_model(), {.input = dataset_over(fake_batches(0))});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().category == errc::out_of_range);
  CHECK(has(empty.error().message, "no batches"));
}

TEST_CASE(
    "hooks of an evaluation see its batches and its end; one that stops ends it with the batches up to that one") {
  const auto watcher = std::make_shared<recorder_hook>();
  const auto result = evaluate(mean_model(), {.input = dataset_over(fake_batches(3)), .hooks = {watcher}});
  REQUIRE_MESSAGE(result, why(result));
  CHECK(watcher->calls == lines{"begin 0", "started 0", "step 1", "step 2", "step 3", "finished 0", "end 3"});
  REQUIRE(watcher->losses.size() == 3);
  CHECK(std::accumulate(watcher->losses.begin(), watcher->losses.end(), 0.0f) / 3
        == doctest::Approx(result->metrics.at("loss")));

  const auto stopper = std::make_shared<recorder_hook>();
  stopper->stops_at = 2;
  const auto stopped = evaluate(mean_model(), {.input = dataset_over(fake_batches(100)), .hooks = {stopper}});
  REQUIRE_MESSAGE(stopped, why(stopped));
  CHECK(stopped->batches == 2);
  CHECK(stopped->metrics.at("loss") == doctest::Approx((stopper->losses[0] + stopper->losses[1]) / 2));
  CHECK(stopper->calls.back() == "end 2");

  for (const std::string call : {"begin", "event", "step", "end"}) {
    const auto bad = std::make_shared<recorder_hook>();
    bad->throws_in = call;
    const auto failed = evaluate(mean_model(), {.input = dataset_over(fake_batches(3)), .hooks = {bad}});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().category == errc::state);
    CHECK(has(failed.error().message, "of hooks[0] ("));
    CHECK(failed.error().message.ends_with("not today"));
  }
  CHECK(evaluate(mean_model(), {.input = dataset_over(fake_batches(3)), .hooks = {nullptr}}).error().message
        == "hooks[0] of an evaluation is null; leave it out");
}

TEST_CASE(
    "[EST-37] a prediction that is abandoned after one example calls end of its hooks; two interleaved streams give "
    "what each alone gives") {
  const auto watcher = std::make_shared<recorder_hook>();
  {
    auto stream = predict(mean_model(), {.input = dataset_over(fake_batches(5)), .hooks = {watcher}});
    REQUIRE(stream);
    CHECK(watcher->calls.empty());
    REQUIRE(stream->next());
    CHECK(watcher->calls == lines{"begin 0", "step 1"});
  }
  CHECK(watcher->calls == lines{"begin 0", "step 1", "finished 0", "end 1"});

  const auto all_of = [](prediction_stream& stream) {
    std::vector<tensor> all;
    for (const auto& one : stream)
      all.push_back(one.values.at("product"));
    return all;
  };
  const auto e = mean_model();
  const auto stream_of = [&e](int64_t batches) {
    return predict(e, {.input = dataset_over(fake_batches(batches, 2))});
  };
  auto alone = stream_of(3), other_alone = stream_of(4);
  const auto wanted = all_of(*alone), wanted_of_other = all_of(*other_alone);
  REQUIRE(wanted.size() == 10);
  REQUIRE(wanted_of_other.size() == 14);
  auto a = stream_of(3), b = stream_of(4);
  std::vector<tensor> of_a, of_b;
  for (size_t i = 0; i < wanted.size(); ++i) {
    of_a.push_back((*a->next())->values.at("product"));
    of_b.push_back((*b->next())->values.at("product"));
  }
  CHECK_FALSE(*a->next());
  for (const auto& value : all_of(*b))
    of_b.push_back(value);
  CHECK(of_a == wanted);
  CHECK(of_b == wanted_of_other);

  const auto stopper = std::make_shared<recorder_hook>();
  stopper->stops_at = 2;
  auto stopped = predict(mean_model(),
                         {.input = dataset_over(fake_batches(5)), .single_examples = false, .hooks = {stopper}});
  CHECK(all_of(*stopped).size() == 2);
  CHECK(stopped->status());
  CHECK(stopper->calls.back() == "end 2");
}

}  // namespace troupe::test
