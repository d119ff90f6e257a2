// The evaluation that benchmarks measure: 784-256-128-10 on made-up data, with a choice of metrics.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/our_step.hpp"

#include <troupe/metrics.hpp>
#include <troupe/nn.hpp>

#include <array>
#include <thread>

namespace troupe::bench {

/// Makes the metrics from labels, int32 [batch], and logits [batch, 10].
using chosen_metrics = std::function<std::map<std::string, metric>(symbol labels, symbol logits)>;

inline std::map<std::string, metric> accuracy_alone(symbol y, symbol logits) {
  return {{"accuracy", metrics::accuracy(y, argmax(logits))}};
}

inline std::map<std::string, metric> confusion_too(symbol y, symbol logits) {
  auto all = accuracy_alone(y, logits);
  all["confusion"] = metrics::confusion_matrix(y, argmax(logits), 10);
  return all;
}

/// Accuracy, and an AUC of 200 thresholds for class 0 against all others.
inline std::map<std::string, metric> auc_too(symbol y, symbol logits) {
  auto all = accuracy_alone(y, logits);
  all["auc"] = metrics::auc(equal(y, number_like(y, 0)), reshape(slice(softmax(logits), 1, 0, 1), {extent{-1}}));
  return all;
}

class evaluation_case {
 public:
  /// An evaluation reads the data in memory ten times.
  static constexpr int64_t batch = 512, held = 40 * batch, rows = 10 * held;

  explicit evaluation_case(chosen_metrics which)
    : source_(std::make_shared<const model>(
        model{"dense", [which](graph&, const features& f, const labels& l, mode m) {
                symbol h = nn::dense(f["x"], {.units = 256, .activation = relu});
                const symbol logits = nn::dense(nn::dense(h, {.units = 128, .activation = relu}), {.units = 10});
                return model_spec{.mode = m,
                                  .loss = reduce_mean(sparse_softmax_cross_entropy(l["y"], logits)),
                                  .optimizer = adam{},
                                  .metrics = which(l["y"], logits)};
              }})) {
    uint32_t state = 1;
    const auto next = [&state] { return (state = state * 1664525 + 1013904223) >> 8; };
    std::vector<float> x(static_cast<size_t>(held) * 784);
    std::vector<int32_t> y(static_cast<size_t>(held));
    for (auto& v : x)
      v = static_cast<float>(next()) * 0x1p-24f;
    for (auto& v : y)
      v = static_cast<int32_t>(next() % 10);
    x_ = tensor::of<float>({held, 784}, std::span<const float>{x});
    y_ = tensor::of<int32_t>({held}, std::span<const int32_t>{y});
    data_ = must(dataset::from_tensors({{"x", x_}}, {{"y", y_}}));
    built_ = must(build_graph(
        *source_, {.features = {{"x", dtype::float32, {784}}}, .labels = {{"y", dtype::int32, {}}}}, mode::evaluate));
    store_ = must(parameter_store::create(must(layout_of(*built_)), 1));
    store_->initialise(1);
    for (auto& p : programs_)
      p = must(program::make(built_->g, built_->spec, store_->layout(), {.batch = batch}));
  }

  /// Runs whole evaluations of `rows` rows each, on this machine's threads. The batches are dealt to the replicas.
  void evaluate(int64_t times, int32_t replicas = 1) const {
    for (; times > 0; --times) {
      evaluation_job job{.basis = {.source = source_, .config = must(resolve_config({.seed = 1}))},
                         .data = {.input = data_.repeat(rows / held).batch(batch), .replicas = replicas}};
      must(local_launcher{}.evaluate(must(prepare(std::move(job))))->wait());
    }
  }
  /// Runs the program on `batches` batches, one after the other.
  void loop(int64_t batches) const { loop(*programs_.front(), 0, batches, 1); }
  /// The same in two threads, which take turns with the batches.
  void two_loops(int64_t batches) const {
    const std::jthread other{[&] { loop(*programs_.back(), 1, batches, 2); }};
    loop(*programs_.front(), 0, batches, 2);
  }

 private:
  void loop(program& p, int64_t first_batch, int64_t batches, int64_t every) const {
    for (int64_t b = first_batch; b < batches; b += every) {
      const int64_t first = b % (held / batch) * batch;
      std::vector<const std::byte*> feeds;
      for (const auto& c : p.inputs())
        feeds.push_back((c.name == "x" ? x_ : y_).slice(first, batch).data());
      if (p.run({.step = b, .parameters = store_->arena(0), .shared = store_->shared(), .feeds = feeds})
          != step_status::ok)
        std::abort();
    }
  }

  std::shared_ptr<const model> source_;
  tensor x_, y_;
  dataset data_;
  std::unique_ptr<model_graph> built_;
  std::shared_ptr<parameter_store> store_;
  std::array<std::unique_ptr<program>, 2> programs_;
};

}  // namespace troupe::bench
