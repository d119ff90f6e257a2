// Simulated jobs that run to their end, which leaves no actor behind.
#pragma once

#include "tests/support/small_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

/// Waits for the end, well or not.
inline expected<train_result> result_of(simulated_job& job, std::chrono::milliseconds within = std::chrono::hours{2}) {
  const auto result = job.wait(within);
  REQUIRE(result.has_value());
  CHECK(job.left().empty());
  return *result;
}

/// The job must end well.
inline train_result run_to_end(simulated_job& job, std::chrono::milliseconds within = std::chrono::hours{2}) {
  const auto result = result_of(job, within);
  REQUIRE_MESSAGE(result, (result ? "" : to_string(result.error())));
  return *result;
}

inline train_result run_to_end(training_job description, uint64_t seed = 1, std::vector<job_event>* events = nullptr) {
  auto prepared = prepare(std::move(description));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_string(prepared.error())));
  simulated_job job{std::move(*prepared), seed};
  auto result = run_to_end(job);
  if (events)
    *events = job.events();
  return result;
}

inline train_result run_to_end(const small_job_options& o, uint64_t seed = 1) { return run_to_end(describe_small(o), seed); }

/// The job must fail.
inline error failure_of(simulated_job& job) {
  const auto result = result_of(job);
  REQUIRE_FALSE(result);
  return result.error();
}

/// The job must end well. Returns the state that it saved there.
inline checkpoint_content state_at_end(simulated_job& job, const std::shared_ptr<file_system>& files,
                                       std::chrono::milliseconds within = std::chrono::hours{2}) {
  run_to_end(job, within);
  return newest_checkpoint(files).content;
}
inline checkpoint_content state_at_end(const small_job_options& o, uint64_t seed = 1) {
  run_to_end(o, seed);
  return newest_checkpoint(o.files).content;
}

/// The same on another disk, and without hooks: where nothing disturbs it.
inline checkpoint_content undisturbed(small_job_options o) {
  o.files = memory_disk::make();
  o.hooks.clear();
  return state_at_end(o);
}

}  // namespace troupe::test
