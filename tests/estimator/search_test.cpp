// Searches by the public calls, on real files.
#include "estimator/small_start.hpp"

#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A search of two iterations of ten ticks, which chooses by the loss on other data.
searcher choosing_searcher(const std::string& directory, objective goal) {
  return {{.head = multi_class_head{.classes = 3},
           .subnetwork_generator = generators::simple_dnn({.optimizer = adam{.rate = 0.02f}, .layer_size = 4}),
           .max_iteration_steps = 10,
           .evaluator = search_evaluator{.input = small_dataset(16).batch(4),
                                         .metric_name = "average_loss",
                                         .objective = goal},
           .max_iterations = 2},
          small_estimator(directory).config};
}

}  // namespace

TEST_CASE("the winner of a directory is that of the evaluation, as in the result of its job") {
  std::string names[2];
  for (const auto goal : {objective::minimize, objective::maximize}) {
    const temporary_directory at;
    const auto s = choosing_searcher(at.path, goal);
    const auto trained = train(s, {.input = small_dataset().shuffle().batch(4).repeat()});
    REQUIRE_MESSAGE(trained, why(trained));
    REQUIRE(trained->search);
    const auto winner = winner_of(s);
    REQUIRE_MESSAGE(winner, why(winner));
    const auto measured = evaluate(*winner, {.input = small_dataset(16).batch(4)});
    REQUIRE_MESSAGE(measured, why(measured));
    auto& name = names[goal == objective::minimize ? 0 : 1];
    name = trained->search->spec;
    CHECK(winner->model.name == name);
    CHECK(measured->metrics.contains("average_loss"));
    CHECK(std::filesystem::exists(at / "architecture-0.json"));
    CHECK_FALSE(std::filesystem::exists(at / "eval_chooser"));
  }
  CHECK(names[0] != names[1]);
}

}  // namespace troupe::test
