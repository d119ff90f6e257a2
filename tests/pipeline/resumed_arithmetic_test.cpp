// The warnings of a job that resumes with other arithmetic than that of its checkpoint.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using strings = std::vector<std::string>;

/// Runs a job that must succeed, and returns its warnings.
strings warnings_of(const small_job_options& o, uint64_t seed = 7) {
  auto d = describe_small(o);
  d.basis.config.seed = seed;
  auto prepared = prepare(d);
  REQUIRE(prepared);
  simulated_job job{*prepared, 1};
  run_to_end(job);
  strings all;
  for (const auto& e : job.events())
    if (e.what == job_event::kind::warning)
      all.push_back(e.text);
  return all;
}

/// Commits the newest checkpoint again as that of the next step, with the property `name` set to `value`.
void rewrite(const small_job_options& o, const std::string& name, const std::string& value) {
  auto content = newest_checkpoint(o.files).content;
  content.properties[name] = value;
  ++content.id.step;
  for (auto& t : content.tensors)
    if (t.name == "global_step")
      t.value = tensor::scalar<int64_t>(content.id.step);
  auto store = checkpoint_store::open(o.files, "/run", {});
  REQUIRE(store);
  REQUIRE((*store)->commit(content));
}

}  // namespace

TEST_CASE(
    "a job that goes on from a checkpoint of other arithmetic says so once, and trains; what it saves says its own") {
  small_job_options o{.max_steps = 10, .input = small_dataset().shuffle(3).batch(4).repeat()};
  CHECK(warnings_of(o).empty());
  const auto properties = newest_checkpoint(o.files).content.properties;
  CHECK(properties.at("numerics_version") == "3");
  CHECK(properties.at("seed") == "7");
  CHECK(properties.at("replicas") == "1");
  CHECK(properties.at("gradient_shards") == "1");
  o.max_steps = 20;
  strings all;
  const auto expect_one = [&all](const char* part) {
    REQUIRE(all.size() == 1);
    CAPTURE(all[0]);
    CHECK(has(all[0], part));
  };
  SUBCASE("an older version of the arithmetic") {
    rewrite(o, "numerics_version", "2");
    all = warnings_of(o);
    expect_one("arithmetic of version 2, this job has 3");
    CHECK(newest_checkpoint(o.files).content.properties.at("numerics_version") == "3");
  }
  SUBCASE("another CPU level") {
    rewrite(o, "cpu_level", "v9");
    all = warnings_of(o);
    expect_one("CPU level v9, this job has " TROUPE_CPU_LEVEL);
  }
  SUBCASE("another seed, where no shuffle depends on it") {
    all = warnings_of(o, 8);
    expect_one("seed 7, this job has 8");
  }
  SUBCASE("another number of shards") {
    o.shards = 2;
    all = warnings_of(o);
    expect_one("gradient_shards = 1, this job has 2");
  }
  SUBCASE("another number of replicas, and so of shards") {
    o.replicas = 2;
    all = warnings_of(o);
    expect_one("the number of replicas, 1 before and 2 now");
  }
}

TEST_CASE(
    "a job that goes on with other replicas of as many shards has nothing to say, and the bits of one that did not "
    "change them") {
  small_job_options whole{.max_steps = 200, .shards = 2}, changed{.max_steps = 200, .replicas = 2, .shards = 2};
  CHECK(warnings_of(whole).empty());
  {
    simulated_job job{prepare_small(changed), 1};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 10; }));
    job.ask(request::stop);
    REQUIRE(job.wait(std::chrono::hours{2}));
  }
  CHECK(newest_checkpoint(changed.files).content.id.step < 200);
  changed.replicas = 1;
  CHECK(warnings_of(changed).empty());
  const auto a = newest_checkpoint(whole.files).content, b = newest_checkpoint(changed.files).content;
  REQUIRE(a.tensors.size() == b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    CAPTURE(a.tensors[i].name);
    CHECK(a.tensors[i].value == b.tensors[i].value);
  }
}

}  // namespace troupe::test
