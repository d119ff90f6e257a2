// The last state of a job does not depend on the number of replicas and threads that compute its gradient shards.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// Checks that the job ends in the same state with 1, 2 and 4 replicas, which meet in a collective or have a reducer,
/// with four gradient shards.
void check_replicas(const small_job_options& job) {
  constexpr std::pair<int64_t, bool> ways[] = {{1, false}, {2, false}, {4, false}, {2, true}, {4, true}};
  std::optional<checkpoint_content> one;
  for (const auto& [replicas, reducers] : ways) {
    CAPTURE(replicas);
    CAPTURE(reducers);
    small_job_options o = job;
    o.replicas = replicas;
    o.reducers = reducers;
    o.shards = 4;
    o.files = memory_disk::make();
    const auto end = state_at_end(o, 3);
    if (!one)
      one = end;
    CHECK(same_state(end, *one));
  }
}

}  // namespace

TEST_CASE("with gradient_shards set, one replica and two replicas are bit-equal") { check_replicas({}); }

TEST_CASE("replicas on threads of their own meet in a collective, and end in the bits of a simulation") {
  for (const int64_t replicas : {2, 3, 4}) {
    CAPTURE(replicas);
    small_job_options o{.max_steps = 400, .save_steps = 50, .replicas = replicas};
    o.input = small_dataset(240).shuffle().batch(12).repeat();
    auto simulated = o;
    simulated.files = memory_disk::make();
    auto job = describe_small(o);
    job.basis.processors = static_cast<int32_t>(replicas);  // They look before they sleep.
    auto prepared = prepare(std::move(job));
    REQUIRE(prepared);
    const auto running = local_launcher{}.train(*prepared);
    const auto result = running->wait(std::chrono::minutes{2});
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (result->has_value() ? "" : to_text(result->error())));
    CHECK(same_state(newest_checkpoint(o.files).content, state_at_end(simulated, 3)));
  }
}

TEST_CASE("1, 2 and 3 threads that share a replica's arithmetic, and 1, 2 and 4 replicas of them, are bit-equal") {
  std::optional<checkpoint_content> one;
  for (int64_t replicas : {1, 2, 4})
    for (int64_t threads : {1, 2, 3}) {
      CAPTURE(replicas);
      CAPTURE(threads);
      small_job_options o{.max_steps = 4,
                          .replicas = replicas,
                          .threads = threads,
                          .shards = 4,
                          .input = small_dataset(256).shuffle().batch(64).repeat(),
                          .source = wide_model()};
      const auto end = state_at_end(o, 3);
      if (!one)
        one = end;
      CHECK(same_state(end, *one));
    }
}

TEST_CASE("a model of words is the same for one replica, two and four, whatever becomes of rows that do not occur") {
  // An embedding of 40 words. A batch of 4 rows has at most 12 of them. A row has 28 bytes, so that slices of replicas
  // split rows.
  const int64_t examples = 48;
  std::vector<int32_t> words(static_cast<size_t>(examples) * 3), y(static_cast<size_t>(examples));
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = static_cast<int32_t>(i * i % 37 + i % 3);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = words[3 * i] % 3;
  const dataset input = *dataset::from_tensors({{"x", tensor::of<int32_t>({examples, 3}, words)}},
                                               {{"y", tensor::of<int32_t>({examples}, y)}});
  for (const optimizer& by :
       {optimizer{.rule = momentum{.rate = 0.1f}, .clip = {.global_norm = 0.1f}, .weight_decay = 0.01f},
        optimizer{.rule = adagrad{}, .moving_average = 0.9f}, optimizer{ftrl{}},
        optimizer{.rule = adamw{.rate = 0.01f}, .clip = {.norm = 0.05f}}}) {
    CAPTURE(to_text(by));
    const model source{"words", [by](graph& g, const features& x, const labels& labels, mode m) {
                         const auto h = nn::embedding(x["x"], {.entries = 40, .units = 7});
                         const auto logits = nn::dense(reshape(h, {extent{-1}, extent{21}}), {.units = 3});
                         return multi_class_head{.classes = 3}.spec(
                             g, {.mode = m, .logits = logits, .labels = labels.only(), .optimizer = by});
                       }};
    check_replicas({.input = input.shuffle().batch(4).repeat(), .source = source});
  }
}

TEST_CASE("norms of gradients and of updates are the same for one replica, two and four") {
  for (const optimizer& by :
       {optimizer{.rule = adam{.rate = 0.01f}, .clip = {.global_norm = 0.1f}},
        optimizer{.rule = momentum{}, .clip = {.norm = 0.1f}},
        optimizer{.rule = lamb{.rate = 0.01f}, .schedule = cosine_decay{.decay_steps = 20}, .moving_average = 0.9f}}) {
    CAPTURE(to_text(by));
    check_replicas({.source = small_model(0.2, by)});
  }
}

}  // namespace troupe::test
