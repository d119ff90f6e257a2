// The mailboxes of slow actors: a bounded number of messages waits for a writer, however many steps are granted ahead.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/small_job.hpp"
#include "support/troubled_dataset.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// Runs the job to its end. `node` takes only one of 400 of its turns.
void crank_slowly(simulated_job& job, const std::string& node) {
  job.slow_down(node, 400);
  while (!job.ended() && job.crank())
    job.pass(std::chrono::microseconds{10});  // Lets steps take time, while hundreds of them are granted ahead.
  REQUIRE(job.ended());
}

/// The most messages that waited for `node` at one time, in a job that must succeed.
size_t fullest_of(const std::string& node, const small_job_options& o) {
  simulated_job job{prepare_small(o), 7};
  crank_slowly(job, node);
  const auto result = job.wait(std::chrono::milliseconds{0});
  REQUIRE(result);
  REQUIRE_MESSAGE(*result, to_text(result->error()));
  CHECK((*result)->global_step == o.max_steps);
  return job.gauge().fullest_mailboxes.at(node);
}

}  // namespace

TEST_CASE("the parts that wait for a slow checkpoint writer are those of a few saves") {
  CHECK(fullest_of("checkpoint_writer", {.max_steps = 600, .save_steps = 1, .replicas = 2, .hosts = 2}) <= 64);
}

TEST_CASE("the results of evaluations that wait for a slow writer are a few") {
  CHECK(fullest_of("summary_writer/eval",
                   {.max_steps = 120, .save_steps = 1, .evaluates = true, .when = evaluation_mode::waits})
        <= 16);
}

TEST_CASE("a stop by a signal does not wait for an event file that hangs, since no evaluation follows") {
  simulated_job job{
      prepare_small({.max_steps = 600, .save_steps = 1, .evaluates = true, .when = evaluation_mode::waits}), 7};
  job.hang("summary_writer/eval");
  REQUIRE(job.crank_until([&] { return job.progress().step > 2 && job.now() > std::chrono::seconds{60}; }));
  const auto stands = job.progress().step;
  CHECK(stands < 10);  // The credit covers the results of a few evaluations.
  const auto asked = job.now();
  job.ask(request::stop, stop_reason::signal);
  const auto result = job.wait(std::chrono::seconds{500});
  REQUIRE(result);
  REQUIRE_MESSAGE(result->has_value(), to_text(result->error()));
  CHECK((*result)->global_step == stands);
  CHECK((*result)->stopped);
  CHECK((*result)->remark == "summary_writer/eval did not end in time");
  CHECK(job.now() - asked < std::chrono::seconds{32});  // The deadline for actors to end is 30 s.
}

TEST_CASE("a job that records every step runs ahead of a slow summary writer by a few records") {
  const simulated_job* running = nullptr;
  int64_t reported = -1;
  small_job_options o{.max_steps = 600, .save_steps = 300, .replicas = 2};
  o.input = dataset{std::make_shared<troubled_stage>(o.input.last_stage(), 400, [&] {
    reported = running->progress().step;
    return expected<void>{};
  })};
  auto description = describe_small(o);
  description.basis.config.summary_steps = 1;
  simulated_job job{*prepare(std::move(description)), 7};
  running = &job;
  crank_slowly(job, "summary_writer");
  CHECK(job.progress().step == 600);
  CHECK(reported >= 400 - 33);
}

}  // namespace troupe::test
