// What jobs of several replicas apply of their gradients: the mean or the sum.
#include "support/ended_jobs.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// Loss w · mean of x, where w begins at 1: the gradient of a replica is the mean of its own x.
model mean_of_rows(const optimizer& by) {
  return {"mean_of_rows", [by](graph& g, const features& x, const labels&, mode m) {
            const auto w = g.variable({.name = "w", .dims = {}, .initial = init::ones()});
            model_spec spec;
            spec.mode = m;
            spec.loss = mul(w, reduce_mean(x["x"]));
            spec.optimizer = by;
            return spec;
          }};
}

}  // namespace

TEST_CASE(
    "[DF-28] of the gradients 1, 2, 3 and 4 of four replicas a job applies 2.5 by mean and 10 by sum, in a collective "
    "and by a reducer, and one that says nothing takes the mean") {
  const float x[] = {1, 2, 3, 4};
  const optimizer by_mean{.rule = gradient_descent{.rate = 1}, .reduce = reduction::mean},
      by_sum{.rule = gradient_descent{.rate = 1}, .reduce = reduction::sum};
  for (const auto& [by, left] :
       {std::pair{by_mean, 1 - 2.5f}, {by_sum, 1 - 10.0f}, {gradient_descent{.rate = 1}, -1.5f}})
    for (const bool reducers : {false, true}) {
      CAPTURE(to_text(by));
      CAPTURE(reducers);
      small_job_options o{.max_steps = 1, .replicas = 4, .reducers = reducers, .source = mean_of_rows(by)};
      o.input = dataset::from_tensors({{"x", tensor::of<float>({4}, x)}}, {})->batch(4).repeat();
      const auto result = run_to_end(o);
      CHECK(result.metrics.at("loss") == 2.5);
      const auto tensors = newest_checkpoint(o.files).content.tensors;
      const auto w = std::find_if(tensors.begin(), tensors.end(), [](const auto& t) { return t.name == "w"; });
      REQUIRE(w != tensors.end());
      CHECK(w->value == tensor::of<float>({}, {left}));
    }
}

TEST_CASE("a job whose gradients are summed ends in the same bits on one replica, two and four") {
  std::optional<checkpoint_content> one;
  for (const int64_t replicas : {1, 2, 4}) {
    CAPTURE(replicas);
    const auto end = state_at_end(
        {.replicas = replicas,
         .shards = 4,
         .source = small_model(0.2, {.rule = adam{.rate = 0.01f}, .reduce = reduction::sum, .clip = {.norm = 1}})});
    if (!one)
      one = end;
    CHECK(same_state(end, *one));
  }
}

}  // namespace troupe::test
