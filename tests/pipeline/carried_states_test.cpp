// Carried states in whole jobs: what steps see, and that kills, resumptions, deaths and other numbers of replicas
// change no bit.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/has.hpp"

#include <troupe/input_function.hpp>
#include <troupe/metrics.hpp>
#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A recurrent classifier: its memory of 5 numbers a row goes on from batch to batch. A second state counts the steps
/// of a loop.
model remembering_model() {
  return {
      "remembering", [](graph& g, const features& x, const labels& y, mode m) {
        const auto batch = x["x"].dims().front();
        const auto before = g.state({.name = "memory", .dims = {batch, 5}});
        const auto steps = g.state({.name = "steps", .dims = {batch}, .lasts = lifetime::loop});
        const auto both = concat({x["x"], before}, 1);
        const auto after = tanh(nn::dense(both, {.units = 5}) + 0.01f * reshape(steps, {batch, 1}));
        g.carry(before, stop_gradient(after));
        g.carry(steps, steps + 1);
        const auto kept = dropout(after, 0.2, m == mode::train);
        return multi_class_head{.classes = 3}.spec(
            g,
            {.mode = m, .logits = nn::dense(kept, {.units = 3}), .labels = y.only(), .optimizer = adam{.rate = 0.01f}});
      }};
}

/// Counts the steps in every row, over a loop or the run. The loss is the count; its gradient is zero.
model counting_model(lifetime lasts) {
  return {"counting", [lasts](graph& g, const features& x, const labels&, mode m) {
            const auto count = g.state({.name = "count", .dims = {x["x"].dims().front()}, .lasts = lasts});
            g.carry(count, count + 1);
            const auto w = g.variable({.name = "w", .dims = {1}});
            if (m == mode::train)
              g.observe("count", count);
            model_spec spec;
            spec.mode = m;
            spec.loss = reduce_mean(count) + 0.f * reduce_sum(w);
            spec.predictions = {{"count", count}};
            if (m == mode::evaluate)
              spec.metrics["squares"] = {reduce_sum(square(count)), reduce_sum(count * 0 + 1)};
            spec.optimizer = gradient_descent{};
            return spec;
          }};
}

/// Records the values of the state that every step reads.
struct counts_seen : hook {
  std::vector<float> all;
  needs begin(int64_t step) override {
    return {.steps = {{.first = step + 1, .every = 1}}, .last = true, .values = {"count"}};
  }
  void on_step(const step_facts& facts, job_control&) override {
    const auto rows = facts.values.at("count").as<float>();
    CHECK(std::all_of(rows.begin(), rows.end(), [&](float x) { return x == rows.front(); }));
    all.push_back(rows.front());
  }
};

small_job_options remembering(const std::shared_ptr<memory_disk>& disk = memory_disk::make()) {
  return {.max_steps = 20,
          .shards = 4,
          .input = small_dataset().batch(4).repeat(),
          .files = disk,
          .source = remembering_model(),
          .loop = 3};
}

std::vector<float> numbers(std::initializer_list<int> all) { return {all.begin(), all.end()}; }

}  // namespace

TEST_CASE(
    "[DF-36] a state that adds 1 per step is seen as 0,1,2,3 in every loop of 4, as 0..9 over the run, as 0..4 in each "
    "evaluation") {
  for (const auto lasts : {lifetime::loop, lifetime::run})
    for (const int64_t replicas : {1, 2}) {
      const auto seen = std::make_shared<counts_seen>();
      small_job_options o{.max_steps = 10,
                          .save_steps = 5,
                          .replicas = replicas,
                          .input = small_dataset().batch(4).repeat(),
                          .hooks = {seen},
                          .source = counting_model(lasts),
                          .loop = 4};
      auto d = describe_small(o);
      d.evaluations = {
          {.data = {.input = small_dataset(20).batch(4)}, .throttle_secs = 0, .when = evaluation_mode::waits}};
      std::vector<job_event> events;
      run_to_end(std::move(d), 1, &events);
      CHECK(seen->all
            == (lasts == lifetime::loop ? numbers({0, 1, 2, 3, 0, 1, 2, 3, 0, 1})
                                        : numbers({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})));
      int evaluations = 0;
      for (const auto& e : events)
        if (e.what == job_event::kind::evaluated) {
          CHECK(e.metrics.at("loss") == 2);     // The mean of 0..4.
          CHECK(e.metrics.at("squares") == 6);  // (0 + 1 + 4 + 9 + 16) / 5.
          ++evaluations;
        }
      CHECK(evaluations >= 2);
    }
}

