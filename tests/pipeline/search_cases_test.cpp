// Numbered cases of searches that need whole jobs.
#include "support/ended_jobs.hpp"
#include "support/small_search.hpp"
#include "tests/support/has.hpp"

#include <troupe/metrics.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

/// Rows with the feature 1 and this label.
dataset labelled(float label, int64_t rows = 12) {
  const std::vector<float> ones(static_cast<size_t>(rows), 1.f), labels(static_cast<size_t>(rows), label);
  return *dataset::from_tensors({{"x", tensor::of<float>({rows, 1}, ones)}},
                                {{"y", tensor::of<float>({rows, 1}, labels)}});
}

/// A frozen subnetwork that predicts this number.
builder constant(const std::string& name, float prediction) {
  return {.name = name, .build = [prediction](graph& g, const build_context& c) -> subnetwork {
            const auto logits = c.features["x"] * g.constant(tensor::scalar(prediction));
            return {.last_layer = logits, .logits = logits, .complexity = 0};
          }};
}

/// The scores by which the first of two constants is compared with the second, at the end of an iteration of one tick.
std::vector<double> scores_of(float first, float second, search_evaluator evaluator, float label = 0) {
  small_search s;
  s.o.input = labelled(label).batch(4).repeat();
  s.search = {.head = regression_head{},
              .subnetwork_generator =
                  [=](const generator_input&) {
                    return std::vector{constant("first", first), constant("second", second)};
                  },
              .max_iteration_steps = 1,
              .ensemblers = {mean_ensembler{}},
              .evaluator = std::move(evaluator),
              .metric_fn =
                  [](graph&, const metric_context& c) {
                    return std::map<std::string, metric>{
                        {"mse", metrics::mean_squared_error(c.labels.only(), c.predictions.at("predictions"))}};
                  },
              .max_iterations = 2};
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  for (const auto& e : job.events())
    if (e.what == job_event::kind::chosen)
      return {e.metrics.at("t0_first_grow_mean"), e.metrics.at("t0_second_grow_mean")};
  return {};
}

void near(const std::vector<double>& found, double first, double second) {
  REQUIRE(found.size() == 2);
  CHECK(found[0] == doctest::Approx(first).epsilon(1e-6));
  CHECK(found[1] == doctest::Approx(second).epsilon(1e-6));
}

constexpr int64_t seeds = 20;

/// A search of three iterations of 20 ticks on the seed's own initial values and batches.
struct seeded_search {
  std::function<void(search_options&)> edit = [](search_options&) {};

  train_result run(int64_t seed) const {
    small_search s;
    s.o.evaluates = true;
    s.o.save_steps = 20;
    s.search.max_iteration_steps = 20;
    edit(s.search);
    auto described = describe_search(s);
    described.basis.config.seed = static_cast<uint64_t>(seed);
    auto prepared = prepare(std::move(described));
    REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
    simulated_job job{std::move(*prepared), 1};
    return run_to_end(job);
  }
  /// The mean of the winners' losses over the seeds.
  double loss() const {
    double sum = 0;
    for (int64_t seed = 1; seed <= seeds; ++seed)
      sum += run(seed).metrics.at("loss");
    return sum / static_cast<double>(seeds);
  }
};

seeded_search by_strategies(std::vector<strategy> all) {
  return {[all = std::move(all)](search_options& o) { o.ensemble_strategies = all; }};
}

/// Keeps the newest `kept` members of the previous ensemble.
strategy keeps(size_t kept) {
  return strategy::custom("keeps", [kept](const auto& builders, const auto& previous) {
    std::vector<ensemble_candidate> all;
    for (const auto& b : builders)
      all.push_back({b + "_keeps",
                     {b},
                     {previous.end() - static_cast<int64_t>(std::min(kept, previous.size())), previous.end()}});
    return all;
  });
}

/// A network of one hidden layer.
builder network_of(const std::string& name, int64_t width, float rate = 0.2f) {
  return {.name = name,
          .build = [width](graph&, const build_context& c) -> subnetwork {
            const auto h = nn::dense(c.features["x"], {.units = width, .activation = relu});
            return {.last_layer = h, .logits = nn::dense(h, {.units = 3}), .complexity = 1};
          },
          .optimizer = gradient_descent{.rate = rate}};
}

