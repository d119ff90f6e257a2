// Runs simulated jobs to their end, and checks that they leave no actor behind.
#pragma once

#include "tests/support/small_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

/// Waits until the job ends, with success or failure.
inline expected<train_result> result_of(simulated_job& job, std::chrono::milliseconds within = std::chrono::hours{2}) {
  const auto result = job.wait(within);
  REQUIRE(result.has_value());
  CHECK(job.left().empty());
  return *result;
}

/// Runs a job that must succeed.
inline train_result run_to_end(simulated_job& job, std::chrono::milliseconds within = std::chrono::hours{2}) {
  const auto result = result_of(job, within);
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  return *result;
}

inline train_result run_to_end(training_job description, uint64_t seed = 1, std::vector<job_event>* events = nullptr) {
  auto prepared = prepare(std::move(description));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_job job{std::move(*prepared), seed};
  auto result = run_to_end(job);
  if (events)
    *events = job.events();
  return result;
}

inline train_result run_to_end(const small_job_options& o, uint64_t seed = 1) {
  return run_to_end(describe_small(o), seed);
}

/// Runs a job that must fail, and returns its error.
inline error failure_of(simulated_job& job) {
  const auto result = result_of(job);
  REQUIRE_FALSE(result);
  return result.error();
}

/// Runs a job that must succeed, and returns the state that it saved at its end.
inline checkpoint_content state_at_end(simulated_job& job, const std::shared_ptr<file_system>& files,
                                       std::chrono::milliseconds within = std::chrono::hours{2}) {
  run_to_end(job, within);
  return newest_checkpoint(files).content;
}
inline checkpoint_content state_at_end(const small_job_options& o, uint64_t seed = 1) {
  run_to_end(o, seed);
  return newest_checkpoint(o.files).content;
}

/// The state at the end of the same job on a fresh disk and without hooks.
inline checkpoint_content undisturbed(small_job_options o) {
  o.files = memory_disk::make();
  o.hooks.clear();
  return state_at_end(o);
}

}  // namespace troupe::test
