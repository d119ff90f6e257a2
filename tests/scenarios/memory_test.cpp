// A long job holds at its end what it held when everything had happened once: no step, save, evaluation or summary leaves anything.
#include "tests/estimator/small_start.hpp"
#include "tests/support/resident.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t steps_all = 20'000, warm_from = 5'000, look_every = 1'000, growth_max = int64_t{2} << 20;
constexpr int64_t inputs = 256, examples = 256;

/// Gradients and variables of 170 kB: more than an allocator keeps together in its smallest bins, and less than it maps for ever.
estimator middling(const std::string& directory) {
  return {model{"middling", [](graph& g, const features& x, const labels& y, mode m) {
            const auto hidden = nn::dense(x["x"], {.units = 160, .activation = relu});
            return multi_class_head(10).spec(g, {.mode = m, .logits = nn::dense(hidden, {.units = 10}), .labels = y.only(),
                                                 .optimizer = momentum{.rate = 0.01f}});
          }},
          {.model_dir = directory, .seed = 7, .save_summary_steps = 100, .save_checkpoints_steps = 1'000, .replicas = 2}};
}

dataset rows() {
  std::vector<float> x(static_cast<size_t>(examples * inputs));
  std::vector<int32_t> y(static_cast<size_t>(examples));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<int32_t>(i % 10);
  return *dataset::from_tensors({{"x", tensor::of<float>({examples, inputs}, x)}}, {{"y", tensor::of<int32_t>({examples}, y)}});
}

/// What the process holds at states `warm_from`, and then every so many steps on.
struct looks final : hook {
  std::vector<std::pair<int64_t, int64_t>> seen;
  int64_t evaluations = 0, saves = 0;
  std::vector<need> begin(int64_t) override { return {{.first = warm_from, .every = look_every}}; }
  void at(const step_facts& facts, job_control&) override { seen.emplace_back(facts.step, resident_bytes()); }
  void on_event(const job_event& e, job_control&) override {
    evaluations += e.what == job_event::kind::evaluated;
    saves += e.what == job_event::kind::saved;
  }
};

}  // namespace

TEST_CASE("20,000 steps of two replicas with saves, evaluations and summaries hold 2 MiB more than 5,000 at most") {
  temporary_directory directory;
  const auto held = std::make_shared<looks>();
  auto running = start(middling(directory / "run"), {.input = rows().shuffle().batch(4).repeat(), .max_steps = steps_all, .hooks = {held}},
                       eval_spec{.input = rows().batch(32), .throttle_secs = 0});
  REQUIRE_MESSAGE(running.has_value(), why(running));
  const auto result = running->wait(std::chrono::seconds{110});
  REQUIRE_MESSAGE(result.has_value(), why(result));
  CHECK(held->saves == steps_all / 1'000 + 1);
  CHECK(held->evaluations >= steps_all / 1'000);
  REQUIRE(held->seen.size() == 1 + (steps_all - warm_from) / look_every);
  std::string all;
  int64_t most = 0;
  for (const auto& [step, bytes] : held->seen) {
    all += " " + std::to_string(step) + ": " + std::to_string(bytes >> 10);
    most = std::max(most, bytes - held->seen.front().second);
  }
  MESSAGE("kB held at step", all);
  CHECK(most <= growth_max);
}

}  // namespace troupe::test
