#include "tests/support/refused.hpp"

#include <troupe/search/generators.hpp>
#include <troupe/search/options.hpp>

#include <functional>
#include <limits>

namespace troupe::test {

namespace {

search_options right_options() {
  return {.head = multi_class_head{.classes = 2}, .subnetwork_generator = generators::simple_dnn({})};
}

void refuse(const std::string& text, void (*change)(search_options&)) {
  auto o = right_options();
  change(o);
  refused(validate(o), errc::invalid_argument, text);
}

}  // namespace

TEST_CASE("the options of a search have AdaNet's defaults") {
  const auto o = right_options();
  CHECK(validate(o));
  CHECK(o.ensemblers.size() == 1);
  CHECK(name_of(o.ensemblers[0]) == "complexity_regularized");
  CHECK(o.ensemble_strategies.size() == 1);
  CHECK(o.adanet_loss_decay == .9f);
  CHECK(o.worker_wait_timeout_secs == 7200);
}

TEST_CASE("a wrong option of a search is refused with its name, its value and what would be right") {
  refuse("head is missing", [](search_options& o) { o.head = {}; });
  refuse("multi_class_head: ", [](search_options& o) { o.head = multi_class_head{.classes = 1}; });
  refuse("subnetwork_generator is missing", [](search_options& o) { o.subnetwork_generator = {}; });
  refuse("max_iteration_steps must be at least 1, not 0", [](search_options& o) { o.max_iteration_steps = 0; });
  refuse("max_iterations must be at least 1, not -3", [](search_options& o) { o.max_iterations = -3; });
  refuse("ensemblers must be at least one", [](search_options& o) { o.ensemblers.clear(); });
  refuse("ensemble_strategies must be at least one", [](search_options& o) { o.ensemble_strategies.clear(); });
  refuse("two ensemblers have the name 'mean'", [](search_options& o) {
    o.ensemblers = {mean_ensembler{}, mean_ensembler{}};
  });
  refuse("the ensembler 'a b'", [](search_options& o) { o.ensemblers = {mean_ensembler{.name = "a b"}}; });
  refuse("the ensembler 'complexity_regularized': adanet_lambda must be finite and at least 0, not -1",
         [](search_options& o) { o.ensemblers = {complexity_regularized_ensembler{.adanet_lambda = -1}}; });
  refuse("the ensembler 'own': it has no function",
         [](search_options& o) { o.ensemblers = {custom_ensembler{.name = "own"}}; });
  refuse("adanet_loss_decay must be in [0, 1)", [](search_options& o) { o.adanet_loss_decay = 1; });
  refuse("evaluator.input is missing", [](search_options& o) { o.evaluator = search_evaluator{}; });
  refuse("report_materializer.input is missing",
         [](search_options& o) { o.report_materializer = report_materializer{}; });
  refuse("the negative index -1", [](search_options& o) { o.replay_indices = {0, -1}; });
  refuse("worker_wait_secs must be finite and above 0, not 0", [](search_options& o) { o.worker_wait_secs = 0; });
  refuse("delay_secs_per_worker must be finite and at least 0, not inf",
         [](search_options& o) { o.delay_secs_per_worker = std::numeric_limits<double>::infinity(); });
  refuse("cache_bytes_max must be at least 0, not -1", [](search_options& o) { o.cache_bytes_max = -1; });
}

TEST_CASE("an option of a search that has no effect yet is refused by its name") {
  const auto named = [](const std::string& option, const std::function<void(search_options&)>& change) {
    auto o = right_options();
    change(o);
    const auto valid = validate(o);
    REQUIRE_FALSE(valid);
    CHECK(valid.error().category == errc::unimplemented);
    CHECK(valid.error().message.starts_with(option));
  };
  named("report_dir is '/elsewhere'", [](search_options& o) { o.report_dir = "/elsewhere"; });
  named("experimental_placement_strategy is round_robin",
        [](search_options& o) { o.experimental_placement_strategy.what = placement::kind::round_robin; });
}

}  // namespace troupe::test
