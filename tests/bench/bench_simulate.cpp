// The speed of simulating a job of several hosts: messages a second where turns and messages take virtual time,
// compared with the same job where they take none, and virtual seconds a second. The engines are stand-ins, so that
// only actors, scheduler and clock are measured.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "tests/bench/bench.hpp"
#include "tests/support/simulated_job.hpp"
#include "tests/support/small_job.hpp"
#include "tests/support/wrapped_engine.hpp"

#include <stdexcept>

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;

/// An engine that computes nothing.
class idle_engine final : public test::wrapped_engine {
 public:
  explicit idle_engine(const std::shared_ptr<step_engine>& inner)
    : wrapped_engine(inner), gradient_(tensor::zeros(inner->gradient().type(), inner->gradient().dims())) {}
  step_status gradients(int64_t, const batch_feeds&, int) override { return step_status::ok; }
  tensor gradient() const override { return gradient_; }
  void apply(int64_t, const tensor&, int, int) override {}
  bool finite(const tensor&) const override { return true; }
  double loss() const override { return 0.5; }

 private:
  tensor gradient_;
};

struct outcome {
  double messages = 0, virtual_seconds = 0, seconds = 0;
};

outcome simulate(int32_t hosts, int32_t each, int64_t steps, const world_conditions& conditions) {
  const int64_t replicas = hosts * each;
  test::small_job_options o{.max_steps = steps, .save_steps = std::nullopt, .replicas = replicas, .hosts = hosts};
  o.input = test::small_dataset(4 * replicas).batch(replicas).repeat();
  o.keeps = false;
  auto job = test::prepare_small(o);
  for (auto& engine : job->in(mode::train).engines)
    engine = std::make_shared<idle_engine>(engine);
  const double start = now(clock_kind::thread);
  test::simulated_job running{std::move(job), 1, conditions};
  const auto result = running.wait(24h);
  if (!result || !*result)
    throw std::runtime_error(result ? to_text(result->error()) : "the job did not end");
  return {static_cast<double>(running.turns()), std::chrono::duration<double>(running.now()).count(),
          now(clock_kind::thread) - start};
}

void measure(suite& s, int32_t hosts, int32_t each) {
  world_conditions timed;
  timed.cost["replica"] = {500us, 2ms};
  timed.cost["infeed"] = {50us, 200us};
  timed.link = {100us, 1ms};
  for (int32_t h = 0; h < hosts; ++h) {
    timed.place["infeed/" + std::to_string(h)] = "host/" + std::to_string(h);
    for (int32_t i = 0; i < each; ++i)
      timed.place["replica/" + std::to_string(h * each + i)] = "host/" + std::to_string(h);
  }
  const std::string name = std::to_string(hosts) + " x " + std::to_string(each);
  const int64_t steps = std::max<int64_t>(20, 20'000 / (hosts * each));
  std::vector<double> with, without, virtual_seconds, one;
  for (int round = 0; round < 5; ++round) {
    const auto in_time = simulate(hosts, each, steps, timed), timeless = simulate(hosts, each, steps, {});
    with.push_back(in_time.messages / in_time.seconds);
    without.push_back(timeless.messages / timeless.seconds);
    virtual_seconds.push_back(in_time.virtual_seconds / in_time.seconds);
    one.push_back(1);
  }
  s.compare({.name = name, .unit = "msg/s", .reference_name = "timeless"}, with, without, false);
  s.compare({.name = name + ", virtual", .unit = "s/s", .reference_name = "real time"}, virtual_seconds, one, false);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  try {
    suite s{"simulate", argc, argv};
    measure(s, 1, 1);
    measure(s, 1, 8);
    measure(s, 8, 8);
    measure(s, 64, 8);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_simulate: %s\n", e.what());
    return 1;
  }
}
