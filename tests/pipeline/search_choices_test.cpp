// Searches that evaluate between two iterations: for the choice of the winner, and for reports.
#include "support/killed_search.hpp"
#include "tests/support/has.hpp"

#include <troupe/metrics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace troupe::test {

namespace {

dataset chooser_data() { return small_dataset(16).batch(4); }

/// `small_search` that chooses by the loss on other data.
small_search choosing_search(objective goal = objective::minimize) {
  small_search s;
  s.search.evaluator = search_evaluator{.input = chooser_data(), .metric_name = "average_loss", .objective = goal};
  return s;
}

subnetwork small_network(graph&, const build_context& c) {
  const auto h = nn::dense(c.features["x"], {.units = 4, .activation = relu});
  return {.last_layer = h, .logits = nn::dense(h, {.units = 3}), .complexity = 1};
}

std::vector<job_event> choices_of(const std::vector<job_event>& events) {
  std::vector<job_event> all;
  for (const auto& e : events)
    if (e.what == job_event::kind::chosen)
      all.push_back(e);
  return all;
}

std::string winner_of(const job_event& choice) { return choice.text.substr(0, choice.text.find(' ')); }

const checkpoint_content& undisturbed() {
  static const auto content = [] {
    auto s = choosing_search();
    simulated_job job{prepare_search(s), 1};
    run_to_end(job);
    return newest_checkpoint(s.o.files).content;
  }();
  return content;
}

}  // namespace

TEST_CASE("an evaluation chooses the winner: the scores are its own, and with the other objective another one wins") {
  std::vector<std::string> winners[2];
  for (const auto goal : {objective::minimize, objective::maximize})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(seed);
      auto s = choosing_search(goal);
      simulated_job job{prepare_search(s), seed};
      const auto result = run_to_end(job);
      CHECK(result.global_step == 30);
      CHECK((commits_of(job.events())
             == std::vector<checkpoint_id>{{0}, {5}, {10}, {10, 1}, {15, 1}, {20, 1}, {20, 2}, {25, 2}, {30, 2}}));
      CHECK(steps_of(job.events(), job_event::kind::evaluated).empty());
      CHECK(result.evaluations.empty());
      const auto chosen = choices_of(job.events());
      REQUIRE(chosen.size() == 2);
      const bool least = goal == objective::minimize;
      std::vector<std::string> all;
      for (const auto& e : chosen) {
        CHECK(has(e.text, std::string{least ? "the least" : "the greatest"} + " average_loss of the evaluation"));
        REQUIRE(e.metrics.size() == 2 + (e.step == 20 ? 1 : 0));
        for (const auto& [spec, score] : e.metrics)
          CHECK((least ? score >= e.metrics.at(winner_of(e)) : score <= e.metrics.at(winner_of(e))));
        all.push_back(winner_of(e));
      }
      auto& known = winners[least ? 0 : 1];
      CHECK((known.empty() || known == all));
      known = all;
    }
  CHECK(winners[0][0] != winners[1][0]);
}

TEST_CASE(
    "evaluations on the way show the candidate that leads by the evaluation, and change neither bits nor choices") {
  double in_the_middle[2] = {};
  for (const auto goal : {objective::minimize, objective::maximize})
    for (const bool beside : {false, true}) {
      CAPTURE(beside);
      auto plain = choosing_search(goal);
      simulated_job alone{prepare_search(plain), 1};
      run_to_end(alone);
      auto s = choosing_search(goal);
      auto job = describe_search(s);
      job.evaluations.insert(job.evaluations.begin(),
                             {.data = {.input = chooser_data(), .name = "shown"},
                              .throttle_secs = 0,
                              .sanity_batches = 0,
                              .when = beside ? evaluation_mode::beside : evaluation_mode::waits});
      simulated_job evaluated{prepared_search(job, planned_search(job)), 1};
      const auto result = run_to_end(evaluated);
      CHECK(same_state(newest_checkpoint(s.o.files).content, newest_checkpoint(plain.o.files).content));
      CHECK(choices_of(evaluated.events()).size() == 2);
      REQUIRE(result.search);
      // The data are those of the choice, so that the metric shown is the best of all candidates.
      size_t seen = 0;
      for (const auto& e : evaluated.events())
        if (e.what == job_event::kind::evaluated) {
          ++seen;
          if (e.step == 5)
            in_the_middle[goal == objective::minimize ? 0 : 1] = e.metrics.at("average_loss");
          for (const auto& chosen : choices_of(evaluated.events()))
            if (chosen.step == e.step && e.checkpoint->iteration == (e.step == 10 ? 0 : 1)) {
              CAPTURE(e.step);
              CHECK(e.metrics.at("average_loss") == doctest::Approx(chosen.metrics.at(winner_of(chosen))));
            }
        }
      CHECK(seen >= 3);
    }
  CHECK(in_the_middle[0] < in_the_middle[1]);
}

