// Who reads the data of a job: the same rows come to the same replicas in every input mode that divides them alike.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using by = input_mode;

/// Four rows a step on two replicas, in the batches that the mode reads.
training_job in_mode(by mode, const small_job_options& others = {}, int64_t rows_of_step = 4) {
  auto o = others;
  o.replicas = 2;
  const bool one_each = mode == by::per_core || mode == by::per_replica;
  o.input = small_dataset().shuffle().batch(one_each ? rows_of_step / 2 : rows_of_step).repeat();
  auto job = describe_small(o);
  job.basis.config.input_mode = mode;
  return job;
}

checkpoint_content trained_in(by mode, uint64_t seed = 3) {
  small_job_options o;
  run_to_end(in_mode(mode, o), seed);
  return newest_checkpoint(o.files).content;
}

/// Whether the variables are the same; positions have the form of each mode.
bool same_variables(const checkpoint_content& a, const checkpoint_content& b) {
  if (a.id != b.id || a.tensors.size() != b.tensors.size())
    return false;
  for (size_t i = 0; i < a.tensors.size(); ++i)
    if (a.tensors[i].name != b.tensors[i].name || !(a.tensors[i].value == b.tensors[i].value))
      return false;
  return true;
}

size_t infeeds_of(const checkpoint_content& c) {
  return static_cast<size_t>(
      std::count_if(c.blobs.begin(), c.blobs.end(), [](const auto& b) { return b.first.starts_with("infeed/"); }));
}

}  // namespace

TEST_CASE(
    "training has the same bits with an input for each replica, one whose batches they take in turn, and one that "
    "they divide") {
  const auto divided = trained_in(by::per_host);
  CHECK(infeeds_of(divided) == 1);
  for (const auto mode : {by::per_core, by::per_replica, by::sliced}) {
    const auto other = trained_in(mode);
    CHECK(same_variables(other, divided));
    CHECK(infeeds_of(other) == (mode == by::per_core ? 2 : 1));
  }
}

TEST_CASE("broadcast gives all replicas the same batch: two learn from it what one would") {
  const auto plain = small_model(0.0);
  small_job_options alone{.input = small_dataset().batch(4).repeat(), .source = plain};
  run_to_end(alone);
  small_job_options both{.replicas = 2, .input = alone.input, .source = plain};
  auto job = describe_small(both);
  job.basis.config.input_mode = by::broadcast;
  run_to_end(std::move(job));
  CHECK(same_variables(newest_checkpoint(alone.files).content, newest_checkpoint(both.files).content));
}

TEST_CASE("in every mode a job that is killed goes on to the same bits") {
  for (const auto mode : {by::per_core, by::per_replica, by::sliced, by::broadcast}) {
    const auto whole = trained_in(mode);
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      small_job_options o;
      {
        auto prepared = prepare(in_mode(mode, o));
        REQUIRE(prepared);
        simulated_job job{*prepared, seed};
        job.crank_some(seed, 60, 600);
      }
      run_to_end(in_mode(mode, o), seed);
      CHECK(same_state(newest_checkpoint(o.files).content, whole));
    }
  }
}

TEST_CASE("the death of one of several infeeds is recovered from") {
  small_job_options o{.recovers = 3};
  auto prepared = prepare(in_mode(by::per_core, o));
  REQUIRE(prepared);
  simulated_job job{*prepared, 4};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
  REQUIRE(job.kill("infeed/1"));
  run_to_end(job);
  CHECK(same_state(newest_checkpoint(o.files).content, trained_in(by::per_core)));
}

TEST_CASE("a job goes on with another number of inputs, to the same bits where a step has the same rows") {
  for (const auto before : {by::per_host, by::per_core})
    for (const auto after : {by::per_core, by::per_host, by::sliced, by::per_replica}) {
      small_job_options o;
      {
        auto first = prepare(in_mode(before, o));
        REQUIRE(first);
        simulated_job killed{*first, 1};
        REQUIRE(killed.crank_until([&] { return killed.progress().committed_step >= 10; }));
      }
      CHECK(run_to_end(in_mode(after, o)).global_step == 20);
      CHECK(same_variables(newest_checkpoint(o.files).content, trained_in(after)));
    }
}

TEST_CASE("data that do not suffice for a batch of each replica end the job before that step") {
  for (const auto mode : {by::per_core, by::per_replica}) {
    small_job_options o{.max_steps = 100};
    auto job = in_mode(mode, o);
    job.input = small_dataset(14).batch(2);  // Seven batches: three steps of two replicas.
    CHECK(run_to_end(std::move(job)).global_step == 3);
  }
}

TEST_CASE("a batch that the replicas cannot divide is refused in the modes that divide it") {
  for (const auto mode : {by::per_host, by::sliced}) {
    auto job = in_mode(mode);
    job.input = small_dataset().batch(3).repeat();
    const auto refused = prepare(std::move(job));
    REQUIRE_FALSE(refused);
    CHECK(has(refused.error().message, "a batch of 3 rows cannot be split evenly among 2 replicas"));
  }
  auto job = in_mode(by::per_core);
  job.input = small_dataset().batch(3).repeat();
  CHECK(run_to_end(std::move(job)).global_step == 20);
}

}  // namespace troupe::test
