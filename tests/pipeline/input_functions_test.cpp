// Input functions in whole jobs: what they are called with, and that a function which reads a share of the data gives
// the bits of a dataset that is divided among the inputs.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/has.hpp"
#include "support/search_job.hpp"

#include <troupe/input_function.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using calls_seen = std::shared_ptr<std::vector<input_context>>;

dataset input_share(int64_t rows, int64_t total, int64_t index) {
  return small_dataset().shuffle().batch(rows).repeat().shard(total, index);
}

dataset recorded_function(const calls_seen& seen, int64_t batch_size = 8) {
  return from_input_function({.batch_size = batch_size, .name = "shares"}, [seen](const input_context& c) {
    seen->push_back(c);
    return input_share(c.batch_size, c.deployment.total, c.deployment.index);
  });
}

/// Eight rows a step on four replicas of two hosts.
training_job on_two_hosts(input_mode m, small_job_options& o, const dataset& input) {
  o.replicas = 4;
  o.hosts = 2;
  o.input = input;
  auto job = describe_small(o);
  job.basis.config.input_mode = m;
  return job;
}

int64_t rows_of_batch(input_mode m) {
  switch (m) {
    case input_mode::per_core:
    case input_mode::per_replica: return 2;
    case input_mode::per_host: return 4;
    default: return 8;
  }
}

}  // namespace

TEST_CASE("an input function is called once for each input, with the rows that its mode asks for") {
  using by = input_mode;
  const std::map<by, std::vector<input_context>> wanted{
      {by::per_core,
       {{2, {0, 0, 4, 1}, 2, 4}, {2, {0, 1, 4, 1}, 2, 4}, {2, {1, 2, 4, 1}, 2, 4}, {2, {1, 3, 4, 1}, 2, 4}}},
      {by::per_host, {{4, {0, 0, 2, 2}, 2, 4}, {4, {1, 1, 2, 2}, 2, 4}}},
      {by::per_replica, {{2, {0, 0, 2, 2}, 2, 4}, {2, {1, 1, 2, 2}, 2, 4}}},
      {by::broadcast, {{8, {0, 0, 1, 4}, 2, 4}}},
      {by::sliced, {{8, {0, 0, 1, 4}, 2, 4}}}};
  for (const auto& [m, contexts] : wanted) {
    CAPTURE(to_string(m));
    small_job_options o;
    const auto seen = std::make_shared<std::vector<input_context>>();
    run_to_end(on_two_hosts(m, o, recorded_function(seen)));
    CHECK((*seen == contexts));
  }
}

TEST_CASE("functions that read their share give the bits of a dataset that its inputs divide, in every mode") {
  using by = input_mode;
  for (const auto m : {by::per_core, by::per_host, by::per_replica, by::broadcast, by::sliced}) {
    CAPTURE(to_string(m));
    small_job_options divided, functional;
    run_to_end(on_two_hosts(m, divided, input_share(rows_of_batch(m), 1, 0)));
    run_to_end(on_two_hosts(m, functional, recorded_function(std::make_shared<std::vector<input_context>>())));
    const auto a = newest_checkpoint(divided.files).content, b = newest_checkpoint(functional.files).content;
    REQUIRE(a.tensors.size() == b.tensors.size());
    for (size_t i = 0; i < a.tensors.size(); ++i)
      CHECK((a.tensors[i].value == b.tensors[i].value));
  }
}

TEST_CASE("a job that reads a function is resumed in the same places, and refused in others") {
  const auto seen = std::make_shared<std::vector<input_context>>();
  small_job_options o;
  {
    auto first = prepare(on_two_hosts(input_mode::per_core, o, recorded_function(seen)));
    REQUIRE(first);
    simulated_job killed{*first, 1};
    REQUIRE(killed.crank_until([&] { return killed.progress().step >= 12; }));
  }
  auto other = on_two_hosts(input_mode::per_core, o, recorded_function(seen));
  other.hosts = 1;
  auto prepared = prepare(std::move(other));
  REQUIRE(prepared);
  simulated_job refused{*prepared, 1};
  CHECK(has(failure_of(refused).message, " of 2, for 1 of 4 replicas', here is"));
  small_job_options unbroken;
  run_to_end(on_two_hosts(input_mode::per_core, unbroken, recorded_function(seen)));
  CHECK(run_to_end(on_two_hosts(input_mode::per_core, o, recorded_function(seen))).global_step == 20);
  CHECK(same_state(newest_checkpoint(o.files).content, newest_checkpoint(unbroken.files).content));
}

