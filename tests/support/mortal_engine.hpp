// Replicas on real threads that die inside a step: the engine throws an exception, which ends the actor.
#pragma once

#include "pipeline/launch/prepared_job.hpp"
#include "tests/support/wrapped_engine.hpp"

#include <mutex>
#include <set>
#include <stdexcept>

namespace troupe::test {

/// The steps at which a replica dies; each kills one replica once.
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
  mortal_engine(std::shared_ptr<step_engine> inner, std::shared_ptr<doom> fate)
    : wrapped_engine(std::move(inner)), fate_(std::move(fate)) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    if (fate_->strikes(step))
      throw std::runtime_error("struck at step " + std::to_string(step));
    return wrapped_engine::gradients(step, in, arena);
  }

 private:
  std::shared_ptr<doom> fate_;
};

/// Wraps the engines of all replicas, also of those that are started again later.
inline void make_mortal(prepared_job& job, const std::shared_ptr<doom>& fate) {
  auto& program = job.in(mode::train);
  for (auto& engine : program.engines)
    engine = std::make_shared<mortal_engine>(engine, fate);
  program.make_engine = [make = program.make_engine, fate](const plan_node& replica) {
    return make(replica).map([&](std::unique_ptr<step_engine> made) -> std::unique_ptr<step_engine> {
      return std::make_unique<mortal_engine>(std::move(made), fate);
    });
  };
}

}  // namespace troupe::test
