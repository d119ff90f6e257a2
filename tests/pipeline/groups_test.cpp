// Plans with several groups, whose outputs flow between them. The public API does not make such plans; the actors that
// run them are the same.
#include "support/ended_jobs.hpp"
#include "support/plans.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// All variables after `steps` steps, computed without actors; each group has one replica.
std::map<std::string, tensor> by_hand(const small_job_options& o, int64_t steps) {
  const auto w = two_candidates(o.input);
  const auto job = w.prepared(describe_small(o));
  for (auto& p : job->programs)
    p.parameters->initialise(7);
  auto& source = *job->datasets[0].first.front();
  std::vector<float> x(8 * 4), seen_a(3 * 4), seen_b(3 * 4);
  std::vector<int32_t> y(4);
  for (int64_t step = 0; step < steps; ++step) {
    std::byte* const into[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
    REQUIRE(source.read(into, {}));
    std::byte* const shown_a[] = {reinterpret_cast<std::byte*>(seen_a.data())};
    std::byte* const shown_b[] = {reinterpret_cast<std::byte*>(seen_b.data())};
    const std::byte* const fed[] = {into[0], into[1], shown_a[0], shown_b[0]};
    const std::span<const std::byte* const> all{fed};
    auto &mixture = *job->programs[0].engines[0], &a = *job->programs[1].engines[0], &b = *job->programs[2].engines[0];
    REQUIRE(a.gradients(step, {all.first(2), 4, false, false, false, shown_a}, 0) == step_status::ok);
    REQUIRE(b.gradients(step, {all.first(2), 4, false, false, false, shown_b}, 0) == step_status::ok);
    REQUIRE(mixture.gradients(step, {all, 4}, 0) == step_status::ok);
    for (auto* engine : {&a, &b, &mixture})
      engine->apply(step, engine->gradient(), 0, 0);
  }
  std::map<std::string, tensor> found;
  for (auto& p : job->programs)
    for (size_t i = 0; i < p.parameters->layout().entries().size(); ++i)
      found.emplace(p.parameters->layout().entries()[i].name, p.parameters->view(0, static_cast<int32_t>(i)));
  return found;
}

void check_state(const checkpoint_content& c, const std::map<std::string, tensor>& wanted) {
  size_t compared = 0;
  for (const auto& t : c.tensors)
    if (const auto w = wanted.find(t.name); w != wanted.end()) {
      CAPTURE(t.name);
      CHECK(t.value == w->second);
      ++compared;
    }
  CHECK(compared == wanted.size());
}

}  // namespace

TEST_CASE(
    "a mixture of two candidates that one infeed feeds ends in the state of the bare loop, in any order of turns") {
  small_job_options o{.max_steps = 20};
  const auto wanted = by_hand(o, 20);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    o.files = memory_disk::make();
    simulated_job job{two_candidates(o.input).prepared(describe_small(o)), seed};
    check_state(state_at_end(job, o.files), wanted);
    CHECK(steps_of(job.events(), job_event::kind::saved) == steps{0, 5, 10, 15, 20});
  }
}

TEST_CASE("the same plan on real threads ends in the same state") {
  small_job_options o{.max_steps = 200, .save_steps = 50};
  const auto job = local_launcher{}.train(two_candidates(o.input).prepared(describe_small(o)));
  const auto result = job->wait(std::chrono::minutes{2});
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
  check_state(newest_checkpoint(o.files).content, by_hand(o, 200));
  CHECK((*result)->metrics.contains("a/loss"));
  CHECK((*result)->metrics.contains("b/loss"));
}

TEST_CASE("a candidate among others has the bits that it has alone") {
  small_job_options o{.max_steps = 20};
  simulated_job together{two_candidates(o.input).prepared(describe_small(o)), 3};
  const auto all = state_at_end(together, o.files);
  small_job_options alone = o;
  alone.files = memory_disk::make();
  alone.source = candidate("b", 7);
  simulated_job single{prepare_small(alone), 4};
  CHECK(variables(all, "b/") == variables(state_at_end(single, alone.files), "b/"));
}

TEST_CASE("several groups of two replicas each end in one state, in any order of turns") {
  std::optional<checkpoint_content> first;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 20, .replicas = 2};
    simulated_job job{two_candidates(o.input, 2).prepared(describe_small(o)), seed};
    const auto end = state_at_end(job, o.files);
    CHECK(variables(end, "a/").size() == 8);
    if (!first)
      first = end;
    CHECK(same_state(*first, end));
  }
}

