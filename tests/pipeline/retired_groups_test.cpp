// Retired groups of several replicas: they compute and train no more, and still agree on each step, also on one that
// fails on one replica alone.
#include "support/ended_jobs.hpp"
#include "support/plans.hpp"
#include "support/small_search.hpp"
#include "support/wrapped_engine.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr size_t program_a = 1;
constexpr int64_t retires_at = 6;
constexpr auto patience = std::chrono::seconds{60};  // Of virtual time; the chief gives up after 600 s of silence.

enum class breaking : uint8_t { last_replica, all_replicas };

void break_engines(prepared_program& p, int64_t at, breaking which) {
  for (auto& engine : p.engines)
    if (which == breaking::all_replicas || &engine == &p.engines.back())
      engine = std::make_shared<broken_engine>(engine, at);
}

/// A job of a mixture and the candidates a and b, of two replicas each, of which a retires at step 6.
std::shared_ptr<prepared_job> retiring(const small_job_options& o, leaves_on leaves = leaves_on::numbers) {
  hand_written w;
  w.reducers = o.reducers;
  add_two_candidates(w, o.input, static_cast<int32_t>(o.replicas));
  w.finish();
  w.plan.groups[program_a].retires_at = retires_at;
  w.plan.groups[program_a].leaves = leaves;
  return w.prepared(describe_small(o));
}

small_job_options two_replicas(bool reducers) { return {.replicas = 2, .reducers = reducers}; }

/// The state at the end of that job, where replicas of a are not finite at step `at`.
checkpoint_content end_without_a(bool reducers, int64_t at, breaking which, uint64_t seed) {
  const auto o = two_replicas(reducers);
  auto prepared = retiring(o);
  break_engines(prepared->programs[program_a], at, which);
  simulated_job job{prepared, seed};
  const auto result = run_to_end(job, patience);
  CHECK(result.global_step == 20);
  CHECK(result.remark.starts_with("group 'a' left at step " + std::to_string(at) + ": "));
  return newest_checkpoint(o.files).content;
}

prepared_program& program_of(prepared_job& job, const std::string& group) {
  return job.programs[*called(job.plan->nodes, group + "/replica/0").program];
}

/// Stops what it belongs to once it sees that step, at which it holds everyone if it gates.
struct stops_at final : hook {
  int64_t at;
  bool gates;
  stops_at(int64_t step, bool holds) : at(step), gates(holds) {}
  needs begin(int64_t) override { return {.steps = {{.first = at, .gate = gates}}}; }
  void on_step(const step_facts&, job_control& job) override { job.stop(); }
};

/// A search with a subnetwork that trains 4 steps of 10.
small_search with_short_training(bool reducers, candidate_not_finite policy) {
  small_search s;
  s.o.replicas = 2;
  s.o.shards = 2;
  s.o.reducers = reducers;
  s.search.on_candidate_not_finite = policy;
  s.search.subnetwork_generator = [f = s.search.subnetwork_generator](const generator_input& in) {
    auto all = f(in);
    all.front().steps_max = 4;
    return all;
  };
  return s;
}

}  // namespace

TEST_CASE(
    "a retired group of which one replica is not finite leaves at that step everywhere, and no reader sees what the "
    "other replica made of it, under any schedule") {
  for (const int64_t at : {retires_at - 1, retires_at, retires_at + 1, int64_t{12}}) {
    const auto wanted = end_without_a(true, at, breaking::all_replicas, 1);
    CHECK(variables(wanted, "a/").empty());
    for (const bool reducers : {false, true})
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(at);
        CAPTURE(reducers);
        CAPTURE(seed);
        CHECK(same_state(end_without_a(reducers, at, breaking::last_replica, seed), wanted));
      }
  }
}

TEST_CASE("a job whose retired group may not leave fails with the step and the replica that was not finite, at once") {
  for (const bool reducers : {false, true})
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(reducers);
      CAPTURE(seed);
      auto prepared = retiring(two_replicas(reducers), leaves_on::never);
      break_engines(prepared->programs[program_a], 12, breaking::last_replica);
      simulated_job job{prepared, seed};
      const auto result = result_of(job, patience);
      REQUIRE_FALSE(result);
      CHECK(result.error().category == errc::nan_loss);
      CHECK(result.error().source == "a/replica/1");
      CHECK(result.error().step == 12);
    }
}

TEST_CASE("data that end unevenly end a retired group at one step, with a checkpoint that has all of its replicas") {
  for (const bool reducers : {false, true})
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(reducers);
      CAPTURE(seed);
      small_job_options o{.max_steps = 100, .save_steps = 50, .replicas = 2, .hosts = 2, .reducers = reducers};
      o.input = small_dataset(84).batch(4);  // 11 batches for one host, 10 for the other.
      hand_written w;
      const auto a = w.group("a"), b = w.group("b");
      const auto runs_a = w.program(candidate("a", 5), a), runs_b = w.program(candidate("b", 7), b);
      const auto data = w.data(o.input);
      for (int32_t r = 0; r < 2; ++r) {
        const auto number = std::to_string(r);
        const auto feed = w.infeed("feed/" + number, data, r);
        w.edge(feed, "data", w.replica("a/replica/" + number, runs_a, r, {"data"}), "data");
        w.edge(feed, "data", w.replica("b/replica/" + number, runs_b, r, {"data"}), "data");
      }
      if (reducers)
        for (const auto& g : w.plan.groups)
          w.reducer(g.name + "/reducer", g.id);
      w.plan.groups.front().retires_at = retires_at;
      w.finish();
      simulated_job job{w.prepared(describe_small(o)), seed};
      CHECK(run_to_end(job, patience).global_step == 10);
      const auto end = newest_checkpoint(o.files).content;
      CHECK(end.id.step == 10);
      CHECK_FALSE(variables(end, "a/").empty());
    }
}

