#include "ensemble/loss_average.hpp"
#include "ensemble/names.hpp"
#include "ensemble/objective.hpp"
#include "ensemble/progress.hpp"
#include "words/text.hpp"

#include <troupe/search/options.hpp>

#include <cmath>
#include <set>

namespace troupe {

namespace {

expected<void> refuse(const std::string& what) { return fail(errc::invalid_argument, what); }

expected<void> check_at_least(const char* option, const std::optional<int64_t>& value, int64_t least = 1) {
  if (value && *value < least)
    return refuse(std::string{option} + " must be at least " + std::to_string(least) + ", not "
                  + std::to_string(*value));
  return {};
}

expected<void> check_seconds(const char* option, double value, bool may_be_zero) {
  if (std::isfinite(value) && (value > 0 || (may_be_zero && value == 0)))
    return {};
  return refuse(std::string{option} + " must be finite and " + (may_be_zero ? "at least" : "above") + " 0, not "
                + shortest_text(value));
}

expected<void> check_parts(const search_options& o) {
  if (o.head.wrong)
    return fail(*o.head.wrong);
  if (!o.head.build)
    return refuse("head is missing, such as troupe::multi_class_head{.classes = 10}");
  if (!o.subnetwork_generator)
    return refuse("subnetwork_generator is missing, such as troupe::generators::simple_dnn({})");
  if (o.ensemblers.empty())
    return refuse("ensemblers must be at least one, not none");
  if (o.ensemble_strategies.empty())
    return refuse("ensemble_strategies must be at least one, not none");
  std::set<std::string> names;
  for (const auto& e : o.ensemblers) {
    if (auto right = validate(e); !right)
      return right;
    if (!names.insert(name_of(e)).second)
      return refuse("two ensemblers have the name " + quoted(name_of(e)));
  }
  return {};
}

expected<void> check_numbers(const search_options& o) {
  if (auto right = validate(
          search_limits{.max_iteration_steps = o.max_iteration_steps, .max_iterations = o.max_iterations});
      !right)
    return right;
  for (const auto& [option, value] :
       {std::pair{"evaluator.steps", o.evaluator ? o.evaluator->steps : std::nullopt},
        {"report_materializer.steps", o.report_materializer ? o.report_materializer->steps : std::nullopt}})
    if (auto right = check_at_least(option, value); !right)
      return right;
  if (auto right = check_at_least("cache_bytes_max", o.cache_bytes_max, 0); !right)
    return right;
  for (const int64_t index : o.replay_indices)
    if (index < 0)
      return refuse("replay_indices must not have the negative index " + std::to_string(index));
  for (const auto& [option, value, may_be_zero] : {std::tuple{"delay_secs_per_worker", o.delay_secs_per_worker, true},
                                                   {"max_worker_delay_secs", o.max_worker_delay_secs, true},
                                                   {"worker_wait_secs", o.worker_wait_secs, false},
                                                   {"worker_wait_timeout_secs", o.worker_wait_timeout_secs, false}})
    if (auto right = check_seconds(option, value, may_be_zero); !right)
      return right;
  return check_loss_decay(o.adanet_loss_decay);
}

}  // namespace

expected<void> validate(const ensembler& e) {
  if (auto right = check_name("the ensembler", name_of(e)); !right)
    return right;
  const auto named = [&](error wrong) -> expected<void> {
    wrong.message = "the ensembler " + quoted(name_of(e)) + ": " + wrong.message;
    return fail(std::move(wrong));
  };
  if (const auto* regularized = std::get_if<complexity_regularized_ensembler>(&e)) {
    if (auto right = validate(complexity_weights{regularized->adanet_lambda, regularized->adanet_beta}); !right)
      return named(std::move(right.error()));
    if (regularized->optimizer)
      if (auto right = validate(*regularized->optimizer); !right)
        return named(std::move(right.error()));
  }
  if (const auto* custom = std::get_if<custom_ensembler>(&e)) {
    if (!custom->build)
      return named({errc::invalid_argument, "it has no function to build an ensemble"});
    if (custom->optimizer)
      if (auto right = validate(*custom->optimizer); !right)
        return named(std::move(right.error()));
  }
  return {};
}

expected<void> validate(const search_options& o) {
  if (auto right = check_parts(o); !right)
    return right;
  if (o.evaluator && !o.evaluator->input)
    return refuse("evaluator.input is missing: the data on which candidates are compared");
  if (o.evaluator && o.evaluator->metric_name.empty())
    return refuse("evaluator.metric_name must not be empty");
  if (o.report_materializer && !o.report_materializer->input)
    return refuse("report_materializer.input is missing: the data on which reports are made");
  if (auto right = check_numbers(o); !right)
    return right;
  if (!o.report_dir.empty())
    return fail(errc::unimplemented, "report_dir is " + quoted(o.report_dir)
                                         + ", and reports are written to \"report\" in the model directory only: leave "
                                           "it empty");
  if (o.experimental_placement_strategy.what != placement::kind::replication)
    return fail(errc::unimplemented,
                "experimental_placement_strategy is round_robin, which needs several workers, and a search has one "
                "process: leave it at replication");
  return {};
}

}  // namespace troupe
