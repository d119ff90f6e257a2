// The plan of a search with a builder that has data of its own.
#include "support/search_job.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a builder with data of its own has an infeed and a port of its own, and retires where the data end") {
  const auto with = [](const dataset& input, std::optional<int64_t> steps_max = {}) {
    auto o = small_search_options();
    o.subnetwork_generator = [=, f = o.subnetwork_generator](const generator_input& in) {
      auto builders = f(in);
      builders[0].train_input = input;
      builders[0].steps_max = steps_max;
      return builders;
    };
    return search_job(o);
  };
  const auto own = small_dataset().take(16).batch(4);
  const auto planned = planned_search(with(own));
  const auto text = to_text(planned.plan);
  CHECK(
      has(text, "node infeed/t0_linear: infeed of tensors -> take(16) -> batch(4), for the builder 'linear' alone\n"));
  CHECK(has(text, ": infeed/0 => t0_linear/replica/0, broadcast, 3 blocks\n"));
  CHECK(has(text, ": infeed/t0_linear.adanet/own => t0_linear/replica/0.adanet/own, broadcast, 3 blocks\n"));
  CHECK(has(text, "group t0_linear: retires at step 4\ngroup t0_linear: its own data end at step 4\n"));
  CHECK(has(to_text(planned.plan), "snapshot: infeed/0 infeed/t0_linear "));
  CHECK(node_called(planned, "t0_linear/replica/0").in_ports == std::vector<std::string>{"data", "adanet/own"});
  CHECK(node_called(planned, "t0_1_layer_dnn/replica/0").in_ports == std::vector<std::string>{"data"});
  CHECK(planned.plan.iteration.ends_at == 10);
  const auto second = planned_search(with(own), books_at(planned, 10, 1));
  CHECK(group_called(second, "t1_1_layer_dnn").input_ends_at == 14);
  CHECK_MESSAGE(group_called(planned_search(with(own, 3)), "t0_linear").retires_at == 3, "its builder wants fewer");
  CHECK_FALSE(group_called(planned_search(with(own, 3)), "t0_linear").input_ends_at);
  CHECK_FALSE(group_called(planned_search(with(own, 4)), "t0_linear").input_ends_at);
  for (const auto& unending : {own.repeat(), small_dataset().batch(4)}) {
    CHECK_FALSE(group_called(planned_search(with(unending)), "t0_linear").input_ends_at);
    CHECK_FALSE(group_called(planned_search(with(unending)), "t0_linear").retires_at);
  }
}

TEST_CASE("data of a builder's own that have more batches than a search can make ticks are as good as endless") {
  auto o = small_search_options();
  o.subnetwork_generator = [f = o.subnetwork_generator](const generator_input& in) {
    auto builders = f(in);
    builders[0].train_input = small_dataset().take(16).batch(4).repeat((int64_t{1} << 61) - 1);
    return builders;
  };
  const auto planned = planned_search(search_job(o));
  o.max_iteration_steps.reset();
  const auto second = planned_search(search_job(o), books_at(planned, 10, 1));
  CHECK_FALSE(group_called(second, "t1_1_layer_dnn").input_ends_at);
  CHECK_FALSE(group_called(second, "t1_1_layer_dnn").retires_at);
}

}  // namespace troupe::test
