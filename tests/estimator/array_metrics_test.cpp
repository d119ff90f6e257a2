// Metrics that are arrays, from the model to results, hooks and event files.
#include "storage/files/file_system.hpp"
#include "support/event_files.hpp"
#include "support/temporary_directory.hpp"

#include <troupe/estimator.hpp>
#include <troupe/metrics.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A model that predicts x as the class, for the label y. It has a variable, so that it can be trained.
estimator told_classes(const std::string& directory) {
  return {model{"told",
                [](graph& g, const features& x, const labels& y, mode m) {
                  const symbol v = g.variable({.name = "v", .dims = {}, .initial = init::ones()});
                  model_spec spec{.mode = m,
                                  .loss = reduce_mean(v * cast(x["x"], dtype::float32)),
                                  .optimizer = gradient_descent{}};
                  spec.metrics = {{"accuracy", metrics::accuracy(y["y"], x["x"])},
                                  {"confusion", metrics::confusion_matrix(y["y"], x["x"], 3)}};
                  return spec;
                }},
          {.model_dir = directory, .save_checkpoints_steps = 1, .log_step_count_steps = 2}};
}

dataset told_data() {
  return *dataset::from_tensors({{"x", tensor::of<int32_t>({6}, {0, 1, 2, 2, 1, 0})}},
                                {{"y", tensor::of<int32_t>({6}, {0, 1, 1, 2, 2, 0})}});
}

const tensor table = tensor::of<double>({3, 3}, {2, 0, 0, 0, 1, 1, 0, 1, 1});

/// Records the confusion matrix of each kind of event.
struct array_hook final : hook {
  void on_event(const job_event& e, job_control&) override {
    if (!e.arrays.empty())
      seen[std::string{to_string(e.what)}] = e.arrays.at("confusion");
  }
  std::map<std::string, tensor> seen;
};

/// The last value of each tag in the event files of a directory.
std::map<std::string, summary_value> last_values(const std::string& directory) {
  std::map<std::string, summary_value> all;
  for (const auto& e : events_in(*posix_file_system(), directory))
    for (const auto& v : e.values)
      all[v.tag] = v;
  return all;
}

}  // namespace

TEST_CASE("[MET-35] an array of an evaluation is in its result, and in the event file as a table and a picture") {
  const temporary_directory directory;
  const auto e = told_classes(directory / "m");
  REQUIRE(train(e, {.input = told_data().batch(2), .max_steps = 1}));
  const auto result = evaluate(e, {.input = told_data().batch(4)});
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  CHECK(result->arrays == std::map<std::string, tensor>{{"confusion", table}});
  CHECK(result->metrics.at("accuracy") == doctest::Approx(4.0 / 6));
  CHECK_FALSE(result->metrics.contains("confusion"));
  const auto values = last_values(directory / "m/eval");
  CHECK(values.at("confusion").what == summary_value::kind::text);
  CHECK(values.at("confusion").text
        == "| | 0 | 1 | 2 |\n|---|---|---|---|\n| **0** | 2 | 0 | 0 |\n| **1** | 0 | 1 | 1 |\n| **2** | 0 | 1 | 1 |");
  CHECK(values.at("confusion/image").image.dims() == shape{255, 255, 1});
  CHECK(values.at("accuracy").scalar == doctest::Approx(4.0 / 6));
}

TEST_CASE("[MET-35] an array is in events of training and evaluation, and in the result of both") {
  const temporary_directory directory;
  const auto watcher = std::make_shared<array_hook>();
  const auto result = train_and_evaluate(told_classes(directory / "m"),
                                         {.input = told_data().batch(3), .max_steps = 2, .hooks = {watcher}},
                                         {.input = told_data().batch(4), .throttle_secs = 0});
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  CHECK(result->arrays.at("confusion") == table);
  CHECK(watcher->seen.at("evaluated") == table);
  // Of the rows of step 1, which leads to the state of the log point.
  CHECK(watcher->seen.at("progress") == tensor::of<double>({3, 3}, {1, 0, 0, 0, 0, 0, 0, 1, 1}));
  const auto values = last_values(directory / "m");
  CHECK(values.at("confusion").what == summary_value::kind::text);
  CHECK(values.at("confusion/image").what == summary_value::kind::image);
}

TEST_CASE("[MET-35] a table has indices for a matrix, aligned columns, and stands for itself when it is too large") {
  CHECK(arrays_text({}) == "");
  CHECK(arrays_text({{"confusion", tensor::of<double>({2, 3}, {10, 0, 1, 0, 2.5, 0})}})
        == "confusion\n         0    1    2\n    0   10    0    1\n    1    0  2.5    0\n");
  CHECK(arrays_text({{"recall", tensor::of<double>({3}, {0.25, 1, 0})}}) == "recall\n  0.25     1     0\n");
  CHECK(arrays_text({{"a", tensor::zeros(dtype::float64, {21, 2})}, {"b", tensor::zeros(dtype::float64, {2, 2, 2})}})
        == "a [21, 2]\nb [2, 2, 2]\n");
}

}  // namespace troupe::test
