// How far whole searches come: the iteration and the global step at which they end, by their limits.
#include "support/ended_jobs.hpp"
#include "support/small_search.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// The table of XOR, as one batch.
dataset four_rows() {
  return dataset::from_tensors({{"x", tensor::of<float>({4, 2}, {1, 0, 0, 0, 0, 1, 1, 1})}},
                               {{"y", tensor::of<float>({4, 1}, {1, 0, 1, 0})}})
      ->batch(4);
}

builder linear_in(const std::string& name) {
  return {.name = name,
          .build = [](graph&, const build_context& c) -> subnetwork {
            const auto logits = nn::dense(c.features["x"], {.units = 1});
            return {.last_layer = logits, .logits = logits, .complexity = 0};
          },
          .optimizer = gradient_descent{.rate = .1f}};
}

/// Stops what it belongs to after one step.
struct one_step_hook : hook {
  needs begin(int64_t) override { return {.steps = {{.first = 1, .gate = true}}}; }
  void on_step(const step_facts&, job_control& job) override { job.stop(); }
};

struct life_row {
  const char* title;
  size_t builders = 1;
  std::optional<int64_t> iteration_steps = {}, iterations = {}, steps = {}, max_steps = {};
  bool first_stops = false;
  int64_t iteration = 0, global_step = 0;
};

const std::vector<life_row> rows_of_lives{{"one step", 1, 1, {}, 1, {}, false, 0, 1},
                                          {"three iterations", 1, 100, {}, 300, {}, false, 2, 300},
                                          {"endless iteration", 1, {}, {}, 300, {}, false, 0, 300},
                                          {"partial second", 1, 200, {}, {}, 300, false, 1, 300},
                                          {"two iterations at most", 1, 200, 2, {}, 300, false, 1, 300},
                                          {"limit below iteration", 1, 500, {}, {}, 300, false, 0, 300},
                                          {"one iteration without step limit", 2, 200, 1, {}, {}, false, 0, 200},
                                          {"one iteration beats steps", 2, 200, 1, 300, {}, false, 0, 200},
                                          {"two iterations without step limit", 2, 200, 2, {}, {}, false, 1, 400},
                                          {"four iterations", 1, 75, {}, {}, 300, false, 3, 300},
                                          {"builder stops itself", 2, 100, {}, {}, 200, true, 3, 200}};

}  // namespace

TEST_CASE(
    "[ADA-22.1 one step, ADA-22.1 three iterations, ADA-22.1 endless iteration, ADA-22.1 partial second, "
    "ADA-22.1 two iterations at most, ADA-22.1 limit below iteration, ADA-22.1 one iteration without step limit, "
    "ADA-22.1 one iteration beats steps, ADA-22.1 two iterations without step limit, ADA-22.1 four iterations, "
    "ADA-22.1 builder stops itself] whole searches end in the iteration and at the global step of their limits") {
  for (const auto& row : rows_of_lives) {
    CAPTURE(row.title);
    small_search s;
    s.o.input = four_rows().repeat();
    s.o.save_steps = 1'000;
    std::vector<builder> builders;
    for (size_t i = 0; i < row.builders; ++i)
      builders.push_back(linear_in(i == 0 ? "first" : "second"));
    if (row.first_stops)
      builders[0].hooks = [] { return std::vector<std::shared_ptr<hook>>{std::make_shared<one_step_hook>()}; };
    s.search = {.head = regression_head{},
                .subnetwork_generator = generators::list(builders),
                .max_iteration_steps = row.iteration_steps,
                .ensemblers = {mean_ensembler{}},
                .max_iterations = row.iterations};
    auto described = describe_search(s);
    described.steps = row.steps;
    described.max_steps = row.max_steps;
    std::vector<job_event> events;
    const auto result = run_to_end(std::move(described), 1, &events);
    CHECK(result.global_step == row.global_step);
    REQUIRE(result.search);
    CHECK(result.search->iteration == row.iteration);
    const bool warned = std::any_of(events.begin(), events.end(), [](const job_event& e) {
      return e.what == job_event::kind::warning && has(e.text, "max_iterations comes before steps");
    });
    CHECK(warned == (row.iterations && row.steps));
  }
}

TEST_CASE("an iteration says for which candidates the bias begins anew, as they leave members out") {
  small_search s;
  s.search = small_search_options();
  s.search.ensemblers = {complexity_regularized_ensembler{
      .optimizer = gradient_descent{.rate = .05f}, .warm_start_mixture_weights = true, .use_bias = true, .name = "cr"}};
  s.search.ensemble_strategies = {strategy::grow(), strategy::solo()};
  s.search.max_iterations = 2;
  std::vector<job_event> events;
  run_to_end(describe_search(s), 1, &events);
  std::vector<std::string> grown;
  for (const auto& e : events)
    if (e.what == job_event::kind::grown)
      grown.push_back(e.text);
  REQUIRE(grown.size() == 1);
  CHECK_MESSAGE(has(grown[0], "_solo_cr: the bias begins with 0, because the ensemble keeps 0 of the 1 members"),
                grown[0]);
  CHECK_FALSE(has(grown[0], "_grow_cr:"));
}

}  // namespace troupe::test
