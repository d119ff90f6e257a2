// Hooks of builders and ensemblers: they live as long as an iteration, and stop what they belong to.
#include "support/killed_search.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>

namespace troupe::test {

namespace {

using lines = std::vector<std::string>;

/// Notes its calls, and stops at the own step `at`, at which it holds the search.
struct stopping_hook : hook {
  int64_t at = 0;
  std::string name = {};
  lines* calls = nullptr;

  stopping_hook(int64_t step, std::string as, lines* into) : at(step), name(std::move(as)), calls(into) {}
  void note(const std::string& what, int64_t step) const {
    if (calls)
      calls->push_back(name + " " + what + " " + std::to_string(step));
  }
  needs begin(int64_t step) override {
    note("begins", step);
    return {.steps = {{.first = at, .gate = true}}};
  }
  void on_step(const step_facts& facts, job_control& job) override {
    if (facts.values.contains("loss"))
      note("stops", facts.step);
    job.stop();
  }
  void end(int64_t step) override { note("ends", step); }
  void on_abort(const error&) override { note("aborts", 0); }
};

hook_maker stopping(int64_t at, const std::string& name = {}, lines* calls = nullptr) {
  return [=] { return std::vector<std::shared_ptr<hook>>{std::make_shared<stopping_hook>(at, name, calls)}; };
}

/// The first of the two builders of an iteration stops by a hook after `first` steps, the second after `second`.
small_search stopped_search(int64_t first, int64_t second, lines* calls = nullptr) {
  small_search s;
  s.search.subnetwork_generator = [=](const generator_input& in) {
    auto all = generators::simple_dnn({.optimizer = adam{.rate = 0.02f}, .layer_size = 4})(in);
    all[0].hooks = stopping(first, "first", calls);
    all[1].hooks = stopping(second, "second", calls);
    return all;
  };
  return s;
}

bool same_tensors(const checkpoint_content& a, const checkpoint_content& b) {
  auto without = [](checkpoint_content c) {
    c.blobs.clear();
    return c;
  };
  return same_state(without(a), without(b));
}

}  // namespace

TEST_CASE("a builder's hook that stops ends the training of its subnetwork at that step, and of nothing else") {
  auto s = stopped_search(4, 100);
  CHECK(run_to_end(describe_search(s)).global_step == 21);  // In each iteration the mean of 4 and 10 steps.
  const auto books = newest_books(s.o.files);
  CHECK(books.tick == 30);
  REQUIRE(books.subnetworks.size() == 2);
  CHECK(books.subnetworks[0].stop == spec_stop{stop_cause::hook, 4});
  CHECK(books.subnetworks[1].stop == spec_stop{stop_cause::complete, 10});
  const auto spec = subnetwork_spec_name(1, books.subnetworks[0].builder);
  CHECK(has(read_file(*s.o.files, "/run/train_manager/t1/" + spec + ".json").value(), "hook"));

  small_search planned;
  planned.search.subnetwork_generator = [](const generator_input& in) {
    auto all = generators::simple_dnn({.optimizer = adam{.rate = 0.02f}, .layer_size = 4})(in);
    all[0].steps_max = 4;
    return all;
  };
  run_to_end(describe_search(planned));
  CHECK(same_tensors(newest_checkpoint(s.o.files).content, newest_checkpoint(planned.o.files).content));
}

TEST_CASE("an iteration ends where the hook of its last subnetwork stops") {
  auto s = stopped_search(4, 6);
  simulated_job job{prepare_search(s), 1};
  CHECK(run_to_end(job).global_step == 15);
  CHECK(steps_of(job.events(), job_event::kind::grown) == steps{6, 12});
  CHECK(newest_books(s.o.files).tick == 18);
}

TEST_CASE(
    "iterations without a limit of steps end where the hooks of all subnetworks stop, wherever the search is killed") {
  const auto unlimited = [] {
    auto s = stopped_search(4, 6);
    s.search.max_iteration_steps.reset();
    s.search.max_iterations.reset();
    s.o.max_steps = 13;  // Two iterations of 5 global steps, and one that stays open.
    return s;
  };
  auto whole = unlimited();
  simulated_job job{prepare_search(whole), 1};
  CHECK(run_to_end(job).global_step == 13);
  CHECK(steps_of(job.events(), job_event::kind::chosen) == steps{6, 12});
  CHECK(steps_of(job.events(), job_event::kind::grown) == steps{6, 12});
  const auto wanted = newest_checkpoint(whole.o.files).content;
  CHECK(places_killed(unlimited, 61, wanted) > 5);
}

TEST_CASE(
    "a subnetwork makes one step in each iteration even if its hook stops at once, so that a search comes to its end") {
  auto s = stopped_search(0, 0);
  s.search.max_iterations.reset();
  s.o.max_steps = 3;
  simulated_job job{prepare_search(s), 1};
  CHECK(run_to_end(job).global_step == 3);
  CHECK(steps_of(job.events(), job_event::kind::grown) == steps{1, 2});
}

TEST_CASE("a hook of a builder that asks to stop after its iteration has ended stops nothing of the next one") {
  struct late : hook {
    needs begin(int64_t) override { return {}; }
    void on_event(const job_event& e, job_control& job) override {
      if (e.what == job_event::kind::chosen)
        job.stop();
    }
  };
  small_search s;
  s.search.subnetwork_generator = [](const generator_input& in) {
    auto all = generators::simple_dnn({.optimizer = adam{.rate = 0.02f}, .layer_size = 4})(in);
    for (auto& b : all)
      b.hooks = [] { return std::vector<std::shared_ptr<hook>>{std::make_shared<late>()}; };
    return all;
  };
  world_conditions slow;
  slow.cost["callbacks"] = {std::chrono::milliseconds{1}, std::chrono::seconds{2}};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    s.o.files = memory_disk::make();
    simulated_job job{prepare_search(s), seed, slow};
    CHECK(run_to_end(job).global_step == 30);
    for (const auto& x : newest_books(s.o.files).subnetworks)
      CHECK(x.stop == spec_stop{stop_cause::complete, 10});
  }
}