float root(float x) { return std::sqrt(x); }

}  // namespace

TEST_CASE("[ADA-22.2 evaluator] batches of the losses 3 and 6 give 3 and 6 over three steps, swapped 6 and 3") {
  const search_evaluator three{.input = labelled(0, 20).batch(4), .steps = 3};
  near(scores_of(root(3), root(6), three), 3, 6);
  near(scores_of(root(6), root(3), three), 6, 3);
}

TEST_CASE("[ADA-22.2 evaluator] data of one batch give their losses, 18 and 9, with three steps wanted or all") {
  for (const auto steps : {std::optional<int64_t>{}, std::optional<int64_t>{3}}) {
    const search_evaluator once{.input = labelled(0, 4).batch(4), .steps = steps};
    near(scores_of(root(18), root(9), once), 18, 9);
  }
}

TEST_CASE("[ADA-22.2 evaluator] of the metric mse, labels of 3 and predictions of 6 and 9 give 9 and 36") {
  near(scores_of(6, 9, {.input = labelled(3).batch(4), .metric_name = "mse"}, 3), 9, 36);
}

TEST_CASE("[ADA-22.1 expected relations] two ensemblers with all are better than one, and more strategies than solo") {
  const auto one = by_strategies({strategy::all()});
  const seeded_search two{[one](search_options& o) {
    one.edit(o);
    o.ensemblers.push_back(complexity_regularized_ensembler{
        .optimizer = gradient_descent{.rate = .5f}, .use_bias = true, .name = "biased"});
  }};
  CHECK(two.loss() < one.loss());
  const auto solo = by_strategies({strategy::solo()});
  CHECK(by_strategies({strategy::all(), strategy::grow(), strategy::solo()}).loss() < solo.loss());
}

TEST_CASE("[ADA-22.1 expected relations] the more of the previous ensemble a strategy keeps, the better the winner") {
  const double all = by_strategies({keeps(100)}).loss(), one = by_strategies({keeps(1)}).loss(),
               none = by_strategies({keeps(0)}).loss();
  CHECK(all < one);
  CHECK(one < none);
}

TEST_CASE("[ADA-22.1 expected relations] an evaluator with contradictory labels makes another candidate win") {
  const auto chosen_by = [](const dataset& data) {
    return seeded_search{[data](search_options& o) {
      o.max_iterations = 2;
      o.evaluator = search_evaluator{.input = data.batch(4)};
    }};
  };
  const auto good = chosen_by(small_dataset(48)),
             contradictory = chosen_by(
                 small_dataset(48).map("contradict", [](const example_tensors&x) -> expected<example_tensors> {
                   auto other = x;
                   const auto label = x.labels.at("y").as<int32_t>()[0];
                   other.labels.insert_or_assign("y", tensor::scalar<int32_t>((label + 1) % 3));
                   return other;
                 }));
  int64_t others = 0;
  for (int64_t seed = 1; seed <= seeds; ++seed)
    others += good.run(seed).search->replay_indices != contradictory.run(seed).search->replay_indices ? 1 : 0;
  CHECK(others > seeds / 4);
}

TEST_CASE("[ADA-22.4 smallest loss] in every iteration the report that is included has the smallest adanet_loss") {
  small_search s;
  s.search.force_grow = true;
  s.search.evaluator = search_evaluator{.input = small_dataset(16).batch(4)};
  s.search.report_materializer = report_materializer{.input = small_dataset(16).batch(4)};
  s.search.subnetwork_generator = [](const generator_input&) {
    std::vector<builder> all;
    for (const auto& [name, rate] : {std::pair{"slow", 0.001f}, std::pair{"fast", 0.2f}, std::pair{"wild", 5.f}})
      all.push_back(network_of(name, 4, rate));
    return all;
  };
  simulated_job job{prepare_search(s), 1};
  run_to_end(job);
  const auto books = newest_books(s.o.files);
  REQUIRE(books.reports.size() == 2);
  for (const auto& reports : books.reports) {
    double least = std::numeric_limits<double>::infinity(), of_included = least;
    int64_t included = 0;
    for (const auto& r : reports) {
      if (r.name == "previous_ensemble")
        continue;
      const double loss = std::get<double>(r.metrics.at("adanet_loss"));
      least = std::min(least, loss);
      if (r.included)
        of_included = loss, ++included;
    }
    CHECK(included == 1);
    CHECK(of_included == least);
  }
}