TEST_CASE(
    "a job of several groups that is stopped ends at one step for all, and goes on to the state of one that was not") {
  small_job_options whole{.max_steps = 40};
  simulated_job unbroken{two_candidates(whole.input).prepared(describe_small(whole)), 1};
  const auto wanted = state_at_end(unbroken, whole.files);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 40};
    int64_t stopped_at = 0;
    {
      simulated_job job{two_candidates(o.input).prepared(describe_small(o)), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
      job.ask(request::stop);
      const auto result = job.wait(std::chrono::hours{1});
      REQUIRE(result.has_value());
      REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
      CHECK((*result)->stopped);
      stopped_at = (*result)->global_step;
      CHECK(newest_checkpoint(o.files).content.id.step == stopped_at);
      CHECK(job.left().empty());
    }
    CHECK(stopped_at < 40);
    simulated_job again{two_candidates(o.input).prepared(describe_small(o)), seed + 10};
    CHECK(same_state(state_at_end(again, o.files), wanted));
  }
}

TEST_CASE("data that end before max_steps end every group at the same step") {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    small_job_options o{.max_steps = 100, .input = small_dataset().shuffle().batch(4)};
    simulated_job job{two_candidates(o.input).prepared(describe_small(o)), seed};
    CHECK(state_at_end(job, o.files).id.step == 12);
  }
}

TEST_CASE("a group whose step is not finite ends the job with its name, and its last good state stays on the disk") {
  small_job_options o{.max_steps = 60};
  auto w = two_candidates(o.input);
  auto wild = candidate("b", 7);
  w.resources.models[2] = std::make_shared<const model>(
      model{"b", [wild](graph& g, const features& x, const labels& y, mode m) {
              auto spec = wild.build(g, x, y, m);
              spec.optimizer = gradient_descent{.rate = 1e18f};
              return spec;
            }});
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    auto d = describe_small(o);
    d.basis.files = memory_disk::make();
    simulated_job job{w.prepared(d), seed};
    const auto result = job.wait(std::chrono::hours{1});
    REQUIRE(result.has_value());
    REQUIRE_FALSE(result->has_value());
    CHECK(result->error().category == errc::nan_loss);
    CHECK(result->error().source == "b/replica/0");
    CHECK(job.now() < std::chrono::minutes{5});
    CHECK(newest_checkpoint(d.basis.files).content.id.step <= *result->error().step);
    CHECK(job.left().empty());
  }
}

TEST_CASE(
    "two hosts of two replicas, each host's share split: the plan written by hand is the one that a job makes of "
    "itself") {
  small_job_options o{.max_steps = 20, .replicas = 4, .hosts = 2};
  hand_written w;
  const auto only = w.group("");
  const auto program = w.program(o.source, only);
  const auto data = w.data(o.input);
  const node_id infeeds[] = {w.infeed("infeed/0", data, 0), w.infeed("infeed/1", data, 1)};
  for (int32_t r = 0; r < 4; ++r)
    w.edge(infeeds[r / 2], "data", w.replica("replica/" + std::to_string(r), program, r, {"data"}), "data",
           divide::split);
  w.reducer("reducer", only);
  w.finish();
  simulated_job by_hand{w.prepared(describe_small(o)), 1};
  const auto found = state_at_end(by_hand, o.files);
  o.files = memory_disk::make();
  simulated_job described{prepare_small(o), 2};
  CHECK(same_state(found, state_at_end(described, o.files)));
}

TEST_CASE(
    "an infeed that gives each of two replicas a batch of its own feeds them as one of twice the rows that it splits") {
  const auto run = [](const dataset& input, divide how, uint64_t seed, int64_t stop_at) {
    small_job_options o{.max_steps = 15, .replicas = 2, .input = input};
    const auto make = [&] {
      hand_written w;
      const auto only = w.group("");
      const auto program = w.program(o.source, only);
      const auto feed = w.infeed("infeed/0", w.data(input));
      for (int32_t r = 0; r < 2; ++r)
        w.edge(feed, "data", w.replica("replica/" + std::to_string(r), program, r, {"data"}), "data", how);
      w.reducer("reducer", only);
      w.finish();
      return w.prepared(describe_small(o));
    };
    if (stop_at > 0) {
      simulated_job job{make(), seed + 100};
      REQUIRE(job.crank_until([&] { return job.progress().step >= stop_at; }));
      job.ask(request::stop);
      REQUIRE(job.wait(std::chrono::hours{1}));
    }
    simulated_job job{make(), seed};
    auto end = state_at_end(job, o.files);
    end.blobs.clear();  // The compared jobs have different datasets, so their positions differ.
    return end;
  };
  const auto split = run(small_dataset().batch(8).repeat(), divide::split, 1, 0);
  CHECK(split.id.step == 15);
  CHECK(same_state(run(small_dataset().batch(4).repeat(), divide::each, 2, 0), split));
  CHECK_MESSAGE(same_state(run(small_dataset().batch(4).repeat(), divide::each, 3, 5), split), "stopped and resumed");
  const auto odd = run(small_dataset(20).batch(4), divide::each, 4, 0);
  CHECK_MESSAGE(odd.id.step == 2, "five batches are two for each of two; the fifth is dropped");
}

}  // namespace troupe::test
