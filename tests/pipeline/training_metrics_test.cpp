// Metrics of training at log points, of the last step or of all steps since the last point, for several numbers of
// replicas.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "tests/models/metrics/every_metric.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using rows_of = listed_metric::rows;
constexpr size_t examples = 160, batch = 8;  // 20 steps.

const std::vector<std::pair<std::string, rows_of>> kinds{
    {"binary", rows_of::binary}, {"classes", rows_of::classes}, {"numbers", rows_of::numbers}};

/// The columns of all kinds in one dataset.
dataset data_of_all() {
  std::vector<std::pair<std::string, tensor>> features;
  const auto add = [&](const std::string& name, const std::vector<float>& column) {
    features.emplace_back(name, tensor::of<float>({std::ssize(column)}, std::span<const float>{column}));
  };
  for (const auto& [name, of] : kinds) {
    const auto c = rows_for(of, examples);
    add(name + "/label", c.label);
    add(name + "/prediction", c.prediction);
    add(name + "/weight", c.weight);
  }
  return *dataset::from_tensors(features, {});
}

/// A model with every metric. The metrics depend on features only, so that training does not change them.
model of_all_metrics() {
  return {"all", [](graph& g, const features& x, const labels&, mode m) {
            const symbol v = g.variable({.name = "v", .dims = {}, .initial = init::ones()});
            model_spec spec{.mode = m,
                            .loss = reduce_mean(square(v * x["numbers/prediction"])),
                            .optimizer = gradient_descent{.rate = 0.01f}};
            for (const auto& [name, one] : every_metric()) {
              const auto& kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) {
                                   return k.second == one.of;
                                 })->first;
              spec.metrics[name] = one.build(x[kind + "/label"], x[kind + "/prediction"], x[kind + "/weight"]);
            }
            return spec;
          }};
}

struct metrics_outcome {
  std::vector<job_event> progress;
  std::vector<log_event> file;
  checkpoint_content state;
};

metrics_outcome outcome_of(small_job_options o, train_metrics which, int64_t summary_steps = 4) {
  o.files = memory_disk::make();
  auto d = describe_small(o);
  d.basis.config.train_metrics = which;
  d.basis.config.summary_steps = summary_steps;
  auto prepared = prepare(std::move(d));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_job job{*prepared, 5};
  run_to_end(job);
  metrics_outcome all;
  for (const auto& e : job.events())
    if (e.what == job_event::kind::progress)
      all.progress.push_back(e);
  if (summary_steps > 0)
    all.file = events_in(*o.files, "/run");
  all.state = newest_checkpoint(o.files).content;
  return all;
}

/// The value of a metric, a number or an array, as a vector.
std::vector<double> value_in(const job_event& e, const std::string& name) {
  if (const auto number = e.metrics.find(name); number != e.metrics.end())
    return {number->second};
  REQUIRE(e.arrays.contains(name));
  const auto elements = e.arrays.at(name).as<double>();
  return {elements.begin(), elements.end()};
}

/// Compares the metrics at the log points, every 5 steps, with those computed from the rows of the last `of_steps`
/// steps before each point.
void check_points(const metrics_outcome& job, size_t of_steps) {
  REQUIRE(job.progress.size() == 4);
  for (const auto& [name, one] : every_metric()) {
    CAPTURE(name);
    measured direct{one.build, true};
    const auto data = rows_for(one.of, examples);
    for (const auto& e : job.progress) {
      const auto last = static_cast<size_t>(e.step) * batch;
      check_near(value_in(e, name), values_of(direct.totals(data, last - of_steps * batch, last, of_steps * batch)));
    }
  }
}

/// The steps at which a tag has a value.
steps steps_with(const metrics_outcome& job, const std::string& tag) {
  steps all;
  for (const auto& e : job.file)
    for (const auto& v : e.values)
      if (v.tag == tag)
        all.push_back(e.step);
  return all;
}

}  // namespace