TEST_CASE("[DF-24] loops of 4 in 10 steps begin at 0, 4 and 8, and a job that stops within one resumes within it") {
  const auto seen = std::make_shared<counts_seen>();
  small_job_options o{.max_steps = 6,
                      .input = small_dataset().batch(4).repeat(),
                      .hooks = {seen},
                      .source = counting_model(lifetime::loop),
                      .loop = 4};
  run_to_end(o);
  o.max_steps = 10;
  run_to_end(o);
  CHECK(seen->all == numbers({0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST_CASE(
    "states end in the same bits with 1, 2 and 4 replicas that meet or have a reducer, on threads and simulated") {
  const auto one = state_at_end(remembering());
  CHECK(std::any_of(one.tensors.begin(), one.tensors.end(), [](const named_tensor& t) {
    return t.name == "memory" && t.value.dims() == shape{4, 5} && t.value.as<float>()[7] != 0;
  }));
  for (const auto& [replicas, reducers] : {std::pair{2, false}, {4, false}, {2, true}, {4, true}})
    for (const bool threads : {false, true}) {
      CAPTURE(replicas);
      CAPTURE(reducers);
      CAPTURE(threads);
      auto o = remembering();
      o.replicas = replicas;
      o.reducers = reducers;
      if (!threads) {
        CHECK(same_state(state_at_end(o, 3), one));
        continue;
      }
      const auto running = local_launcher{}.train(prepare_small(o));
      const auto result = running->wait(soon);
      REQUIRE(result.has_value());
      REQUIRE_MESSAGE(result->has_value(), (result->has_value() ? "" : to_text(result->error())));
      CHECK(same_state(newest_checkpoint(o.files).content, one));
    }
}

TEST_CASE("a job that carries, killed at any turn, goes on to the bits of one that was not, with other replicas too") {
  const auto one = state_at_end(remembering());
  int64_t killed = 0;
  for (int64_t turns = 0;; turns += 13) {
    CAPTURE(turns);
    const auto disk = memory_disk::make();
    auto o = remembering(disk);
    o.replicas = turns % 2 == 0 ? 2 : 1;
    bool over = false;
    {
      simulated_job job{prepare_small(o), 2};
      for (int64_t i = 0; i < turns && !over; ++i)
        over = !job.crank() || job.ended();
    }
    if (turns % 3 == 0)
      disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = static_cast<uint64_t>(turns)});
    o.replicas = turns % 4 < 2 ? 1 : 4;
    CHECK(same_state(state_at_end(o, 3), one));
    killed += over ? 0 : 1;
    if (over)
      break;
  }
  CHECK(killed > 10);
}

TEST_CASE("a job that recovers from the death of a replica or a reader finds the rows of its last commit") {
  const auto one = state_at_end(remembering());
  for (const std::string node : {"replica/0", "replica/1", "infeed/0"})
    for (const int64_t at : {1, 7, 13}) {
      CAPTURE(node);
      CAPTURE(at);
      auto o = remembering();
      o.replicas = 2;
      o.recovers = 3;
      simulated_job job{prepare_small(o), 4};
      REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
      REQUIRE(job.kill(node));
      CHECK(same_state(state_at_end(job, o.files), one));
    }
}

TEST_CASE("a checkpoint of another batch size is refused, naming the state and both shapes") {
  auto o = remembering();
  o.max_steps = 5;
  run_to_end(o);
  o.input = small_dataset().batch(8).repeat();
  o.max_steps = 10;
  simulated_job job{prepare_small(o), 1};
  const auto why = failure_of(job);
  CHECK(why.category == errc::failed_precondition);
  CHECK_MESSAGE(has(why.message, "model.ckpt-5 was saved with another batch size: the state 'memory' has 4 rows"),
                why.message);
  CHECK_MESSAGE(has(why.message, "[4, 5]"), why.message);
  CHECK_MESSAGE(has(why.message, "[8, 5]"), why.message);
}

TEST_CASE("a partial batch ends a training job that carries, naming the state and the step") {
  auto o = remembering();
  o.shards = 1;
  o.input = small_dataset().batch(20, false).repeat();
  simulated_job job{prepare_small(o), 1};
  const auto why = failure_of(job);
  CHECK(why.category == errc::invalid_argument);
  CHECK(why.step == 2);
  CHECK(has(why.message, "a batch has 8 rows for this replica, and the model carries 'memory' for 20"));
}

TEST_CASE("evaluations of shown states and of checkpoints carry from the initial value on, and agree") {
  const auto losses = [](bool saves) {
    auto o = remembering();
    o.max_steps = 10;
    o.save_steps = saves ? 5 : 10;
    auto d = describe_small(o);
    d.evaluations = {
        {.data = small_evaluation(), .throttle_secs = 0, .every_steps = 5, .when = evaluation_mode::waits}};
    std::vector<job_event> events;
    run_to_end(std::move(d), 1, &events);
    std::map<int64_t, double> all;
    for (const auto& e : events)
      if (e.what == job_event::kind::evaluated)
        all[e.step] = e.metrics.at("loss");
    return all;
  };
  const auto saved = losses(true), shown = losses(false);
  CHECK(saved.contains(5));
  CHECK(saved == shown);
}

TEST_CASE(
    "[DF-39] a stream goes on in the same row and replica over consecutive batches, in every input mode, killed or "
    "not, "
    "and is reset where it begins") {
  // 4 streams of 12 rows each; the model compares what it remembers of the row before with what it is fed.
  std::vector<float> numbers_in_order(48);
  for (size_t i = 0; i < numbers_in_order.size(); ++i)
    numbers_in_order[i] = static_cast<float>(i);
  const auto streams = dataset::from_tensors({{"x", tensor::of<float>({48}, numbers_in_order)}})
                           ->streams(4, {.begins = "begins"});
  const model follows{"follows", [](graph& g, const features& x, const labels&, mode m) {
                        const auto before = g.state({.name = "before", .dims = {x["x"].dims().front()}});
                        g.carry(before, x["x"]);
                        const auto expected_next = select(x["begins"], x["x"], before + 1);
                        const auto w = g.variable({.name = "w", .dims = {1}});
                        model_spec spec;
                        spec.mode = m;
                        spec.loss = reduce_mean(abs(expected_next - x["x"])) + 0.f * reduce_sum(w);
                        spec.optimizer = gradient_descent{};
                        return spec;
                      }};
  struct losses : hook {
    std::vector<float> all;
    needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
    void on_step(const step_facts& facts, job_control&) override {
      all.push_back(facts.values.at("loss").as<float>()[0]);
    }
  };
  using by = input_mode;
  for (const auto& [replicas, mode, rows] : {std::tuple{1, by::per_host, 4},
                                             {2, by::per_host, 4},
                                             {2, by::sliced, 4},
                                             {2, by::per_core, 2},
                                             {2, by::per_replica, 2},
                                             {4, by::per_replica, 1},
                                             {2, by::broadcast, 4}}) {
    const auto seen = std::make_shared<losses>();
    small_job_options o{
        .max_steps = 15, .replicas = replicas, .input = streams.batch(rows).repeat(), .source = follows};
    const auto job_until = [&](int64_t end, const std::shared_ptr<losses>& hears) {
      o.max_steps = end;
      o.hooks = {hears};
      auto job = describe_small(o);
      job.basis.config.input_mode = mode;
      return job;
    };
    run_to_end(job_until(15, seen));
    {  // Killed in another process, which was over the end of an epoch.
      const auto prepared = prepare(job_until(30, std::make_shared<losses>()));
      REQUIRE(prepared);
      simulated_job job{*prepared, 5};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 22; }));
    }
    const auto from = newest_checkpoint(o.files).content.id.step;
    CHECK(from >= 15);
    CHECK(from < 30);
    run_to_end(job_until(30, seen));
    CHECK(seen->all == std::vector<float>(static_cast<size_t>(15 + 30 - from), 0));
  }
}

