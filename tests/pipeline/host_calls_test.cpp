// Host calls in whole jobs: which steps they are made for and with what, in every mode, and after failures.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/has.hpp"

#include <troupe/host_call.hpp>

#include <doctest/doctest.h>

#include <map>

namespace troupe::test {

namespace {

/// A call that was made.
struct made_call {
  int64_t step = 0;
  mode what = mode::train;
  std::map<std::string, tensor> tensors;
};
using made_calls = std::vector<made_call>;

steps steps_of_calls(const made_calls& all) {
  steps of;
  for (const auto& c : all)
    of.push_back(c.step);
  return of;
}

steps up_to(int64_t last) {
  steps all;
  for (int64_t s = 1; s <= last; ++s)
    all.push_back(s);
  return all;
}

/// The small model, which gives its input and one number of each shard to the call "seen".
model calling_model(host_call_function function, int64_t every = 1) {
  auto source = small_model();
  source.name = "calling";
  source.build = [inner = source.build, every](graph& g, const features& x, const labels& y, mode m) {
    auto spec = inner(g, x, y, m);
    host_call_options call{.name = "seen", .tensors = {{"x", x["x"]}}, .every = every};
    if (m != mode::predict)
      call.tensors["loss"] = reshape(spec.loss, {1});
    g.host_call(call);
    return spec;
  };
  source.host_calls["seen"] = std::move(function);
  return source;
}

host_call_function keep_in(made_calls& all) {
  return [&all](host_call_step& step) { all.push_back({step.step(), step.mode(), step.tensors()}); };
}

small_job_options calling(made_calls& all, int64_t every = 1) {
  return {.max_steps = 12,
          .shards = 4,
          .input = small_dataset().batch(4).repeat(),
          .source = calling_model(keep_in(all), every)};
}

}  // namespace

TEST_CASE("[DF-40] rows of two replicas, 0, 1 and 2, 3, come as 0, 1, 2, 3, and a [1] has a value of each shard") {
  made_calls all;
  auto o = calling(all);
  o.replicas = 2;
  o.input = dataset::from_tensors({{"x", tensor::of<float>({4, 1}, {0, 1, 2, 3})}},
                                  {{"y", tensor::of<int32_t>({4}, {0, 1, 2, 0})}})
                ->batch(4)
                .repeat();
  run_to_end(o);
  CHECK(steps_of_calls(all) == up_to(12));
  for (const auto& c : all) {
    CHECK(c.what == mode::train);
    CHECK(c.tensors.at("x") == tensor::of<float>({4, 1}, {0, 1, 2, 3}));
    CHECK(c.tensors.at("loss").dims() == shape{4});
  }
}

TEST_CASE("[DF-42] every third step with loops of 4: steps 0 and 3 of each loop are given, and of no other") {
  made_calls third, every;
  auto o = calling(third, 3);
  o.loop = 4;
  run_to_end(o);
  CHECK(steps_of_calls(third) == steps{1, 4, 5, 8, 9, 12});
  run_to_end(calling(every));
  for (const auto& c : third)
    CHECK(c.tensors == every[static_cast<size_t>(c.step) - 1].tensors);
}

TEST_CASE(
    "[DF-43] the same values on 1, 2 and 4 replicas, by a collective or a reducer, in simulation and on threads") {
  made_calls first;
  run_to_end(calling(first));
  REQUIRE(first.size() == 12);
  const auto same = [&first](const made_calls& all) {
    REQUIRE(all.size() == first.size());
    for (size_t i = 0; i < all.size(); ++i)
      CHECK((all[i].step == first[i].step && all[i].tensors == first[i].tensors));
  };
  for (const int64_t replicas : {1, 2, 4})
    for (const bool reducers : {false, true}) {
      made_calls all;
      auto o = calling(all);
      o.replicas = replicas;
      o.reducers = reducers;
      run_to_end(o, 3);
      same(all);
    }
  made_calls on_threads;
  auto o = calling(on_threads);
  o.replicas = 2;
  auto job = local_launcher{}.train(prepare_small(o));
  const auto ended = job->wait(soon);
  REQUIRE((ended && *ended));
  job.reset();
  same(on_threads);
}

TEST_CASE("calls change no bit of training, and what only they need is computed in no other step") {
  made_calls all;
  auto with = calling(all, 5), without = with;
  without.source = small_model();
  CHECK(same_state(state_at_end(with), state_at_end(without)));
}

TEST_CASE("an evaluation and a prediction make calls for each of their batches, the smaller last one too") {
  made_calls all;
  auto o = calling(all);
  o.evaluates = true;
  o.max_steps = 5;
  run_to_end(o);
  made_calls evaluated;
  for (const auto& c : all)
    if (c.what == mode::evaluate)
      evaluated.push_back(c);
  REQUIRE(evaluated.size() > 3);  // An evaluation of two batches to check it comes first.
  evaluated.erase(evaluated.begin(), evaluated.end() - 3);
  CHECK(steps_of_calls(evaluated) == steps{1, 2, 3});
  CHECK(evaluated[0].tensors.at("x").dims() == shape{8, 8});
  CHECK(evaluated[2].tensors.at("x").dims() == shape{4, 8});

  all.clear();
  auto prepared = prepare(prediction_job{.basis = small_basis(o), .input = small_dataset(20).batch(8)});
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_prediction job{*prepared, 1};
  while (true) {
    const auto next = job.next();
    REQUIRE_MESSAGE(next, (next ? "" : to_text(next.error())));
    if (!*next)
      break;
  }
  CHECK(steps_of_calls(all) == steps{1, 2, 3});
  CHECK(all.back().what == mode::predict);
  CHECK(all.back().tensors.at("x").dims() == shape{4, 8});
}

TEST_CASE(
    "[DF-41] tensors are found by their names in any order; a name that is not there ends the job after a last save, "
    "naming the call, the step and what there is") {
  made_calls all;
  auto o = calling(all);
  o.source = calling_model([](host_call_step& step) {
    CHECK(step["loss"].elements() == 4);
    CHECK(step["x"].elements() == 32);
    if (step.step() == 7)
      step["images"];
  });
  simulated_job job{prepare_small(o), 1};
  const auto failure = failure_of(job);
  CHECK(failure.category == errc::state);
  CHECK_MESSAGE(has(failure.message, "the host call 'seen' of step 7"), failure.message);
  CHECK_MESSAGE(has(failure.message, "has no tensor 'images'; it has 'loss', 'x'"), failure.message);
  CHECK(newest_checkpoint(o.files).content.id.step >= 6);
}

TEST_CASE("a call that throws ends an evaluation or a prediction as `state`, naming the call and the batch") {
  auto o = small_job_options{.max_steps = 1};
  run_to_end(o);
  o.source = calling_model([](host_call_step& step) {
    if (step.step() == 2)
      throw std::runtime_error("no more room");
  });
  evaluation_job job{.basis = small_basis(o), .data = small_evaluation()};
  auto prepared = prepare(std::move(job));
  REQUIRE(prepared);
  simulated_launcher launcher{1};
  const auto result = launcher.evaluate(*prepared)->wait();
  launcher.world().end_all();
  REQUIRE_FALSE(result);
  CHECK_MESSAGE(has(to_text(result.error()), "the host call 'seen' of step 2: no more room"), to_text(result.error()));
  CHECK(result.error().category == errc::state);

  auto asked = prepare(prediction_job{.basis = small_basis(o), .input = small_dataset(20).batch(8)});
  REQUIRE(asked);
  simulated_prediction prediction{*asked, 1};
  auto next = prediction.next();
  while (next && *next)
    next = prediction.next();
  REQUIRE_FALSE(next);
  CHECK_MESSAGE(has(to_text(next.error()), "the host call 'seen' of step 2: no more room"), to_text(next.error()));
  CHECK(next.error().category == errc::state);
}

TEST_CASE("a job whose call has thrown goes on from its last save, in the bits of an undisturbed one") {
  bool throws = true;
  made_calls all;
  auto o = calling(all);
  o.source = calling_model([&](host_call_step& step) {
    if (throws && step.step() == 4)
      throw std::runtime_error("the disk of the archive is full");
  });
  simulated_job job{prepare_small(o), 1};
  CHECK(has(failure_of(job).message, "the disk of the archive is full"));
  throws = false;
  CHECK(run_to_end(o).global_step == 12);
  CHECK(same_state(newest_checkpoint(o.files).content, undisturbed(o)));
}

TEST_CASE("no state is durable before the calls of all steps below it were made, whenever a process is killed") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    made_calls all;
    auto o = calling(all);
    o.replicas = 1 + static_cast<int64_t>(seed % 2);
    {
      world_conditions slow;
      if (seed % 3 == 0)
        slow.cost["outfeed"] = {std::chrono::milliseconds{50}, std::chrono::milliseconds{100}};
      simulated_job job{prepare_small(o), seed, slow};
      job.crank_some(seed, 40, 500);
    }
    const auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
    const auto newest = store ? (*store)->restore_newest() : fail(store.error());
    const int64_t saved = newest ? newest->content.id.step : 0;
    const auto before = steps_of_calls(all);
    for (int64_t s = 1; s <= saved; ++s)
      CHECK(std::count(before.begin(), before.end(), s) == 1);
    all.clear();
    run_to_end(o, seed + 1);
    auto after = up_to(12);
    after.erase(after.begin(), after.begin() + saved);
    CHECK(steps_of_calls(all) == after);
  }
}

