// Iterations of a search as jobs of groups: a planner of the test chooses the winner, so that no chief has to.
#include "pipeline/plan/search_plan.hpp"
#include "support/ended_jobs.hpp"
#include "support/plans.hpp"
#include "support/search_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t iteration_end = 10;

/// A search that chooses the second candidate at the end of iteration 0.
training_job two_iterations(search_options o, small_job_options rest) {
  o.max_iterations = 2;
  auto job = search_job(o, rest);
  job.basis.config.keep_checkpoint_max = 0;
  job.planner = [search = job](const job_books& books) {
    auto first = plan_search(search, {});
    const bool second = books && (books->id.iteration == 1 || books->id.step >= iteration_end);
    return first && second ? plan_search(search, books_at(*first, iteration_end, 1)) : std::move(first);
  };
  return job;
}

checkpoint_content searched(const training_job& described, uint64_t seed = 1) {
  auto prepared = prepare(described);
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_job job{std::move(*prepared), seed};
  run_to_end(job);
  return newest_checkpoint(described.basis.files).content;
}

checkpoint_content committed_at(const training_job& job, checkpoint_id id) {
  const auto store = checkpoint_store::open(job.basis.files, "/run", {.read_only = true});
  REQUIRE(store);
  const auto found = (*store)->restore(id);
  REQUIRE_MESSAGE(found, (found ? "" : to_text(found.error())));
  return found->content;
}

}  // namespace

TEST_CASE(
    "an iteration trains with one replica a group and with two to the same bits, also groups with nothing to train") {
  std::optional<checkpoint_content> with_one;
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    auto o = small_search_options();
    o.max_iterations = 1;
    o.ensemblers.push_back(mean_ensembler{});
    o.subnetwork_generator = [f = o.subnetwork_generator](const generator_input& in) {
      auto builders = f(in);
      builders[0].optimizer.reset();
      return builders;
    };
    const auto job = search_job(o, {.max_steps = iteration_end, .replicas = replicas, .shards = 2, .evaluates = true});
    const auto end = searched(job);
    CHECK((end.id == checkpoint_id{iteration_end}));
    const auto average = loss_average_keys_of(0, "t0_linear_grow_mean");
    CHECK(variables(end, average.count).at(average.count) == tensor::scalar<float>(iteration_end));
    CHECK(variables(end, "adanet/iteration_0/subnetwork_t0_linear/")
          == variables(committed_at(job, {0}), "adanet/iteration_0/subnetwork_t0_linear/"));
    if (with_one)
      CHECK(same_state(end, *with_one));
    with_one = end;
  }
}

TEST_CASE("the next iteration goes on from the members of the winner, whose averages are kept, and drops all else") {
  optimizer by{momentum{.rate = .05f}};
  by.moving_average = .9f;
  std::optional<checkpoint_content> with_one;
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    const auto job = two_iterations(small_search_options(by),
                                    {.max_steps = 20, .replicas = replicas, .shards = 2, .evaluates = true});
    const auto end = searched(job);
    CHECK((end.id == checkpoint_id{20, 1}));
    const std::string kept = "adanet/iteration_0/subnetwork_t0_1_layer_dnn/hidden_0/kernel";
    const auto last = committed_at(job, {iteration_end}), first = committed_at(job, {iteration_end, 1});
    CHECK(variables(last, kept).size() == 3);
    CHECK(variables(first, kept).size() == 1);
    CHECK_FALSE(variables(last, kept).at(kept) == variables(last, kept).at(kept + "/ExponentialMovingAverage"));
    CHECK(variables(first, kept).at(kept) == variables(last, kept).at(kept + "/ExponentialMovingAverage"));
    CHECK(variables(first, "adanet/iteration_0/subnetwork_t0_linear").empty());
    CHECK_MESSAGE(variables(end, "adanet/iteration_0") == variables(first, "adanet/iteration_0"),
                  "the previous ensemble learns nothing");
    CHECK_FALSE(variables(end, "adanet/iteration_1") == variables(first, "adanet/iteration_1"));
    if (with_one)
      CHECK(same_state(end, *with_one));
    with_one = end;
  }
}

TEST_CASE("candidates begin with the mixture weights that the previous ensemble has learnt") {
  auto o = small_search_options();
  o.ensemblers = {complexity_regularized_ensembler{
      .optimizer = gradient_descent{.rate = .05f}, .warm_start_mixture_weights = true, .name = "cr"}};
  const auto job = two_iterations(o, {.max_steps = 15});
  searched(job);
  const auto last = committed_at(job, {iteration_end}), first = committed_at(job, {iteration_end, 1});
  const auto before = mixture_weight_key(0, dnn_grows, 0), now = mixture_weight_key(1, "t1_2_layer_dnn_grow_cr", 0);
  CHECK(variables(first, now).at(now) == variables(last, before).at(before));
  CHECK_FALSE(variables(first, now).at(now) == tensor::scalar(.5f));
}

TEST_CASE("a subnetwork whose loss is not finite leaves with the ensembles that have it, if the search drops it") {
  for (const bool drops : {false, true}) {
    CAPTURE(drops);
    auto o = small_search_options();
    o.max_iterations = 1;
    o.on_candidate_not_finite = drops ? candidate_not_finite::drop : candidate_not_finite::fail;
    o.subnetwork_generator = [f = o.subnetwork_generator](const generator_input& in) {
      auto builders = f(in);
      builders[0].train = [](graph&, const subnetwork&, symbol loss, const build_context&) {
        return subnetwork_training{loss * number_like(loss, 1e30) * number_like(loss, 1e30)};
      };
      return builders;
    };
    const auto job = search_job(o, {.max_steps = iteration_end});
    if (!drops) {
      simulated_job fails{prepared_search(job, planned_search(job)), 1};
      CHECK(failure_of(fails).category == errc::nan_loss);
      continue;
    }
    const auto end = searched(job);
    CHECK((end.id == checkpoint_id{iteration_end}));
    CHECK(variables(end, "adanet/iteration_0/subnetwork_t0_linear").empty());
    CHECK(variables(end, ensemble_scope(0, linear_grows)).empty());
    CHECK_FALSE(variables(end, ensemble_scope(0, dnn_grows)).empty());
  }
}

}  // namespace troupe::test
