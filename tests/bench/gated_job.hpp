// A training job that makes steps only when it is told to.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "tests/bench/our_step.hpp"
#include "tests/bench/turnstile.hpp"

namespace troupe::bench {

class gated_job {
 public:
  /// `stride`: the number of steps from one gate to the next.
  gated_job(training_job job, int64_t stride) : turnstile_(std::make_shared<turnstile>(stride)) {
    job.hooks = {turnstile_};
    job.basis.deadlines.hooks = std::chrono::minutes{10};
    job_ = local_launcher{}.train(must(prepare(std::move(job))));
  }
  gated_job(const gated_job&) = delete;
  gated_job& operator=(const gated_job&) = delete;
  ~gated_job() {
    job_->stop(stop_reason::request);
    turnstile_->open();
    job_->wait(std::chrono::seconds{30});
  }
  void run(int64_t steps) { turnstile_->pass(steps); }

 private:
  std::shared_ptr<turnstile> turnstile_;
  std::unique_ptr<running_job> job_;
};

}  // namespace troupe::bench
