// A group that begins while its job is under way has the bits of one that begins with its job.
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/growing_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t begins_at = 24;  // Two passes over the data: both groups see the same batches, from the first one on.

dataset two_passes_in_24() { return small_dataset().batch(4).repeat(); }

/// All that depends on the number of a step: dropout, the bias corrections of Adam, a schedule and a warmup.
model counting_candidate() {
  return {"c", [](graph& g, const features& x, const labels& y, mode m) {
            const auto scope = g.scope("c");
            const auto h = troupe::dropout(nn::dense(x["x"], {.units = 5, .activation = relu}), 0.2, m == mode::train);
            const auto logits = nn::dense(h, {.units = 3});
            optimizer by{adam{.rate = 0.05f}, exponential_decay{.decay_steps = 6, .decay_rate = 0.5f}, 3};
            auto spec = multi_class_head{.classes = 3}.spec(
                g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = by});
            spec.predictions = {{"logits", logits}};
            return spec;
          }};
}

/// A job whose second iteration, from state 24 on, has that candidate as its group c.
growing_options grows_by_it(bool counts_from_there = true) {
  growing_options j;
  j.o.max_steps = 2 * begins_at;
  j.o.input = two_passes_in_24();
  j.grows_at = begins_at;
  j.edit = [counts_from_there](hand_written& w, int64_t iteration) {
    for (auto& g : w.plan.groups) {
      if (iteration == 0 || g.name != "c")
        continue;
      g.begins_at = counts_from_there ? begins_at : 0;
      for (size_t p = 0; p < w.plan.programs.size(); ++p)
        if (w.plan.programs[p].group == g.id)
          w.resources.models[p] = std::make_shared<const model>(counting_candidate());
    }
  };
  return j;
}

/// The values of one tag by the number of steps since `first`.
std::map<int64_t, double> curve(const std::shared_ptr<file_system>& files, const std::string& tag, int64_t first) {
  std::map<int64_t, double> points;
  for (const auto& e : events_in(*files, "/run"))
    for (const auto& v : e.values)
      if (v.tag == tag)
        points[e.step - first] = v.scalar;
  return points;
}

struct told {
  std::map<std::string, tensor> variables;
  std::map<int64_t, double> rates, losses;
};

/// What the candidate becomes in 24 steps of a job of its own.
const told& alone() {
  static const auto all = [] {
    small_job_options o{.max_steps = begins_at, .input = two_passes_in_24(), .source = counting_candidate()};
    auto d = describe_small(o);
    d.basis.config.summary_steps = 4;
    run_to_end(std::move(d));
    return told{variables(newest_checkpoint(o.files).content, "c/"), curve(o.files, "learning_rate", 0),
                curve(o.files, "loss", 0)};
  }();
  return all;
}

}  // namespace

TEST_CASE(
    "a group that begins at state 24 has the bits of one that begins at 0 on the same batches: dropout, bias "
    "corrections and schedule count from there, and so does the rate in its summaries") {
  REQUIRE(alone().variables.size() > 4);
  REQUIRE(alone().rates.size() == 6);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const auto j = grows_by_it();
    simulated_job job{prepare_growing(j), seed};
    CHECK(variables(state_at_end(job, j.o.files), "c/") == alone().variables);
    CHECK(curve(j.o.files, "c/learning_rate", begins_at) == alone().rates);
    CHECK(curve(j.o.files, "c/loss", begins_at) == alone().losses);
  }
}

TEST_CASE("a group that counts its steps from the beginning of its job does not") {
  const auto j = grows_by_it(false);
  simulated_job job{prepare_growing(j), 1};
  CHECK_FALSE(variables(state_at_end(job, j.o.files), "c/") == alone().variables);
  CHECK_FALSE(curve(j.o.files, "c/learning_rate", begins_at) == alone().rates);
}

TEST_CASE("a group that begins at state 24 has these bits although its job was killed and goes on in another process") {
  for (const int64_t killed_at : {begins_at, begins_at + 1, begins_at + 11}) {
    CAPTURE(killed_at);
    const auto j = grows_by_it();
    {
      simulated_job job{prepare_growing(j), 2};
      REQUIRE(job.crank_until([&] { return job.progress().step >= killed_at; }));
    }
    simulated_job next{prepare_growing(j), 3};
    CHECK(variables(state_at_end(next, j.o.files), "c/") == alone().variables);
  }
}

}  // namespace troupe::test
