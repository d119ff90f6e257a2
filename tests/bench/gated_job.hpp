// A training job that makes steps only when it is told to.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "tests/bench/bench.hpp"
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

/// Compares whole jobs by the wall clock; both make `stride` steps from gate to gate.
inline void compare_jobs(suite& s, const std::string& name, gated_job& ours, const std::string& reference_name,
                         gated_job& reference, int64_t stride) {
  s.compare(
      {.name = name,
       .reference_name = reference_name,
       .rounds = 15,
       .seconds = 0.5,
       .clock = clock_kind::wall,
       .granule = stride},
      [&](int64_t n) { ours.run(n); }, [&](int64_t n) { reference.run(n); });
}

}  // namespace troupe::bench