TEST_CASE("an evaluation on the way by which nobody leads is a warning, and only the choice itself fails by it") {
  auto s = choosing_search();
  s.search.evaluator->metric_name = "nothing";
  s.search.metric_fn = [](graph& g, const metric_context&) {
    return std::map<std::string, metric>{
        {"nothing", metrics::mean(g.constant(tensor::scalar(std::numeric_limits<float>::quiet_NaN())))}};
  };
  auto job = describe_search(s);
  job.evaluations.insert(job.evaluations.begin(),
                         {.data = {.input = chooser_data(), .name = "shown"}, .throttle_secs = 0, .sanity_batches = 0});
  simulated_job evaluated{prepared_search(job, planned_search(job)), 1};
  const auto cause = failure_of(evaluated);
  CHECK(cause.category == errc::nan_loss);
  CHECK(cause.step == 10);
  CHECK(steps_of(evaluated.events(), job_event::kind::evaluated) == std::vector<int64_t>{5});
  CHECK(std::any_of(evaluated.events().begin(), evaluated.events().end(), [](const job_event& e) {
    return e.what == job_event::kind::warning && e.step == 5 && has(e.text, "cannot be compared at step 5");
  }));
}

TEST_CASE("a stop while the candidates of an iteration are compared is told as a stop, and the next process goes on") {
  auto s = choosing_search();
  {
    simulated_job job{prepare_search(s), 1};
    REQUIRE(job.crank_until([&] { return job.progress().committed_step == 10; }));
    CHECK(steps_of(job.events(), job_event::kind::chosen).empty());
    job.ask(request::stop);
    const auto result = run_to_end(job);
    CHECK(result.stopped);
    CHECK(job.events().back().what == job_event::kind::stopped);
  }
  simulated_job next{prepare_search(s), 2};
  CHECK_FALSE(run_to_end(next).stopped);
  CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed()));
}

TEST_CASE("the result of a search that ends is that of the evaluation, also of one that has nothing left to do") {
  std::string specs[2];
  for (const auto goal : {objective::minimize, objective::maximize}) {
    auto s = choosing_search(goal);
    s.search.max_iterations = 1;
    auto& spec = specs[goal == objective::minimize ? 0 : 1];
    for (int process = 0; process < 2; ++process) {
      simulated_job job{prepare_search(s), 1};
      const auto result = run_to_end(job);
      CHECK(result.global_step == 10);
      REQUIRE(result.search);
      CHECK((process == 0 || result.search->spec == spec));
      spec = result.search->spec;
    }
  }
  CHECK(specs[0] != specs[1]);
}

TEST_CASE("a search that evaluates between iterations is killed at any time, and ends in the same bits") {
  const bool every = std::getenv("TROUPE_GROWTH_SEEDS") != nullptr;  // Set by --all.
  CHECK(places_killed([] { return choosing_search(); }, every ? 3 : 89, undisturbed()) > (every ? 130 : 4));
}

TEST_CASE("a stop during the evaluation of a choice leaves the iteration complete, and the next job makes the choice") {
  auto s = choosing_search();
  {
    simulated_job job{prepare_search(s), 1};
    const auto in_choice = [&] {
      const auto p = job.progress();
      return std::any_of(p.evaluating.begin(), p.evaluating.end(),
                         [](const evaluation_progress& e) { return e.name == "chooser" && e.step == 10; });
    };
    while (!in_choice())
      REQUIRE(job.crank());
    job.ask(request::stop);
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result);
    REQUIRE(*result);
    CHECK((*result)->global_step == 10);
    CHECK(choices_of(job.events()).empty());
  }
  simulated_job next{prepare_search(s), 1};
  run_to_end(next);
  CHECK(choices_of(next.events()).size() == 2);
  CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed()));
}