TEST_CASE(
    "[MET-34, MET-36] every metric of all steps since the last log point equals that of their rows, on 1, 2 and 4 "
    "replicas and on 1 of 4 shards") {
  for (const auto& [replicas, shards] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {4, 4}, {1, 4}, {2, 4}}) {
    CAPTURE(replicas);
    CAPTURE(shards);
    check_points(outcome_of({.replicas = replicas,
                             .shards = shards,
                             .input = data_of_all().batch(batch).repeat(),
                             .source = of_all_metrics()},
                            train_metrics::all),
                 5);
  }
}

TEST_CASE("[MET-36] where only log points are measured, metrics are those of the step that leads to each") {
  for (const int64_t replicas : {1, 4})
    check_points(
        outcome_of({.replicas = replicas, .input = data_of_all().batch(batch).repeat(), .source = of_all_metrics()},
                   train_metrics::logged),
        1);
}

TEST_CASE("[MET-36] without metrics of training progress has none, and with them the state is the same to the bit") {
  const small_job_options job{.replicas = 2, .shards = 4};
  const auto none = outcome_of(job, train_metrics::none), logged = outcome_of(job, train_metrics::logged),
             all = outcome_of(job, train_metrics::all);
  CHECK(none.progress.front().metrics.empty());
  CHECK(logged.progress.front().metrics.size() == 2);
  CHECK(same_state(none.state, logged.state));
  CHECK(same_state(none.state, all.state));
}

TEST_CASE(
    "[MET-36] metrics of training are in the event file under their own names, also between summaries, and texts once "
    "with the first summary") {
  auto source = small_model();
  source.build = [base = source.build](graph& g, const features& x, const labels& y, mode m) {
    auto spec = base(g, x, y, m);
    if (m == mode::train)
      g.text("notes", "once");
    return spec;
  };
  const auto job = outcome_of({.source = source}, train_metrics::all, 8);
  CHECK(steps_with(job, "accuracy") == steps{5, 10, 15, 20});
  CHECK(steps_with(job, "average_loss") == steps{5, 10, 15, 20});
  CHECK(steps_with(job, "loss") == steps{8, 16});
  CHECK(steps_with(job, "notes") == steps{8});
  for (const auto& e : job.file)
    for (const auto& v : e.values)
      if (v.tag == "accuracy")
        CHECK(v.scalar == doctest::Approx(job.progress[static_cast<size_t>(e.step / 5 - 1)].metrics.at("accuracy")));
}

TEST_CASE("[MET-36] a summary of the model under the name of a metric takes its place at its steps") {
  auto source = small_model();
  source.build = [base = source.build](graph& g, const features& x, const labels& y, mode m) {
    auto spec = base(g, x, y, m);
    if (m == mode::train)
      g.scalar("accuracy", g.constant(tensor::scalar(7.0f)));
    return spec;
  };
  const auto job = outcome_of({.source = source}, train_metrics::all, 5);
  int found = 0;
  for (const auto& e : job.file)
    for (const auto& v : e.values)
      if (v.tag == "accuracy") {
        CHECK(v.scalar == 7);
        ++found;
      }
  CHECK(found == 4);
  CHECK(job.progress.front().metrics.at("accuracy") <= 1);
}

TEST_CASE("[MET-36] a function of a metric that throws in training ends the job with an error that names it") {
  const model bad{
      "bad", [](graph& g, const features& x, const labels&, mode m) {
        const symbol v = g.variable({.name = "v", .dims = {}, .initial = init::ones()});
        model_spec spec{.mode = m, .loss = reduce_mean(square(v * x["x"])), .optimizer = gradient_descent{}};
        spec.metrics["mine"] = metric{
            {reduce_sum(x["x"])}, [](std::span<const tensor>) -> metric_value { throw std::runtime_error{"no luck"}; }};
        return spec;
      }};
  simulated_job job{prepare_small({.source = bad}), 5};
  const auto result = job.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(has(to_text(result->error()), "an exception left metric 'mine': no luck"));
  CHECK(result->error().category == errc::state);
}

}  // namespace troupe::test