TEST_CASE("after a recovery calls are made again from the restored state on, in order") {
  made_calls all;
  auto o = calling(all);
  o.replicas = 2;
  o.recovers = 3;
  simulated_job job{prepare_small(o), 5};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 8; }));
  REQUIRE(job.kill("replica/1"));
  CHECK(run_to_end(job).global_step == 12);
  const auto of = steps_of_calls(all);
  const auto again = std::is_sorted_until(of.begin(), of.end());
  REQUIRE(again != of.end());
  CHECK(std::is_sorted(again, of.end()));
  CHECK(*again == 6);  // The save of state 5 was restored.
  CHECK(of.back() == 12);
}

TEST_CASE("a step that is not applied is given to no call") {
  made_calls all;
  auto o = calling(all);
  auto inner = o.source.build;
  o.source.build = [inner](graph& g, const features& x, const labels& y, mode m) {
    auto spec = inner(g, x, y, m);
    // The loss becomes infinite with the sixth step.
    const auto count = g.variable({.name = "count", .dims = {1}, .trainable = false});
    g.assign(count, count + 1);
    spec.loss = spec.loss + reduce_sum(stop_gradient(1 / relu(5 - count)));
    return spec;
  };
  o.replicas = 2;
  simulated_job job{prepare_small(o), 1};
  CHECK(failure_of(job).category == errc::nan_loss);
  CHECK(steps_of_calls(all) == up_to(5));
}

