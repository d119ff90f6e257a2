// The event files of whole jobs.
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

namespace troupe::test {

namespace {

/// The values of one tag by step, as a reader shows them that obeys START notes.
std::map<int64_t, summary_value> curve(const std::vector<log_event>& events, const std::string& tag) {
  std::map<int64_t, summary_value> points;
  for (const auto& e : events) {
    if (e.note && e.note->what == session_note::kind::start)
      points.erase(points.lower_bound(e.step), points.end());
    for (const auto& v : e.values)
      if (v.tag == tag)
        points[e.step] = v;
  }
  return points;
}

steps steps_in(const std::map<int64_t, summary_value>& points) {
  steps all;
  for (const auto& [step, value] : points)
    all.push_back(step);
  return all;
}

training_job described(const small_job_options& o, int64_t every = 4) {
  auto d = describe_small(o);
  d.basis.config.summary_steps = every;
  return d;
}

model recording_model() {
  return model{"small", [base = small_model()](graph& g, const features& x, const labels& y, mode m) {
                 auto spec = base.build(g, x, y, m);
                 if (m == mode::train) {
                   g.scalar("twice", scale(spec.loss, 2));
                   g.histogram("inputs", x["x"]);
                   g.text("notes", "what this run is about");
                 }
                 return spec;
               }};
}

}  // namespace

TEST_CASE("loss, rate and a histogram of each trainable variable are kept on exact multiples of save_summary_steps") {
  small_job_options o{.max_steps = 21};
  run_to_end(described(o));
  const auto events = events_in(*o.files, "/run");
  CHECK(events.at(0).file_version == "brain.Event:2");
  CHECK(steps_in(curve(events, "loss")) == steps{4, 8, 12, 16, 20});
  CHECK(steps_in(curve(events, "learning_rate")) == steps{4, 8, 12, 16, 20});
  CHECK(curve(events, "learning_rate").at(4).scalar == doctest::Approx(0.01));
  const auto final = newest_checkpoint(o.files).content;
  std::set<std::string> histograms;
  for (const auto& e : events)
    for (const auto& v : e.values)
      if (v.what == summary_value::kind::histogram)
        histograms.insert(v.tag);
  CHECK(histograms == std::set<std::string>{"dense/bias", "dense/kernel", "dense_1/bias", "dense_1/kernel"});
  for (const auto& t : final.tensors)
    if (histograms.contains(t.name)) {
      const auto h = curve(events, t.name).at(20).histogram;
      CHECK(std::accumulate(h.counts.begin(), h.counts.end(), 0.0) == static_cast<double>(t.value.elements()));
    }
}

TEST_CASE("a variable's histogram is of the very state it is filed under") {
  small_job_options o{.max_steps = 20};
  run_to_end(described(o));
  const auto state = newest_checkpoint(o.files).content;
  const auto events = events_in(*o.files, "/run");
  for (const auto& t : state.tensors)
    if (t.name == "dense/kernel") {
      const auto x = t.value.as<float>();
      const auto h = curve(events, "dense/kernel").at(20).histogram;
      CHECK(h.least == static_cast<double>(*std::min_element(x.begin(), x.end())));
      CHECK(h.greatest == static_cast<double>(*std::max_element(x.begin(), x.end())));
      CHECK(h.sum == doctest::Approx(std::accumulate(x.begin(), x.end(), 0.0)));
    }
}

TEST_CASE(
    "records are the same for one replica and for two with the same shards, and recording does not change training") {
  std::map<int64_t, std::vector<double>> seen;
  std::vector<checkpoint_content> states;
  for (const int64_t replicas : {1, 2}) {
    small_job_options o{.max_steps = 12, .replicas = replicas, .shards = 2, .source = recording_model()};
    run_to_end(described(o), static_cast<uint64_t>(replicas));
    const auto events = events_in(*o.files, "/run");
    CHECK(steps_in(curve(events, "twice")) == steps{4, 8, 12});
    CHECK(steps_in(curve(events, "notes")) == steps{4});
    for (const auto& [step, v] : curve(events, "twice"))
      seen[step].push_back(v.scalar);
    CHECK_MESSAGE(curve(events, "inputs").at(4).histogram.count == 4 * 8, "the whole global batch");
    states.push_back(newest_checkpoint(o.files).content);
  }
  for (const auto& [step, values] : seen)
    CHECK(values[0] == values[1]);
  small_job_options plain{.max_steps = 12, .shards = 2};
  run_to_end(described(plain, 0));
  states.push_back(newest_checkpoint(plain.files).content);
  CHECK(same_state(states[0], states[1]));
  CHECK(same_state(states[0], states[2]));
  CHECK_MESSAGE(list_event_logs(*plain.files, "/run")->empty(), "save_summary_steps = 0: no event file");
}

TEST_CASE("a summary of the model's own takes the place of the default one of its tag") {
  small_job_options o{
      .max_steps = 8,
      .source = model{"small", [base = small_model()](graph& g, const features& x, const labels& y, mode m) {
                        auto spec = base.build(g, x, y, m);
                        if (m == mode::train) {
                          g.scalar("loss", scale(spec.loss, -1));
                          g.histogram("dense/kernel", x["x"]);
                        }
                        return spec;
                      }}};
  run_to_end(described(o));
  const auto events = events_in(*o.files, "/run");
  for (const auto& e : events) {
    std::set<std::string> tags;
    for (const auto& v : e.values)
      CHECK_MESSAGE(tags.insert(v.tag).second, v.tag);
  }
  CHECK(curve(events, "loss").at(8).scalar < 0);
  CHECK_MESSAGE(curve(events, "dense/kernel").at(8).histogram.count == 4 * 8, "the inputs, not the 40 weights");
  CHECK(curve(events, "dense_1/kernel").at(8).histogram.count == 15);
}

TEST_CASE(
    "[EST-61] every checkpoint is noted, and a resumed job goes on in a file of its own with one unbroken curve") {
  small_job_options o{.max_steps = 18};
  run_to_end(described(o));
  o.max_steps = 30;
  run_to_end(described(o), 2);
  REQUIRE(list_event_logs(*o.files, "/run")->size() == 2);
  const auto events = events_in(*o.files, "/run");
  CHECK(steps_in(curve(events, "loss")) == steps{4, 8, 12, 16, 20, 24, 28});
  steps starts, checkpoints;
  for (const auto& e : events)
    if (e.note)
      (e.note->what == session_note::kind::start ? starts : checkpoints).push_back(e.step);
  CHECK(starts == steps{1, 19});
  CHECK(checkpoints == steps{0, 5, 10, 15, 18, 20, 25, 30});
}

TEST_CASE("a checkpoint is committed only when the summaries up to its step are in the file, whatever the schedule") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto disk = memory_disk::make();
    small_job_options o{.max_steps = 40, .replicas = 2, .files = disk};
    simulated_job job{*prepare(described(o, 1)), seed};
    int64_t newest = 0;
    // After every turn the files must have the summaries of all steps below each commit.
    REQUIRE(job.crank_until([&] {
      if (disk->info("/run/model.ckpt-" + std::to_string(newest + 5) + ".manifest.json")) {
        newest += 5;
        CHECK(curve(events_in(*disk, "/run"), "loss").size() >= static_cast<size_t>(newest));
      }
      return newest == 40;
    }));
    REQUIRE(job.wait(std::chrono::hours{1})->has_value());
  }
}

