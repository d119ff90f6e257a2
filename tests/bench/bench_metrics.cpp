// The cost of metrics. Evaluating 784-256-128-10 over 204,800 rows with a confusion matrix of 10 classes, or with an
// AUC of 200 thresholds, compared with accuracy alone; training 784-128-10 with `train_metrics = all`, compared with
// none.
#include "tests/bench/evaluation_case.hpp"
#include "tests/bench/gated_job.hpp"

#include <troupe/nn.hpp>

namespace troupe::bench {
namespace {

void compare_evaluations(suite& s, const std::string& name, const chosen_metrics& which) {
  const evaluation_case with{which}, without{accuracy_alone};
  constexpr int64_t rows = evaluation_case::rows;
  s.compare(
      {.name = "evaluate/" + name,
       .unit = "rows/s",
       .reference_name = "the evaluation without",
       .rounds = 9,
       .seconds = 1,
       .clock = clock_kind::wall,
       .granule = rows},
      [&](int64_t n) { with.evaluate(n / rows); }, [&](int64_t n) { without.evaluate(n / rows); });
}

training_job trained(train_metrics which, bool confusion) {
  const our_step bare{dense_model({784, 128, 10}, 128), adam{}};
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int64_t step = 0; step < static_cast<int64_t>(batches::count); ++step) {
    x.insert(x.end(), bare.data().pixels(step), bare.data().pixels(step) + 128 * 784);
    y.insert(y.end(), bare.data().labels(step), bare.data().labels(step) + 128);
  }
  const auto rows = std::ssize(y);
  // Filled member by member: if an initialiser may throw, GCC 12 warns of uninitialised members.
  training_job job;
  job.basis.config = must(resolve_config({.seed = 1, .log_step_count_steps = 100, .train_metrics = which}));
  job.input = must(dataset::from_tensors({{"x", tensor::of<float>({rows, 784}, std::span<const float>{x})}},
                                         {{"y", tensor::of<int32_t>({rows}, std::span<const int32_t>{y})}}))
                  .batch(128)
                  .repeat();
  job.basis.source = std::make_shared<const model>(
      model{"dense", [confusion](graph& g, const features& f, const labels& l, mode m) {
              const symbol h = nn::dense(f["x"], {.units = 128, .activation = relu});
              const symbol logits = nn::dense(h, {.units = 10});
              auto spec = multi_class_head{.classes = 10}.spec(
                  g, {.mode = m, .logits = logits, .labels = l["y"], .optimizer = adam{}});
              if (confusion)
                spec.metrics["confusion"] = metrics::confusion_matrix(l["y"], argmax(logits), 10);
              return spec;
            }});
  return job;
}

void compare_training(suite& s, const std::string& name, bool confusion) {
  constexpr int64_t stride = 200;
  gated_job with{trained(train_metrics::all, confusion), stride},
      without{trained(train_metrics::none, confusion), stride};
  s.compare(
      {.name = "train 784-128-10 b128/" + name,
       .reference_name = "train_metrics = none",
       .rounds = 41,
       .seconds = 0.5,
       .clock = clock_kind::wall,
       .granule = stride},
      [&](int64_t n) { with.run(n); }, [&](int64_t n) { without.run(n); });
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  suite s{"metrics", argc, argv};
  compare_evaluations(s, "confusion", confusion_too);
  compare_evaluations(s, "auc", auc_too);
  compare_training(s, "all", false);
  compare_training(s, "all, confusion", true);
}