TEST_CASE("every input of an input function needs as many streams as it has rows") {
  for (const int32_t wrong : {0, 1}) {
    auto o = remembering();
    o.replicas = 2;
    o.input = from_input_function({.batch_size = 4, .name = "streams"}, [wrong](const input_context& c) {
      return small_dataset().streams(c.deployment.index == wrong ? 4 : 2).batch(2).repeat();
    });
    auto job = describe_small(o);
    job.basis.config.input_mode = input_mode::per_core;
    const auto prepared = prepare(std::move(job));
    REQUIRE_FALSE(prepared);
    CHECK_MESSAGE(has(prepared.error().message,
                      "the data of infeed/" + std::to_string(wrong)
                          + " are 4 streams in batches of 2: a row would go on with another stream; use streams(2)"),
                  prepared.error().message);
  }
}

TEST_CASE("data of another number of streams than rows are refused where the model carries, and only there") {
  auto o = remembering();
  o.input = small_dataset().streams(8).batch(4).repeat();
  const auto prepared = prepare(describe_small(o));
  REQUIRE_FALSE(prepared);
  CHECK(
      has(prepared.error().message,
          "the model carries 'memory' from batch to batch, and its data are 8 streams in batches of 4: a row would go "
          "on with another stream; use streams(4)"));
  o.source = small_model();
  CHECK(prepare(describe_small(o)));
  o.source = remembering_model();
  o.input = small_dataset().streams(4).batch(4).repeat();
  CHECK(prepare(describe_small(o)));
}

}  // namespace troupe::test