TEST_CASE("the batches of an evaluation's function are dealt: it is called once, and metrics have the same bits") {
  const auto measured = [](bool as_function, int32_t hosts, int32_t replicas) {
    small_job_options o{.evaluates = true};
    auto job = describe_small(o);
    auto& data = job.evaluations.front().data;
    int64_t calls = 0;
    if (as_function)
      data.input = from_input_function({.batch_size = 8}, [&calls, hosts, replicas](const input_context& c) {
        ++calls;
        CHECK((c == input_context{8, {.replicas = replicas}, hosts, replicas, mode::evaluate}));
        return small_dataset(20).batch(c.batch_size);
      });
    data.hosts = hosts;
    data.replicas = replicas;
    const auto result = run_to_end(std::move(job));
    CHECK(calls == (as_function ? 1 : 0));
    return result.metrics;
  };
  const auto plain = measured(false, 1, 1);
  CHECK(measured(true, 1, 1) == plain);
  CHECK(measured(true, 2, 4) == plain);
}

TEST_CASE("a search reads an input function, and has the bits of the dataset that it returns") {
  small_job_options plain, functional;
  const auto seen = std::make_shared<std::vector<input_context>>();
  plain.input = input_share(4, 1, 0);
  functional.input = recorded_function(seen, 4);
  for (auto* o : {&plain, &functional}) {
    auto prepared = prepare(search_job(small_search_options(), *o));
    REQUIRE_MESSAGE(prepared, to_text(prepared.error()));
    simulated_job job{*prepared, 1};
    run_to_end(job);
  }
  const auto a = newest_checkpoint(plain.files).content, b = newest_checkpoint(functional.files).content;
  REQUIRE(a.tensors.size() == b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i)
    CHECK((a.tensors[i].value == b.tensors[i].value));
  CHECK(seen->size() == 2);  // One for each iteration.
  CHECK(seen->front() == input_context{.batch_size = 4});
}

TEST_CASE("a function whose inputs cannot be fed is refused before the job starts") {
  const auto refusal_of = [](int64_t batch_size, const std::function<expected<dataset>(const input_context&)>& make) {
    small_job_options o;
    const auto prepared = prepare(on_two_hosts(input_mode::per_core, o, from_input_function({batch_size}, make)));
    REQUIRE_FALSE(prepared);
    return prepared.error();
  };
  const auto any = [](const input_context& c) { return small_dataset().batch(c.batch_size); };
  CHECK(has(refusal_of(6, any).message, "a batch of 6 rows cannot be divided evenly among 4 replicas"));
  const auto unequal = refusal_of(8, [](const input_context& c) -> expected<dataset> {
    if (c.deployment.index == 2)
      return dataset::from_tensors({{"x", tensor::of<float>({8, 1}, std::vector<float>(8))}})->batch(c.batch_size);
    return small_dataset().batch(c.batch_size);
  });
  CHECK(unequal.category == errc::invalid_argument);
  CHECK(has(unequal.message, "inputs must have the same components: input 0 has x float32[8] -> y int32[]"));
  CHECK(has(unequal.message, "and input 2 has x float32[1]"));
  const auto late = refusal_of(8, [](const input_context& c) -> expected<dataset> {
    if (c.deployment.index == 3)
      return fail(errc::not_found, "part-3 is missing");
    return small_dataset().batch(c.batch_size);
  });
  CHECK(late.category == errc::not_found);
  CHECK(has(late.message, "input 3 of 4 on host 1 of 2"));
}

TEST_CASE("a function whose data have no batch ends the job as any data do") {
  small_job_options o;
  const auto empty = dataset::from_generator(small_dataset().spec(), [] { return std::optional<example_tensors>{}; });
  REQUIRE(empty);
  const auto none = from_input_function({.batch_size = 8},
                                        [&](const input_context& c) { return empty->batch(c.batch_size); });
  small_job_options plain;
  auto by_function = prepare(on_two_hosts(input_mode::sliced, o, none));
  auto by_dataset = prepare(on_two_hosts(input_mode::sliced, plain, empty->batch(8)));
  REQUIRE(by_function);
  REQUIRE(by_dataset);
  simulated_job a{*by_function, 1}, b{*by_dataset, 1};
  CHECK(failure_of(a).category == failure_of(b).category);
}

}  // namespace troupe::test
