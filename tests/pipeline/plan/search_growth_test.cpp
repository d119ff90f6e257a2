// What an iteration of a search begins with: what it finds in the last state of the iteration before, and under which
// names.
#include "pipeline/plan/search_growth.hpp"

#include "actors/writers/checkpoint_loading.hpp"
#include "pipeline/launch/build_programs.hpp"
#include "support/search_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// The state that an iteration leaves, as a checkpoint lists it.
checkpoint_info listed(const prepared_job& job, const checkpoint_id& id) {
  checkpoint_info info{.id = id, .prefix = "/run/model.ckpt"};
  info.tensors.push_back({.name = std::string{global_step_name}, .type = dtype::int64});
  for (const auto& group : layouts_of(job))
    for (const auto& e : group.layout->entries())
      info.tensors.push_back({.name = e.name, .type = e.type, .dims = e.dims});
  return info;
}

std::vector<stored_group> stored_in(const prepared_job& job) {
  std::vector<stored_group> all;
  for (const auto& group : layouts_of(job))
    all.push_back(stored_of(*group.layout, group.group, group.name));
  return all;
}

/// Whether iteration 1 finds all that it begins with in the last state of iteration 0.
expected<void> grows(const training_job& job) {
  const auto first = planned_search(job);
  const auto second = planned_search(job, books_at(first, 10, 1));
  const auto before = prepared_search(job, first), after = prepared_search(job, second);
  const auto groups = stored_in(*after);
  return check_growth(groups, second.growth, listed(*before, {10}));
}

optimizer averaging() {
  optimizer o{momentum{.rate = .05f}};
  o.moving_average = .9f;
  return o;
}

}  // namespace

TEST_CASE("an iteration begins with what it keeps of the one before, and passes over all else") {
  const auto right = grows(search_job(small_search_options()));
  CHECK_MESSAGE(right, (right ? "" : to_text(right.error())));
}

TEST_CASE("inherited mixture weights are taken from the previous ensemble, although all of the iteration is fresh") {
  auto o = small_search_options();
  o.ensemblers = {complexity_regularized_ensembler{
      .optimizer = averaging(), .warm_start_mixture_weights = true, .use_bias = true, .name = "cr"}};
  const auto job = search_job(o);
  const auto planned = planned_search(job, books_at(planned_search(job), 10, 1));
  const std::string before = "adanet/iteration_0/ensemble_" + std::string{dnn_grows},
                    now = "adanet/iteration_1/ensemble_t1_1_layer_dnn_grow_cr",
                    weight = "/weighted_subnetwork_0/logits/mixture_weight", average = "/ExponentialMovingAverage";
  const auto& growth = planned.growth;
  CHECK(growth.before(before + weight) == before + weight + average);
  CHECK(growth.before(now + weight) == before + weight + average);
  CHECK(growth.before(now + weight + average) == before + weight + average);
  CHECK(growth.before(now + "/bias") == before + "/bias" + average);
  CHECK_FALSE(growth.is_fresh(now + weight));
  CHECK(growth.is_fresh(now + "/weighted_subnetwork_1/logits/mixture_weight"));
  CHECK(growth.is_fresh(now + weight + "/Momentum"));
  const auto right = grows(job);
  CHECK_MESSAGE(right, (right ? "" : to_text(right.error())));
}

TEST_CASE("a member that was trained with moving averages is kept as these, and only once") {
  const auto job = search_job(small_search_options(averaging()));
  const auto first = planned_search(job);
  const auto second = planned_search(job, books_at(first, 10, 1));
  const std::string kernel = "adanet/iteration_0/subnetwork_t0_1_layer_dnn/hidden_0/kernel";
  CHECK(second.growth.before(kernel) == kernel + "/ExponentialMovingAverage");
  const auto right = grows(job);
  CHECK_MESSAGE(right, (right ? "" : to_text(right.error())));
  const auto third = planned_search(job, books_at(second, 20, 1));
  CHECK(third.growth.before(kernel) == kernel);
  CHECK(third.growth.before("adanet/iteration_1/subnetwork_t1_1_layer_dnn/hidden_0/kernel")
        == "adanet/iteration_1/subnetwork_t1_1_layer_dnn/hidden_0/kernel/ExponentialMovingAverage");
  const auto same_winner = planned_search(job, books_at(second, 20, 0));
  CHECK(same_winner.growth.renamed.empty());
}

TEST_CASE("averages of an optimizer that only the training function of a builder names are kept, too") {
  auto o = small_search_options();
  o.subnetwork_generator = [f = o.subnetwork_generator](const generator_input& in) {
    auto builders = f(in);
    for (auto& b : builders)
      b.train = [](graph&, const subnetwork&, symbol loss, const build_context&) {
        return subnetwork_training{loss, averaging()};
      };
    return builders;
  };
  const auto job = search_job(o);
  const std::string bias = "adanet/iteration_0/subnetwork_t0_linear/logits/bias";
  CHECK(planned_search(job, books_at(planned_search(job), 10, 0)).growth.before(bias)
        == bias + "/ExponentialMovingAverage");
  CHECK(grows(job));
}

}  // namespace troupe::test
