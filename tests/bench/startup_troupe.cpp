// Trains a 784-128-10 network on data in memory. With `first` it exits as soon as the first step is known to be
// finished; otherwise it trains for 500 steps and ends normally.
#include "tests/bench/classifier_case.hpp"

#include <unistd.h>

#include <string_view>

namespace tr = troupe;

namespace {

struct leave_at_the_first final : tr::hook {
  tr::needs begin(int64_t step) override { return {.steps = {{.first = step + 1}}}; }
  void on_step(const tr::step_facts& facts, tr::job_control&) override {
    ::_exit(facts.step == 1 && facts.values.contains("loss") ? 0 : 1);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bool first = argc > 1 && std::string_view{argv[1]} == "first";
  const tr::estimator estimator{tr::bench::classifier(), {.seed = 1}};
  tr::train_spec training{.input = tr::bench::made_up_images(2), .max_steps = 500};
  if (first)
    training.hooks = {std::make_shared<leave_at_the_first>()};
  const auto result = tr::train(estimator, training);
  return result && !first ? 0 : 1;
}