TEST_CASE("calls that are slow hold steps back: what waits for them stays within its bound") {
  made_calls all;
  auto o = calling(all);
  o.max_steps = 300;
  world_conditions slow;
  slow.cost["outfeed"] = {std::chrono::milliseconds{200}, std::chrono::milliseconds{200}};
  simulated_job job{prepare_small(o), 1, slow};
  run_to_end(job, std::chrono::hours{20});
  CHECK(all.size() == 300);
  CHECK(job.gauge().fullest_mailboxes.at("outfeed") <= 70);
}

TEST_CASE("summaries of a call are in the event file at the step, also where the model records none") {
  auto o = small_job_options{.max_steps = 6, .input = small_dataset().batch(4).repeat()};
  o.source = calling_model(
      [](host_call_step& step) {
        step.scalar("twice", 2.0 * static_cast<double>(step.step()));
        step.histogram("x", step["x"]);
        if (step.step() == 3)
          step.text("remark", "half of it");
      },
      2);
  auto d = describe_small(o);
  d.basis.config.summary_steps = 4;
  run_to_end(std::move(d));
  std::map<int64_t, double> twice;
  int64_t histograms = 0, texts = 0;
  for (const auto& e : events_in(*o.files, "/run"))
    for (const auto& v : e.values) {
      if (v.tag == "twice")
        twice[e.step] = v.scalar;
      histograms += v.tag == "x" ? 1 : 0;
      texts += v.tag == "remark" ? 1 : 0;
    }
  CHECK(twice == std::map<int64_t, double>{{1, 2}, {3, 6}, {5, 10}});
  CHECK(histograms == 3);
  CHECK(texts == 1);
}

TEST_CASE("a summary that a call cannot record ends the job by its name") {
  const auto complaint = [](host_call_function function) {
    auto o = small_job_options{.max_steps = 2, .source = calling_model(std::move(function))};
    simulated_job job{prepare_small(o), 1};
    return failure_of(job).message;
  };
  CHECK(has(complaint([](host_call_step& s) { s.scalar("", 1); }), "an empty tag"));
  CHECK(has(complaint([](host_call_step& s) { s.histogram("h", tensor::of<int32_t>({1}, {1})); }),
            "the histogram 'h' is of int32"));
  CHECK(
      has(complaint([](host_call_step& s) { s.image("i", tensor::of<float>({1}, {1})); }), "the image 'i' is float32"));
}

TEST_CASE("a call that the outfeed does not come back from fails the job, which names the outfeed") {
  made_calls all;
  auto o = calling(all);
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 3; }));
  job.hang("outfeed");
  const auto failure = failure_of(job);
  CHECK(failure.category == errc::deadline_exceeded);
  CHECK_MESSAGE(has(to_text(failure), "outfeed"), to_text(failure));
}

TEST_CASE("[DF-59] a tensor of 1 GiB, which a prediction may not have, is given to a call of training whole") {
  constexpr int64_t rows = int64_t{1} << 25;
  small_job_options o{.max_steps = 1, .keeps = false};
  int64_t bytes = 0;
  auto source = small_model();
  source.build = [inner = source.build](graph& g, const features& x, const labels& y, mode m) {
    g.host_call({.name = "large", .tensors = {{"numbers", broadcast_to(g.constant(tensor::scalar(3.0f)), {rows, 8})}}});
    return inner(g, x, y, m);
  };
  source.host_calls["large"] = [&](host_call_step& step) {
    bytes += step["numbers"].byte_size();
    CHECK(step["numbers"].as<float>().back() == 3);
  };
  o.source = source;
  run_to_end(o);
  CHECK(bytes == int64_t{1} << 30);
}

}  // namespace troupe::test
