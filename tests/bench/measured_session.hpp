// A session on a network so small that only the way there counts, and what of it is measured.
#pragma once

#include "estimator/session_start.hpp"
#include "tests/bench/our_step.hpp"

#include <troupe/nn.hpp>

namespace troupe::bench {

/// 10 inputs, 16 units, 2 classes; batches of 32 rows.
inline training_job small_job() {
  constexpr int64_t examples = 4096, width = 10;
  std::vector<float> x(static_cast<size_t>(examples * width));
  std::vector<int32_t> y(static_cast<size_t>(examples));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 7 % 97) / 97;
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = x[i * width] > 0.5f ? 1 : 0;
  training_job job{.basis = {.source = nullptr, .config = must(resolve_config({}))},
                   .input = must(dataset::from_tensors({{"x", tensor::of<float>({examples, width}, x)}},
                                                       {{"y", tensor::of<int32_t>({examples}, y)}}))
                                .batch(32)
                                .repeat()};
  job.basis.source = std::make_shared<const model>(
      model{"10-16-2", [](graph&, const features& f, const labels& l, mode) {
              const symbol h = nn::dense(f["x"], {.units = 16, .activation = relu});
              return classify(nn::dense(h, {.units = 2}), l["y"], gradient_descent{});
            }});
  return job;
}

/// A run hook that wants nothing.
struct quiet final : run_hook {};
/// A hook that sees every step.
struct watcher final : hook {
  needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
};

class measured_session {
 public:
  explicit measured_session(std::vector<std::shared_ptr<hook>> hooks = {}, const session_options& options = {}) {
    auto job = small_job();
    job.hooks = std::move(hooks);
    local_launcher local;
    session_ = std::make_unique<session>(must(open_by(local, std::move(job), options)));
  }
  ~measured_session() { static_cast<void>(session_->close()); }
  run_result run(const run_request& what) { return must(session_->run(what)); }
  work runs_of(int64_t steps) {
    return [this, steps](int64_t n) {
      for (int64_t made = 0; made < n; made += steps)
        must(session_->run({.steps = steps}));
    };
  }

 private:
  std::unique_ptr<session> session_;
};

}  // namespace troupe::bench