TEST_CASE("data of a choice that cannot be read fail the job with their error, and the next job goes on from there") {
  auto s = choosing_search();
  s.search.evaluator->input = small_dataset(16)
                                  .map("lost",
                                       [](const example_tensors&) -> expected<example_tensors> {
                                         return fail(errc::data_loss, "the shard is gone");
                                       })
                                  .batch(4);
  {
    auto made = prepare(describe_search(s));
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    simulated_job job{*made, 1};
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result);
    REQUIRE_FALSE(*result);
    CHECK(result->error().category == errc::data_loss);
    CHECK(has(to_text(result->error()), "while evaluating the candidates of iteration 0 (chooser)"));
  }
  s.search.evaluator->input = chooser_data();
  simulated_job next{prepare_search(s), 1};
  run_to_end(next);
  CHECK(same_state(newest_checkpoint(s.o.files).content, undisturbed()));
}

TEST_CASE("a metric that candidates do not have is refused before anything is trained") {
  auto s = choosing_search();
  s.search.evaluator->metric_name = "accuracy_at_5";
  const auto made = prepare(describe_search(s));
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::key_missing);
  CHECK(has(made.error().message, "no candidate has the metric 'accuracy_at_5'"));
  CHECK(has(made.error().message, "adanet_loss"));
}

TEST_CASE("a search that makes reports tells its generator of earlier iterations, whenever it is planned") {
  std::map<int64_t, generator_reports> told;
  const auto reporting = [&told] {
    auto s = choosing_search();
    s.search.report_materializer = report_materializer{.input = chooser_data(), .steps = 2};
    s.search.subnetwork_generator = [&told](const generator_input& in) {
      told[in.iteration] = in.reports;
      std::vector<builder> all;
      for (const bool learns : {true, false})
        all.push_back({.name = learns ? "learns" : "stays",
                       .build = small_network,
                       .optimizer = learns ? std::optional<optimizer>{gradient_descent{.rate = 0.1f}} : std::nullopt,
                       .report = [learns](graph&, const subnetwork&, const build_context&) -> builder_report {
                         return {.hparams = {{"learns", learns}}};
                       }});
      return all;
    };
    return s;
  };
  const auto s = reporting();
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  CHECK(told[0].all.empty());
  CHECK(told[0].previous_ensemble.empty());
  REQUIRE(told[1].all.size() == 2);
  CHECK(told[1].all[0].name == "learns");
  CHECK(std::get<bool>(told[1].all[0].hparams.at("learns")));
  CHECK(told[1].all[0].metrics.contains("average_loss"));
  CHECK(told[1].all[0].metrics.contains("adanet_loss"));
  REQUIRE(told[1].previous_ensemble.size() == 1);
  REQUIRE(told[2].all.size() == 5);  // Two of iteration 0; the previous ensemble and two of iteration 1.
  CHECK(told[2].all[2].name == "previous_ensemble");
  CHECK_FALSE(told[2].all[2].included);
  CHECK(std::equal(told[1].all.begin(), told[1].all.end(), told[2].all.begin()));
  const auto text = read_file(*s.o.files, "/run/report/iteration_reports.json");
  REQUIRE(text);
  CHECK(*text == reports_text(newest_books(s.o.files).reports));
  const auto as = newest_checkpoint(s.o.files).content;
  for (const int64_t turns : {300, 500, 700, 900})
    ends_alike(reporting(), turns, as);
}

TEST_CASE("a choice by evaluation and its reports pass over a candidate that has left") {
  auto s = choosing_search();
  s.search.max_iterations = 2;
  s.search.on_candidate_not_finite = candidate_not_finite::drop;
  s.search.report_materializer = report_materializer{.input = chooser_data()};
  s.o.evaluates = true;
  s.search.subnetwork_generator = [](const generator_input&) {
    std::vector<builder> all;
    for (const float rate : {0.1f, 1e30f})
      all.push_back(
          {.name = rate < 1 ? "good" : "bad", .build = small_network, .optimizer = gradient_descent{.rate = rate}});
    return all;
  };
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  const auto books = newest_books(s.o.files);
  REQUIRE(books.winners.size() == 1);
  CHECK(books.winners[0].recipe.members == std::vector<ensemble_member>{{0, "good"}});
  REQUIRE(books.reports.size() == 1);
  REQUIRE(books.reports[0].size() == 2);
  CHECK(books.reports[0][0].metrics.contains("average_loss"));
  CHECK(books.reports[0][1].metrics.empty());
  CHECK(steps_of(job.events(), job_event::kind::evaluated) == steps{5, 10, 15, 20});
}

}  // namespace troupe::test