TEST_CASE(
    "points that a crash left beyond the last commit are replaced by those of the run that goes on, and none is lost") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    small_job_options o{.max_steps = 60};
    {
      simulated_job job{*prepare(described(o, 2)), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 23; }));
      for (const auto* node : {"replica/0", "checkpoint_writer", "summary_writer"})
        job.kill(node);
      REQUIRE(job.wait(std::chrono::hours{1}));
    }
    run_to_end(described(o, 2), seed + 100);
    const auto points = curve(events_in(*o.files, "/run"), "loss");
    small_job_options whole{.max_steps = 60};
    run_to_end(described(whole, 2), 1);
    const auto wanted = curve(events_in(*whole.files, "/run"), "loss");
    CAPTURE(seed);
    // The killed writer lost its unflushed records, all of which were beyond the last commit.
    CHECK(steps_in(points) == steps_in(wanted));
    for (const auto& [step, v] : points)
      CHECK(v.scalar == wanted.at(step).scalar);
  }
}

TEST_CASE(
    "[EST-34] an evaluation leaves its metrics without the step, then the checkpoint's path, in a folder of its name") {
  small_job_options o{.max_steps = 10, .evaluates = true};
  auto d = described(o);
  d.evaluations.front().data.name = "test";
  run_to_end(std::move(d));
  const auto events = events_in(*o.files, "/run/eval_test");
  REQUIRE(events.size() == 5);  // The file version, then two for each evaluation.
  for (size_t i : {1, 3}) {
    std::set<std::string> tags;
    for (const auto& v : events[i].values)
      tags.insert(v.tag);
    CHECK(tags == std::set<std::string>{"accuracy", "average_loss", "loss"});
    CHECK(events[i + 1].step == events[i].step);
    CHECK(events[i + 1].values.at(0).tag == "checkpoint_path");
    CHECK(events[i + 1].values.at(0).text == "/run/model.ckpt-" + std::to_string(events[i].step));
  }
  CHECK(events[1].step == 5);
  CHECK(events[3].step == 10);
}

TEST_CASE("a summary writer that dies or cannot write fails the job after a last save, and says so") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto disk = faulty_file_system::around(memory_disk::make());
    small_job_options o{.max_steps = 4000, .files = disk};
    simulated_job job{*prepare(described(o)), seed};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
    const auto began = job.now();
    SUBCASE("it dies") { REQUIRE(job.kill("summary_writer")); }
    SUBCASE("the disk is full for its file") {
      disk->inject({.operation = file_operation::append, .path_contains = "tfevents"});
    }
    auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result.has_value());
    REQUIRE_FALSE(result->has_value());
    CHECK_MESSAGE(job.now() - began < std::chrono::minutes{1}, "no save waits for books that went with it");
    CHECK(job.left().empty());
    CHECK(result->error().source == "summary_writer");
    CHECK((result->error().category == errc::aborted || result->error().category == errc::resource_exhausted));
    CHECK(newest_checkpoint(o.files).content.id.step >= 7);
  }
}

TEST_CASE("a job that records every step loses none, whatever the schedule") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    small_job_options o{.max_steps = 100, .replicas = 2};
    run_to_end(described(o, 1), seed);
    CHECK(curve(events_in(*o.files, "/run"), "loss").size() == 100);
  }
}

}  // namespace troupe::test