TEST_CASE("[ADA-22.9 hooks] builders' hooks begin and end with each iteration, with their own steps and values") {
  lines calls;
  auto s = stopped_search(4, 6, &calls);
  s.search.max_iterations = 2;
  run_to_end(describe_search(s));
  const lines once{"first begins 0", "second begins 0", "first stops 4",
                   "second stops 6", "first ends 6",    "second ends 6"};
  auto twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  CHECK(calls == twice);
}

TEST_CASE("a hook that wants every step sees those of its iteration, from the first state on, beside one of the job") {
  struct watching : hook {
    std::vector<int64_t>* seen;
    explicit watching(std::vector<int64_t>* into) : seen(into) {}
    needs begin(int64_t) override { return {.steps = {{.first = 0, .every = 1, .gate = true}}}; }
    void on_step(const step_facts& facts, job_control&) override { seen->push_back(facts.step); }
  };
  std::vector<int64_t> own, of_job;
  small_search s;
  s.search.max_iterations = 2;
  s.search.subnetwork_generator = [&own](const generator_input& in) {
    auto all = generators::simple_dnn({.optimizer = adam{.rate = 0.02f}, .layer_size = 4})(in);
    all[1].hooks = [&own] { return std::vector<std::shared_ptr<hook>>{std::make_shared<watching>(&own)}; };
    return all;
  };
  auto job = describe_search(s);
  job.hooks.push_back(std::make_shared<watching>(&of_job));
  run_to_end(job);
  std::vector<int64_t> iteration(11), all(21);
  std::iota(iteration.begin(), iteration.end(), 0);
  std::iota(all.begin(), all.end(), 0);
  CHECK(of_job == all);
  auto twice = iteration;
  twice.insert(twice.end(), iteration.begin(), iteration.end());
  CHECK(own == twice);
}

TEST_CASE("an ensemble that its hook stops keeps its weights from there on, and the iteration goes on") {
  small_search s;
  s.search.max_iterations = 1;
  std::get<complexity_regularized_ensembler>(s.search.ensemblers[0]).hooks = stopping(3);
  run_to_end(describe_search(s));
  const auto books = newest_books(s.o.files);
  CHECK(books.tick == 10);
  for (const auto& c : books.candidates) {
    CHECK(c.stop == spec_stop{stop_cause::hook, 3});
    CHECK(c.average.count == 3);
  }
}

TEST_CASE("a search whose builders stop by hooks is killed at turns, and ends in the same architecture and bits") {
  auto whole = stopped_search(4, 6);
  run_to_end(describe_search(whole));
  const auto wanted = newest_checkpoint(whole.o.files).content;
  CHECK(places_killed([] { return stopped_search(4, 6); }, 89, wanted) > 5);
}

TEST_CASE("a replica dies after a hook has stopped its subnetwork, which stops there again in the next attempt") {
  auto whole = stopped_search(4, 9);
  whole.o.save_steps = 2;
  run_to_end(describe_search(whole));
  for (const int64_t at : {4, 5, 8}) {
    CAPTURE(at);
    lines calls;
    auto s = stopped_search(4, 9, &calls);
    s.o.save_steps = 2;
    simulated_job job{prepare_search(s), 4};
    REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
    REQUIRE(job.kill("t0_linear/replica/0"));
    run_to_end(job);
    CHECK(same_state(newest_checkpoint(s.o.files).content, newest_checkpoint(whole.o.files).content));
    CHECK(std::count(calls.begin(), calls.end(), "first begins 0") == 3);  // Not again in the attempt that follows.
  }
}

TEST_CASE("makers of hooks that throw or return null are errors that name the subnetwork, before any training") {
  for (const bool throws : {true, false}) {
    small_search s;
    s.search.subnetwork_generator = [throws](const generator_input& in) {
      auto all = generators::simple_dnn({.optimizer = adam{}, .layer_size = 4})(in);
      all[1].hooks = [throws]() -> std::vector<std::shared_ptr<hook>> {
        if (throws)
          throw std::runtime_error("no log");
        return {nullptr};
      };
      return all;
    };
    const auto made = prepare(describe_search(s));
    REQUIRE_FALSE(made);
    CHECK(made.error().category == (throws ? errc::state : errc::invalid_argument));
    CHECK(has(made.error().message, "t0_1_layer_dnn"));
    CHECK(has(made.error().message, throws ? "no log" : "hooks[0] of 't0_1_layer_dnn' is null"));
  }
}

}  // namespace troupe::test
