// A chief and an evaluator as two processes of one simulated world, over one model directory on a memory disk.
#pragma once

#include "pipeline/launch/simulated_process.hpp"
#include "storage/examination/examination.hpp"
#include "tests/support/event_files.hpp"
#include "tests/support/small_job.hpp"
#include "words/checkpoint_books.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

inline follower_job describe_follower_small(const small_job_options& o) {
  follower_job job{.basis = small_basis(o), .max_steps = o.max_steps};
  job.evaluations = {{.data = small_evaluation(), .throttle_secs = o.throttle_secs}};
  job.listeners = {nullptr};
  return job;
}

/// A training whose evaluations another process makes.
inline training_job describe_judged_elsewhere(const small_job_options& o) {
  auto job = describe_small(o);
  job.judged_elsewhere = true;
  return job;
}

inline std::vector<int64_t> evaluated_in(file_system& files) {
  const auto history = read_evaluations(files, "/run/eval");
  REQUIRE(history);
  std::vector<int64_t> all;
  for (const auto& point : *history)
    all.push_back(point.step);
  return all;
}

/// The losses in the event files, by step.
inline std::map<int64_t, double> losses_in(file_system& files) {
  std::map<int64_t, double> all;
  for (const auto& e : events_in(files, "/run/eval", true))
    for (const auto& v : e.values)
      if (v.tag == "loss")
        all[e.step] = v.scalar;
  return all;
}

/// How often the event files have a result of each step.
inline std::map<int64_t, int> records_in(file_system& files, bool may_be_torn = false) {
  std::map<int64_t, int> all;
  for (const auto& e : events_in(files, "/run/eval", may_be_torn))
    for (const auto& v : e.values)
      if (v.tag == "loss")
        ++all[e.step];
  return all;
}

inline std::vector<std::string> warnings_in(const std::vector<job_event>& events) {
  std::vector<std::string> all;
  for (const auto& e : events)
    if (e.what == job_event::kind::warning)
      all.push_back(e.text);
  return all;
}

/// Every message to a replica takes a minute, so that checkpoints come slowly.
inline world_conditions slow_training(std::chrono::nanoseconds each) {
  world_conditions conditions;
  conditions.cost["chief/replica"] = {each, each};
  return conditions;
}

inline checkpoint_books newest_books(const small_job_options& o) {
  return read_books(newest_checkpoint(o.files).content.properties);
}

/// Processes die when this is destroyed.
class two_processes {
 public:
  explicit two_processes(uint64_t seed, const world_conditions& conditions = {})
    : world(std::make_shared<simulated_world>(seed, conditions)) {}
  two_processes(const two_processes&) = delete;
  ~two_processes() { world->end_all(); }

  void start_chief(training_job job) {
    auto prepared = prepare(std::move(job));
    REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
    chief = chiefs.train(std::move(*prepared));
  }
  void start_evaluator(follower_job job) {
    auto prepared = prepare(std::move(job));
    REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
    evaluator = evaluators.follow(std::move(*prepared));
  }
  void kill_chief() {
    chiefs.process().kill();
    chief.reset();
  }
  void kill_evaluator() {
    evaluators.process().kill();
    evaluator.reset();
  }
  expected<train_result> result_of(running_job& job, std::chrono::milliseconds within = std::chrono::hours{24}) {
    auto result = job.wait(within);
    REQUIRE(result.has_value());
    return *result;
  }
  train_result success_of(running_job& job, std::chrono::milliseconds within = std::chrono::hours{24}) {
    auto result = result_of(job, within);
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    return *result;
  }

  std::shared_ptr<simulated_world> world;
  process_launcher chiefs{world, "chief"}, evaluators{world, "evaluator"};
  std::unique_ptr<running_job> chief, evaluator;
};

}  // namespace troupe::test
