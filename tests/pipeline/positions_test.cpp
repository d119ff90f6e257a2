// Where the data of a job go on: over runs, hosts, sizes of batches, and changes of the data.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/has.hpp"

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

using ids = std::vector<int64_t>;

/// Examples with the small model's components, whose label is their number modulo 3 and whose first feature is it.
dataset numbered_examples(int64_t count) {
  std::vector<float> x(static_cast<size_t>(count) * 8);
  std::vector<int32_t> y(static_cast<size_t>(count));
  for (size_t i = 0; i < y.size(); ++i) {
    x[i * 8] = static_cast<float>(i);
    y[i] = static_cast<int32_t>(i % 3);
  }
  return *dataset::from_tensors({{"x", tensor::of<float>({count, 8}, x)}}, {{"y", tensor::of<int32_t>({count}, y)}});
}

/// A stream of the same examples.
dataset streamed_examples(int64_t count, bool saves) {
  const auto spec = numbered_examples(1).spec();
  return *dataset::from_generator(
      spec,
      [count, saves]() -> expected<example_stream> {
        const auto at = std::make_shared<int64_t>(0);
        example_stream s{.next = [at, count]() -> expected<std::optional<example_tensors>> {
          if (*at == count)
            return std::nullopt;
          std::vector<float> x(8);
          x[0] = static_cast<float>(*at);
          const auto y = static_cast<int32_t>((*at)++ % 3);
          return example_tensors{{{"x", tensor::of<float>({8}, x)}}, {{"y", tensor::scalar(y)}}};
        }};
        if (saves) {
          s.save = [at] { return std::to_string(*at); };
          s.restore = [at](std::string_view position) -> expected<void> {
            *at = std::stoll(std::string{position});
            return {};
          };
        }
        return s;
      },
      "counted");
}

/// Keeps the numbers of the examples of each step.
model watched_model(const std::shared_ptr<std::map<int64_t, ids>>& seen) {
  auto source = small_model(0.0);
  source.build = [build = source.build](graph& g, const features& x, const labels& y, mode m) {
    g.host_call({.name = "rows", .tensors = {{"x", x["x"]}}, .every = 1});
    return build(g, x, y, m);
  };
  source.host_calls["rows"] = [seen](host_call_step& step) {
    if (step.mode() != mode::train)
      return;
    const auto x = step["x"].as<float>();
    ids rows;
    for (size_t i = 0; i < x.size(); i += 8)
      rows.push_back(static_cast<int64_t>(x[i]));
    (*seen)[step.step() - 1] = std::move(rows);  // By the number of the step, not of the state after it.
  };
  return source;
}

struct run_options {
  dataset input;
  int64_t steps = 0;  ///< The step to end at.
  int32_t hosts = 1;
  bool continues = false;
  input_change changed = input_change::refuse;
};

/// Runs of one directory, and what they read.
struct kept_job {
  std::shared_ptr<file_system> files = memory_disk::make();
  std::shared_ptr<std::map<int64_t, ids>> seen = std::make_shared<std::map<int64_t, ids>>();
  std::vector<std::string> warnings;

  std::shared_ptr<prepared_job> prepared(const run_options& o) {
    small_job_options how{.max_steps = o.steps,
                          .replicas = o.hosts,
                          .hosts = o.hosts,
                          .input = o.input,
                          .files = files,
                          .source = watched_model(seen)};
    auto job = describe_small(how);
    job.continue_input = o.continues;
    job.input_changed = o.changed;
    auto made = prepare(std::move(job));
    if (!made)
      throw std::runtime_error(to_text(made.error()));
    return *made;
  }
  expected<train_result> run(const run_options& o) {
    simulated_job job{prepared(o), 1};
    auto result = job.wait(std::chrono::hours{10});
    if (!result)
      throw std::runtime_error("the job did not end");
    for (const auto& e : job.events())
      if (e.what == job_event::kind::warning)
        warnings.push_back(e.text);
    return *result;
  }
  /// Ends the process once this step is saved, and forgets what was read beyond it.
  void run_and_kill(const run_options& o, int64_t saved) {
    {
      auto endless = o;
      endless.steps = 1'000;
      simulated_job job{prepared(endless), 1};
      if (!job.crank_until([&] { return job.progress().committed_step >= saved; }))
        throw std::runtime_error("the job ended before step " + std::to_string(saved));
    }
    const auto there = newest_checkpoint(files).content.id.step;
    seen->erase(seen->lower_bound(there), seen->end());
  }
  ids read(int64_t first, int64_t end) const {
    ids all;
    for (auto step = seen->lower_bound(first); step != seen->lower_bound(end); ++step)
      all.insert(all.end(), step->second.begin(), step->second.end());
    return all;
  }
};