TEST_CASE(
    "a subnetwork that has trained its steps and is not finite on one replica is dropped, and the search goes on") {
  std::optional<checkpoint_content> first;
  for (const bool reducers : {false, true})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(reducers);
      CAPTURE(seed);
      const auto s = with_short_training(reducers, candidate_not_finite::drop);
      auto prepared = prepare_search(s);
      break_engines(program_of(*prepared, "t0_linear"), 7, breaking::last_replica);
      simulated_job job{prepared, seed};
      run_to_end(job, patience);
      CHECK(steps_of(job.events(), job_event::kind::recovered).empty());
      const auto end = newest_checkpoint(s.o.files).content;
      const auto books = newest_books(s.o.files);
      CHECK(books.iteration() == 2);
      CHECK(books.winners.front().spec == dnn_grows);
      if (!first)
        first = end;
      CHECK(same_state(end, *first));
    }
}

TEST_CASE(
    "a subnetwork that its hook retires is dropped where it is not finite on one replica afterwards, as one whose end "
    "was planned") {
  std::optional<checkpoint_content> first;
  for (const bool reducers : {false, true})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(reducers);
      CAPTURE(seed);
      auto s = with_short_training(reducers, candidate_not_finite::drop);
      s.search.subnetwork_generator = [f = s.search.subnetwork_generator](const generator_input& in) {
        auto all = f(in);
        all.front().steps_max.reset();
        all.front().hooks = [] { return std::vector<std::shared_ptr<hook>>{std::make_shared<stops_at>(4, true)}; };
        return all;
      };
      auto prepared = prepare_search(s);
      break_engines(program_of(*prepared, "t0_linear"), 7, breaking::last_replica);
      simulated_job job{prepared, seed};
      run_to_end(job, patience);
      const auto end = newest_checkpoint(s.o.files).content;
      if (!first)
        first = end;
      CHECK(same_state(end, *first));
    }
}

TEST_CASE(
    "replicas of a subnetwork retire at one step where its hook stops while they train, wherever the horizon is") {
  for (const bool reducers : {false, true})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(reducers);
      CAPTURE(seed);
      auto s = with_short_training(reducers, candidate_not_finite::fail);
      s.search.max_iterations = 1;
      s.search.max_iteration_steps = 200;
      s.search.subnetwork_generator = [f = s.search.subnetwork_generator](const generator_input& in) {
        auto all = f(in);
        all.front().steps_max.reset();
        all.front().hooks = [] { return std::vector<std::shared_ptr<hook>>{std::make_shared<stops_at>(4, false)}; };
        return all;
      };
      simulated_job job{prepare_search(s), seed};
      run_to_end(job, patience);
      const auto stop = newest_books(s.o.files).subnetworks.front().stop;
      REQUIRE(stop);
      CHECK(stop->cause == stop_cause::hook);
      CHECK(stop->step < 200);
    }
}

TEST_CASE("a replica of a retired group dies while the others wait for it in a step, and the search recovers") {
  auto whole = with_short_training(true, candidate_not_finite::fail);
  simulated_job undisturbed{prepare_search(whole), 1};
  const auto wanted = state_at_end(undisturbed, whole.o.files);
  for (const bool reducers : {false, true})
    for (const auto* const who : {"t0_linear/replica/0", "t0_linear/replica/1", "previous/replica/1"})
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(reducers);
        CAPTURE(who);
        CAPTURE(seed);
        const auto s = with_short_training(reducers, candidate_not_finite::fail);
        simulated_job job{prepare_search(s), seed};
        const int64_t at = std::string_view{who}.starts_with("previous") ? 12 : 6;
        REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
        REQUIRE(job.kill(who));
        CHECK(same_state(state_at_end(job, s.o.files, patience), wanted));
        CHECK(steps_of(job.events(), job_event::kind::recovered).size() == 1);
      }
}

TEST_CASE(
    "a search fails at once where the previous ensemble is not finite on one replica, and so does one that drops") {
  for (const auto policy : {candidate_not_finite::fail, candidate_not_finite::drop})
    for (const bool reducers : {false, true})
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(reducers);
        CAPTURE(seed);
        auto s = with_short_training(reducers, policy);
        s.o.recovers = 0;
        {
          simulated_job job{prepare_search(s), seed};
          REQUIRE(job.crank_until([&] { return job.progress().step >= 12; }));
        }
        auto prepared = prepare_search(s);  // Of iteration 1.
        break_engines(program_of(*prepared, "previous"), 17, breaking::last_replica);
        simulated_job job{prepared, seed + 10};
        const auto result = result_of(job, patience);
        REQUIRE_FALSE(result);
        CHECK(result.error().category == errc::nan_loss);
        CHECK(result.error().source == "previous/replica/1");
        CHECK(result.error().step == 17);
      }
}

TEST_CASE("on real threads a retired group leaves where one replica is not finite, in the state of the simulation") {
  const auto wanted = end_without_a(true, 12, breaking::all_replicas, 1);
  for (const bool reducers : {false, true}) {
    CAPTURE(reducers);
    const auto o = two_replicas(reducers);
    auto prepared = retiring(o);
    break_engines(prepared->programs[program_a], 12, breaking::last_replica);
    const auto job = local_launcher{}.train(prepared);
    const auto result = job->wait(soon);
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
    CHECK((*result)->remark.starts_with("group 'a' left at step 12: "));
    CHECK(same_state(newest_checkpoint(o.files).content, wanted));
  }
}

}  // namespace troupe::test
