// Jobs on real threads that recover and pause: with the bits of the simulation's undisturbed job.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "support/simulated_job.hpp"
#include "support/small_job.hpp"
#include "support/wrapped_engine.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

constexpr auto soon = 60s;

/// The steps at which a replica dies, each once.
struct doom {
  std::mutex guard;
  std::set<int64_t> steps;
  bool strikes(int64_t step) {
    std::lock_guard lock{guard};
    return steps.erase(step) > 0;
  }
};

class mortal_engine final : public wrapped_engine {
 public:
  mortal_engine(std::shared_ptr<step_engine> inner, std::shared_ptr<doom> fate) : wrapped_engine(std::move(inner)), fate_(std::move(fate)) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    if (fate_->strikes(step))
      throw std::runtime_error("struck at step " + std::to_string(step));
    return wrapped_engine::gradients(step, in, arena);
  }

 private:
  std::shared_ptr<doom> fate_;
};

/// All replicas' engines, those of replicas that are started anew as well.
void make_mortal(prepared_job& job, const std::shared_ptr<doom>& fate) {
  auto& program = job.in(mode::train);
  for (auto& engine : program.engines)
    engine = std::make_shared<mortal_engine>(engine, fate);
  program.make_engine = [make = program.make_engine, fate](const plan_node& replica) {
    return make(replica).map([&](std::unique_ptr<step_engine> made) -> std::unique_ptr<step_engine> {
      return std::make_unique<mortal_engine>(std::move(made), fate);
    });
  };
}

small_job_options quick(int64_t replicas) {
  return {.max_steps = 200, .save_steps = 10, .replicas = replicas, .evaluates = true, .recovers = 20};
}

std::shared_ptr<prepared_job> without_delay(const small_job_options& o) {
  auto described = describe_small(o);
  described.basis.config.recovery.first_delay_secs = 0;
  auto job = prepare(std::move(described));
  if (!job)
    throw std::runtime_error(to_string(job.error()));
  return *job;
}

checkpoint_content undisturbed(small_job_options o) {
  o.files = memory_disk::make();
  simulated_job job{prepare_small(o), 1};
  const auto result = job.wait(std::chrono::hours{1});
  REQUIRE(result);
  REQUIRE(result->has_value());
  return newest_checkpoint(o.files).content;
}

}  // namespace

TEST_CASE("on real threads, a job whose replicas die in steps ends in the state of one that was never disturbed") {
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    auto o = quick(replicas);
    const auto expected_state = undisturbed(o);
    o.files = memory_disk::make();
    const auto prepared = without_delay(o);
    const auto fate = std::make_shared<doom>();
    fate->steps = {0, 7, 8, 33, 90, 91, 92, 150, 199};
    make_mortal(*prepared, fate);
    const auto job = local_launcher{}.train(prepared);
    const auto result = job->wait(soon);
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_string(result->error())));
    CHECK((*result)->global_step == 200);
    CHECK(fate->steps.empty());
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
  }
}

TEST_CASE("on real threads, a job that is paused and resumed again and again ends in the state of one that was not") {
  auto o = quick(2);
  const auto expected_state = undisturbed(o);
  o.files = memory_disk::make();
  const auto job = local_launcher{}.train(prepare_small(o));
  for (int i = 0; i < 10 && !job->ended(); ++i) {
    job->pause();
    static_cast<void>(job->wait(5ms));
    job->resume();
    static_cast<void>(job->wait(3ms));
  }
  const auto result = job->wait(soon);
  REQUIRE(result.has_value());
  REQUIRE(result->has_value());
  CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
}

}  // namespace troupe::test
