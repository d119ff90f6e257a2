// A session in a simulated world, and run hooks that keep a book of their calls.
#pragma once

#include "estimator/session_start.hpp"
#include "tests/support/small_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using texts = std::vector<std::string>;

class simulated_session final : public one_simulated {
 public:
  explicit simulated_session(training_job job, uint64_t seed = 1, const session_options& options = {},
                             world_conditions conditions = {}, std::shared_ptr<follower_time> time = system_time(),
                             const session_services& services = {})
    : one_simulated(seed, std::move(conditions)),
      opened_(open_by(launcher_, std::move(job), options, std::move(time), services)) {}
  explicit simulated_session(const small_job_options& o, uint64_t seed = 1, const session_options& options = {})
    : simulated_session(describe_small(o), seed, options) {}
  simulated_session(const simulated_session&) = delete;
  ~simulated_session() {
    const bool has_begun = opened_.has_value();
    opened_ = fail(errc::state, "over");
    if (has_begun)
      world().end_all();
  }

  const expected<session>& opened() const { return opened_; }
  session* operator->() {
    REQUIRE_MESSAGE(opened_, (opened_ ? "" : to_text(opened_.error())));
    return &*opened_;
  }
  /// Makes one run that must succeed.
  run_result run(int64_t steps = 1, std::vector<std::string> fetches = {}) {
    auto made = (*this)->run({.what = {.fetches = std::move(fetches)}, .steps = steps});
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    return *made;
  }
  /// How often the job has recovered.
  int64_t recoveries() const {
    const auto& all = events();
    return std::count_if(all.begin(), all.end(),
                         [](const job_event& e) { return e.what == job_event::kind::recovered; });
  }
  /// Closes the session, which must succeed.
  train_result close() {
    auto result = (*this)->close();
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    CHECK(left().empty());
    return *result;
  }

 private:
  expected<session> opened_;
};

/// Signs each of its calls in a book that hooks may share.
struct signing_hook : run_hook {
  std::string name;
  texts& book;
  run_arguments wants = {};
  std::vector<run_facts> seen = {};
  std::vector<run_context> asked = {};
  std::function<void(int64_t step, job_control&job)> before = {}, after = {};

  signing_hook(std::string n, texts& b, run_arguments w = {}) : name(std::move(n)), book(b), wants(std::move(w)) {}
  void sign(const std::string& what, int64_t step) { book.push_back(what + " " + std::to_string(step) + " " + name); }
  needs begin(int64_t step) override {
    sign("begin", step);
    return {};
  }
  void after_create(int64_t step) override { sign("create", step); }
  run_arguments before_run(const run_context& run, job_control& job) override {
    sign("before", run.begins);
    asked.push_back(run);
    if (before)
      before(run.begins, job);
    return wants;
  }
  void after_run(const run_facts& run, job_control& job) override {
    sign("after", run.step);
    seen.push_back(run);
    if (after)
      after(run.step, job);
  }
  void end(int64_t step) override { sign("end", step); }
  void on_abort(const error&) override { sign("abort", -1); }
};

}  // namespace troupe::test