TEST_CASE(
    "[ADA-22.4 report errors] a metric that is an array is left out of a report, and one that is not floating "
    "refused") {
  static_assert(!std::is_constructible_v<report_value, tensor> && !std::is_constructible_v<report_value, symbol>);
  static_assert(!std::is_constructible_v<metric, symbol>);
  for (const bool integers : {false, true}) {
    small_search s;
    s.search.max_iterations = 2;
    s.search.report_materializer = report_materializer{.input = small_dataset(16).batch(4)};
    auto reporting = network_of("a", 4);
    reporting.report = [integers](graph&, const subnetwork&, const build_context& c) -> builder_report {
      const symbol x = c.features["x"];
      const auto columns = reduce_sum(cast(x, integers ? dtype::int32 : dtype::float64), {.axes = {0}});
      const auto totals = [](std::span<const tensor> sums) -> metric_value { return sums[0]; };
      return {.metrics = {{"mine", metrics::mean(x)}, {"columns", metric{{columns}, totals}}}};
    };
    s.search.subnetwork_generator = generators::list({reporting});
    const auto made = prepare(describe_search(s));
    if (integers) {
      REQUIRE_FALSE(made);
      CHECK(has(to_text(made.error()), "columns"));
      continue;
    }
    REQUIRE_MESSAGE(made, to_text(made.error()));
    simulated_job job{*made, 1};
    run_to_end(job);
    const auto reported = newest_books(s.o.files).reports.at(0).at(0).metrics;
    CHECK(reported.contains("mine"));
    CHECK(reported.contains("loss"));
    CHECK_FALSE(reported.contains("columns"));
  }
}

TEST_CASE(
    "[ADA-22.3 force grow] identical builders are 1 member after three iterations of a step, and 3 under force_grow") {
  for (const int64_t builders : {1, 2})
    for (const bool forced : {false, true})
      for (const bool scored : {false, true}) {
        CAPTURE(builders);
        CAPTURE(forced);
        CAPTURE(scored);
        small_search s;
        s.o.input = labelled(0).batch(4).repeat();
        s.o.max_steps = 3;
        std::vector all{constant("a", 1)};
        if (builders == 2)
          all.push_back(constant("b", 1));
        s.search = {.head = regression_head{},
                    .subnetwork_generator = generators::list(all),
                    .max_iteration_steps = 1,
                    .ensemblers = {mean_ensembler{}},
                    .force_grow = forced};
        if (scored)
          s.search.evaluator = search_evaluator{.input = labelled(0).batch(4)};
        const auto result = run_to_end(describe_search(s));
        REQUIRE(result.search);
        CHECK(result.search->iteration == 2);
        CHECK(result.search->winner.members.size() == (forced ? 3 : 1));
      }
}

TEST_CASE(
    "[ADA-22.7 replay] networks of width 1, 3 and 5 lead to the same architecture by the indices of another search, on "
    "other data and with another evaluator") {
  // The architecture after three iterations of ten steps.
  const auto searched = [](std::vector<int64_t> indices, const dataset& data, objective goal) {
    small_search s;
    s.o.input = data.shuffle().batch(4).repeat();
    s.o.max_steps = 30;
    s.search = small_search_options();
    s.search.subnetwork_generator = generators::list({network_of("1", 1), network_of("3", 3), network_of("5", 5)});
    s.search.evaluator = search_evaluator{.input = data.batch(4), .objective = goal};
    s.search.replay_indices = std::move(indices);
    const auto result = run_to_end(describe_search(s));
    REQUIRE(result.search);
    CHECK(result.search->iteration == 2);
    CHECK(result.global_step == 30);
    CHECK(result.search->replay_indices.size() == 3);
    return *result.search;
  };
  const auto others = small_dataset(96).skip(48);
  const auto first = searched({}, small_dataset(48), objective::minimize),
             free = searched({}, others, objective::maximize);
  CHECK(free.winner.members != first.winner.members);
  const auto again = searched(first.replay_indices, others, objective::maximize);
  CHECK(again.winner.members == first.winner.members);
  CHECK(again.replay_indices == first.replay_indices);
  CHECK(searched({2, 3, 1}, small_dataset(48), objective::minimize).winner.members
        == std::vector<ensemble_member>{{0, "5"}, {1, "5"}, {2, "1"}});
}