ids counting(int64_t first, int64_t end) {
  ids all;
  for (int64_t i = first; i < end; ++i)
    all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("[SUP-59] a second call on a finished job begins the data anew, unless it is to continue them") {
  const auto data = numbered_examples(400).batch(4);
  kept_job anew, continued;
  for (auto* job : {&anew, &continued})
    REQUIRE(job->run({.input = data, .steps = 5}));
  REQUIRE(anew.run({.input = data, .steps = 10}));
  CHECK(anew.read(5, 10) == counting(0, 20));
  REQUIRE(continued.run({.input = data, .steps = 10, .continues = true}));
  CHECK(continued.read(0, 10) == counting(0, 40));
  REQUIRE(continued.run({.input = data, .steps = 15, .continues = true}));
  CHECK(continued.read(0, 15) == counting(0, 60));
}

TEST_CASE("[SUP-59] a call on an interrupted job continues its data") {
  const auto data = numbered_examples(4'000).batch(4);
  kept_job job;
  job.run_and_kill({.input = data}, 10);
  const int64_t saved = newest_checkpoint(job.files).content.id.step;
  REQUIRE(job.run({.input = data, .steps = saved + 6}));
  CHECK(job.read(0, saved + 6) == counting(0, 4 * (saved + 6)));
}

TEST_CASE("data that have ended and are to be continued end a second call at once") {
  const auto data = numbered_examples(24).batch(4);
  kept_job job;
  REQUIRE(job.run({.input = data, .steps = 100})->global_step == 6);
  const auto again = job.run({.input = data, .steps = 100, .continues = true});
  REQUIRE(again);
  CHECK(again->global_step == 6);
  const auto anew = job.run({.input = data, .steps = 100});
  REQUIRE(anew);
  CHECK_MESSAGE(anew->global_step == 12, anew->remark);
}

TEST_CASE("[SUP-60] a source whose position cannot be saved ends a job with checkpoints, naming it") {
  kept_job job;
  const auto failed = job.run({.input = streamed_examples(400, false).batch(4), .steps = 20});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().category == errc::unimplemented);
  CHECK(has(failed.error().message, "counted"));
  kept_job none;
  try {
    none.prepared({.input = dataset{}, .steps = 5});
    FAIL("a job without data was prepared");
  } catch (const std::runtime_error& e) {
    CHECK(has(e.what(), "invalid_argument"));
    CHECK(has(e.what(), "the dataset has no source"));
  }
}

TEST_CASE("[SUP-63] shuffled data go on after a restore as without one, at any place") {
  const auto data = numbered_examples(22).shuffle(9).batch(4).repeat();
  kept_job whole;
  REQUIRE(whole.run({.input = data, .steps = 30}));
  for (const int64_t saved : {5, 10, 15, 20, 25}) {
    kept_job job;
    job.run_and_kill({.input = data}, saved);
    REQUIRE(job.run({.input = data, .steps = 30}));
    CHECK(*job.seen == *whole.seen);
  }
}

TEST_CASE("[SUP-63] an edited pipeline is refused with the first stage that differs, or begins anew with a warning") {
  const auto data = numbered_examples(400);
  kept_job job;
  job.run_and_kill({.input = data.shuffle(1).batch(4)}, 10);
  const int64_t saved = newest_checkpoint(job.files).content.id.step;
  const auto edited = data.skip(40).batch(4);
  const auto refused = job.run({.input = edited, .steps = saved + 5});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::invalid_argument);
  CHECK(has(refused.error().message, "the state was saved by 'shuffle(seed = 1)', here is 'skip(40)'"));
  CHECK(has(to_text(refused.error()), "with input_changed = anew the data begin anew"));
  REQUIRE(job.run({.input = edited, .steps = saved + 5, .changed = input_change::anew}));
  CHECK(job.read(saved, saved + 5) == counting(40, 60));
  REQUIRE(job.warnings.size() >= 1);
  CHECK(std::any_of(job.warnings.begin(), job.warnings.end(), [](const std::string& w) {
    return has(w, "the data begin anew: ") && has(w, "here is 'skip(40)'");
  }));
}

TEST_CASE("[SUP-64] on another number of hosts data are dealt anew: each example once, in the same order") {
  const auto data = numbered_examples(2'000);
  for (const int32_t before : {1, 2, 3})
    for (const int32_t after : {1, 2, 3, 4}) {
      CAPTURE(before);
      CAPTURE(after);
      kept_job job;
      job.run_and_kill({.input = data.batch(12 / before), .hosts = before}, 10);
      const int64_t saved = newest_checkpoint(job.files).content.id.step;
      REQUIRE(job.run({.input = data.batch(12 / after), .steps = saved + 7, .hosts = after}));
      CHECK(job.read(0, saved + 7) == counting(0, 12 * (saved + 7)));
    }
}

TEST_CASE("[SUP-64] other sizes of batches go on where one of them begins, and each example comes once") {
  const auto data = numbered_examples(2'000);
  kept_job job;
  job.run_and_kill({.input = data.batch(4)}, 10);
  const int64_t saved = newest_checkpoint(job.files).content.id.step;
  REQUIRE(job.run({.input = data.batch(2), .steps = saved + 8, .hosts = 2}));
  REQUIRE(job.run({.input = data.batch(saved * 4 + 32), .steps = saved + 9, .continues = true}));
  CHECK(job.read(0, saved + 9) == counting(0, 4 * saved + 32 + 4 * saved + 32));
  const auto refused = job.run({.input = data.batch(7), .steps = saved + 20, .continues = true});
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "where no batch of 7 begins"));
}

TEST_CASE("[SUP-64] hosts go on from the stream that one has read, and the streams of several are refused") {
  const auto data = streamed_examples(2'000, true);
  kept_job job;
  job.run_and_kill({.input = data.batch(4)}, 10);
  const int64_t saved = newest_checkpoint(job.files).content.id.step;
  REQUIRE(job.run({.input = data.batch(4), .steps = saved + 7, .hosts = 2}));
  CHECK(job.read(0, saved) == counting(0, 4 * saved));
  CHECK(job.read(saved, saved + 7) == counting(4 * saved, 4 * saved + 2 * 4 * 7));
  run_options next{.input = data.batch(4), .steps = saved + 9, .continues = true};
  for (const int32_t hosts : {1, 3}) {
    next.hosts = hosts;
    const auto refused = job.run(next);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::failed_precondition);
    CHECK(has(refused.error().message, "the data positions of 2 infeeds, the job has " + std::to_string(hosts)));
  }
  next.changed = input_change::anew;
  REQUIRE(job.run(next));
  CHECK(job.read(saved + 7, saved + 9) == counting(0, 2 * 3 * 4));
}

}  // namespace troupe::test
