// Whole jobs over batches that are lent from memory: the same as over copies, whatever happens to them.
#include "pipeline/launch/launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/threads.hpp"
#include "support/troubled_dataset.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// 22 rows of 8 KiB in memory, in batches of 4: every sixth batch crosses the end of an epoch, and is copied.
dataset wide_rows() {
  constexpr int64_t rows = 22, width = 2048;
  std::vector<float> x(rows * width);
  std::vector<int32_t> y(rows);
  uint32_t state = 1;
  for (auto& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<int32_t>(i % 3);
  return dataset::from_tensors({{"x", tensor::of<float>({rows, width}, x)}}, {{"y", tensor::of<int32_t>({rows}, y)}})
      ->repeat()
      .batch(4);
}

/// The same from an iterator that lends nothing.
dataset copied(const dataset& data) {
  return dataset{std::make_shared<troubled_stage>(data.last_stage(), INT64_MAX, [] { return expected<void>{}; })};
}

small_job_options lent(const std::shared_ptr<file_system>& files = memory_disk::make()) {
  small_job_options o{.max_steps = 17, .save_steps = 4, .shards = 2};
  o.input = wide_rows();
  o.files = files;
  return o;
}

checkpoint_content of_copies() {
  auto o = lent();
  o.input = copied(o.input);
  return state_at_end(o);
}

}  // namespace

TEST_CASE("batches that are lent train to the bits of copies, by one replica and two, on threads too") {
  const auto copies = of_copies();
  for (const int64_t replicas : {1, 2}) {
    auto o = lent();
    o.replicas = replicas;
    CHECK(same_state(state_at_end(o), copies));
    auto threads = lent();
    threads.replicas = replicas;
    const auto running = local_launcher{}.train(prepare_small(threads));
    const auto result = running->wait(soon);
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (result->has_value() ? "" : to_text(result->error())));
    CHECK(same_state(newest_checkpoint(threads.files).content, copies));
  }
}

TEST_CASE("a job over lent batches, killed at any turn, goes on to the bits of one over copies") {
  const auto copies = of_copies();
  int64_t killed = 0;
  for (int64_t turns = 0;; turns += 7) {
    CAPTURE(turns);
    const auto disk = memory_disk::make();
    auto o = lent(disk);
    o.replicas = turns % 2 == 0 ? 2 : 1;
    bool over = false;
    {
      simulated_job job{prepare_small(o), 2};
      for (int64_t i = 0; i < turns && !over; ++i)
        over = !job.crank() || job.ended();
    }
    CHECK(same_state(state_at_end(o, 3), copies));
    killed += over ? 0 : 1;
    if (over)
      break;
  }
  CHECK(killed > 10);
}

TEST_CASE("a job over lent batches recovers from the death of its reader or of a replica, to the same bits") {
  const auto copies = of_copies();
  for (const std::string node : {"replica/0", "replica/1", "infeed/0"})
    for (const int64_t at : {1, 6, 13}) {
      CAPTURE(node);
      CAPTURE(at);
      auto o = lent();
      o.replicas = 2;
      o.recovers = 3;
      simulated_job job{prepare_small(o), 4};
      REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
      REQUIRE(job.kill(node));
      CHECK(same_state(state_at_end(job, o.files), copies));
    }
}

}  // namespace troupe::test