TEST_CASE("[ADA-22.12 best candidate] of ten candidates the one of index 3 is the best, and its value is reported, 3") {
  small_search s;
  s.o.input = labelled(0).batch(4).repeat();
  std::vector<builder> ten;
  for (int i = 0; i < 10; ++i)
    ten.push_back(constant("b" + std::to_string(i), static_cast<float>(i)));
  s.search = {.head = regression_head{},
              .subnetwork_generator = generators::list(ten),
              .max_iteration_steps = 1,
              .ensemblers = {mean_ensembler{}},
              .metric_fn =
                  [](graph&, const metric_context& c) {
                    return std::map<std::string, metric>{{"value", metrics::mean(c.predictions.at("predictions"))}};
                  },
              .max_iterations = 1,
              .replay_indices = {3}};
  auto job = describe_search(s);
  job.evaluations = {{.data = {.input = labelled(0).batch(4)}, .throttle_secs = 0}};
  CHECK(run_to_end(std::move(job)).metrics.at("value") == 3);
}

TEST_CASE(
    "[ADA-22.9 debug] a feature or a label that is not a number fails a search with debug, also in a map of labels") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto rows = [](float x, float y, float z, bool several) {
    const auto column = [](float v) { return tensor::of<float>({4, 1}, {1, 1, 1, v}); };
    auto labels = std::vector<std::pair<std::string, tensor>>{{"y", column(y)}};
    if (several)
      labels.emplace_back("z", column(z));
    return *dataset::from_tensors({{"x", column(x)}}, {labels.begin(), labels.end()});
  };
  const auto fails = [](const dataset& data, const head& judge, bool debug) -> std::optional<error> {
    small_search s;
    s.o.input = data.batch(4).repeat();
    s.search = {
        .head = judge,
        .subnetwork_generator =
            [](const generator_input&) {
              return std::vector<builder>{
                  {.name = "one", .build = [](graph&, const build_context& c) -> subnetwork {
                     const auto h = nn::dense(c.features["x"], {.units = 2});
                     return {.last_layer = h, .logits = nn::dense(h, {.units = c.logits_dimension}), .complexity = 1};
                   }}};
            },
        .max_iteration_steps = 2,
        .debug = debug,
        .max_iterations = 1};
    simulated_job job{prepare_search(s), 1};
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result);
    return *result ? std::nullopt : std::optional{result->error()};
  };
  const auto refused = [&](const dataset& data, const head& h, const std::string& name) {
    const auto why = fails(data, h, true);
    REQUIRE(why);
    CHECK(why->category == errc::invalid_argument);
    CHECK_MESSAGE(has(to_text(*why), "'" + name + "' of the data"), to_text(*why));
    const auto without = fails(data, h, false);
    REQUIRE(without);
    CHECK_FALSE(has(to_text(*without), "of the data"));  // Heads check labels by themselves, and say so otherwise.
  };
  CHECK_FALSE(fails(rows(1, 1, 1, false), regression_head{}, true));
  refused(rows(nan, 1, 1, false), regression_head{}, "x");
  refused(rows(1, nan, 1, false), regression_head{}, "y");
  const auto both = multi_head{
      .heads = {{.name = "y", .head = regression_head{}}, {.name = "z", .head = regression_head{}}}};
  CHECK_FALSE(fails(rows(1, 1, 1, true), both, true));
  refused(rows(1, 1, nan, true), both, "z");
}

}  // namespace troupe::test
