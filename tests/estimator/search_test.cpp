// Searches by the public calls, on real files.
#include "estimator/small_start.hpp"

#include <troupe/exported_model.hpp>
#include <troupe/inspect.hpp>
#include <troupe/predict.hpp>
#include <troupe/saving_listener.hpp>
#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>
#include <troupe/vocabulary.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

/// Rows of three classes, with a feature that no builder reads if `extra`.
dataset with_extra(bool extra) {
  std::vector<float> x(96);
  std::vector<int32_t> y(12);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i * 37 % 19) - 9) / 9.f;
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<int32_t>(i % 3);
  std::vector<std::pair<std::string, tensor>> features{{"x", tensor::of<float>({12, 8}, x)}};
  if (extra)
    features.emplace_back("extra", tensor::of<float>({12, 8}, x));
  return *dataset::from_tensors(features, {{"y", tensor::of<int32_t>({12}, y)}});
}

/// A search of two iterations of four ticks whose builders read the feature "x".
searcher plain_searcher(const std::string& directory) {
  return {{.head = multi_class_head{.classes = 3},
           .subnetwork_generator = generators::simple_dnn({.features = {"x"}, .layer_size = 4}),
           .max_iteration_steps = 4,
           .ensemblers = {mean_ensembler{}},
           .max_iterations = 2},
          small_estimator(directory).config};
}

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
    const auto seen = inspect_directory(at.path);
    REQUIRE_MESSAGE(seen, why(seen));
    REQUIRE(seen->search);
    CHECK(seen->search->iteration == 1);
    REQUIRE(seen->search->finished.size() == 1);
    CHECK(seen->search->finished[0].candidates.size() == 2);
    CHECK(seen->search->finished[0].why.find("average_loss of the evaluation") != std::string::npos);
    CHECK(seen->search->subnetworks.size() == 2);
    CHECK(std::filesystem::exists(at / "architecture-0.json"));
    CHECK_FALSE(std::filesystem::exists(at / "eval_chooser"));
  }
  CHECK(names[0] != names[1]);
}

TEST_CASE("[ADA-22.6 evaluate before training] a candidate of NaN is no error of a choice before any training") {
  const auto two_classes = with_extra(false).map("parity", [](const example_tensors& x) -> expected<example_tensors> {
    auto made = x;
    made.labels.insert_or_assign("y", tensor::scalar<int32_t>(x.labels.at("y").as<int32_t>()[0] % 2));
    return made;
  });
  for (const bool nan_first : {true, false}) {
    CAPTURE(nan_first);
    const temporary_directory at;
    const auto network = [](const std::string& name, float factor) {
      return builder{.name = name, .build = [factor](graph& g, const build_context& c) -> subnetwork {
                       const auto h = nn::dense(c.features["x"], {.units = 1});
                       return {.last_layer = h, .logits = h * g.constant(tensor::scalar(factor)), .complexity = 1};
                     }};
    };
    const auto good = network("good", 1), bad = network("bad", std::numeric_limits<float>::quiet_NaN());
    searcher s = plain_searcher(at / "run");
    s.search.head = binary_head{};
    s.search.evaluator = search_evaluator{.input = two_classes.batch(4)};
    s.search.subnetwork_generator = generators::list(nan_first ? std::vector{bad, good} : std::vector{good, bad});
    const auto winner = winner_of(s);
    REQUIRE_MESSAGE(winner, why(winner));
    CHECK(winner->model.name == "t0_good_grow_mean");
    const auto measured = evaluate(*winner, {.input = two_classes.batch(4)});
    REQUIRE_MESSAGE(measured, why(measured));
    CHECK(std::isfinite(measured->metrics.at("loss")));
    CHECK_FALSE(std::filesystem::exists(at / "run"));
  }
}

TEST_CASE("[ADA-22.9 extra features] a feature that only training, evaluation or prediction has is no error") {
  for (const char* const who : {"train", "evaluate", "predict"}) {
    CAPTURE(who);
    const auto has_extra = [who](std::string_view mode) { return mode == who; };
    const temporary_directory at;
    const auto s = plain_searcher(at.path);
    const eval_spec evaluation{.input = with_extra(has_extra("evaluate")).batch(4)};
    const auto trained = train_and_evaluate(s, {.input = with_extra(has_extra("train")).batch(4).repeat()},
                                            {evaluation});
    REQUIRE_MESSAGE(trained, why(trained));
    CHECK(trained->global_step == 8);
    const auto winner = winner_of(s);
    REQUIRE_MESSAGE(winner, why(winner));
    const auto measured = evaluate(*winner, evaluation);
    REQUIRE_MESSAGE(measured, why(measured));
    CHECK(measured->metrics.at("loss") == doctest::Approx(trained->metrics.at("loss")));
    auto predictions = predict(*winner, {.input = with_extra(has_extra("predict")).batch(4)});
    REQUIRE_MESSAGE(predictions, why(predictions));
    int64_t rows = 0;
    for (;; ++rows) {
      const auto next = predictions->next();
      REQUIRE_MESSAGE(next, why(next));
      if (!*next)
        break;
    }
    CHECK(rows == 12);
  }
}

TEST_CASE(
    "[ADA-22.9 categorical inputs] numbers of a vocabulary and of a hash are read as columns of ones and as "
    "embeddings, "
    "over several iterations") {
  const std::vector<std::string> words{"shirt", "bag", "boot", "bag", "boot", "shirt", "bag", "shirt"};
  const auto of_vocabulary = indices_of(words, std::vector<std::string>{"shirt", "bag", "boot"});
  REQUIRE(of_vocabulary);
  std::vector<int32_t> of_hash(8), y(8);
  for (size_t i = 0; i < 8; ++i) {
    of_hash[i] = static_cast<int32_t>(words[i].front() * 31 % 5);
    y[i] = words[i] == "bag" ? 1 : 0;
  }
  const auto data = *dataset::from_tensors({{"word", *of_vocabulary}, {"bucket", tensor::of<int32_t>({8}, of_hash)}},
                                           {{"y", tensor::of<int32_t>({8}, y)}});
  const auto reading = [](const std::string& name, auto read) {
    return builder{.name = name,
                   .build = [read](graph&, const build_context& c) -> subnetwork {
                     const auto h = read(c);
                     return {.last_layer = h, .logits = nn::dense(h, {.units = 2}), .complexity = 1};
                   },
                   .optimizer = adam{.rate = .1f}};
  };
  const temporary_directory at;
  auto s = plain_searcher(at.path);
  s.search.head = multi_class_head{.classes = 2};
  s.search.max_iteration_steps = 20;
  s.search.max_iterations = 3;
  s.search.ensemble_strategies = {strategy::all()};
  s.search.force_grow = true;
  s.search.subnetwork_generator = generators::list(
      {reading("ones",
               [](const build_context& c) {
                 return concat({one_hot(c.features["word"], 3), one_hot(c.features["bucket"], 5)});
               }),
       reading("embedded", [](const build_context& c) {
         return concat({nn::embedding(c.features["word"], {.entries = 3, .units = 2, .name = "words"}),
                        nn::embedding(c.features["bucket"], {.entries = 5, .units = 2, .name = "buckets"})});
       })});
  const auto trained = train(s, {.input = data.batch(4).repeat()});
  REQUIRE_MESSAGE(trained, why(trained));
  CHECK(trained->global_step == 60);
  CHECK(trained->search->winner.members.size() == 6);
  const auto winner = winner_of(s);
  REQUIRE_MESSAGE(winner, why(winner));
  const auto measured = evaluate(*winner, {.input = data.batch(4)});
  REQUIRE_MESSAGE(measured, why(measured));
  CHECK(measured->metrics.at("accuracy") == 1);
}

TEST_CASE(
    "exporters of a search export the ensemble that leads at each evaluated checkpoint, the last one its winner") {
  const temporary_directory at;
  const auto s = plain_searcher(at.path);
  const auto trained = train_and_evaluate(
      s, {.input = with_extra(false).batch(4).repeat()},
      {eval_spec{.input = with_extra(false).batch(4), .throttle_secs = 0, .exporters = {exporter{}}}});
  REQUIRE_MESSAGE(trained, why(trained));
  const auto& paths = trained->exports.at("");
  REQUIRE(paths.size() == 1);
  const auto described = inspect_export(paths.front());
  REQUIRE_MESSAGE(described, why(described));
  CHECK(described->model == trained->search->spec);
  CHECK(described->global_step == 8);
  CHECK(list_exports(at / "export/latest")->size() == 2);  // At the ends of both iterations.
}

TEST_CASE(
    "the best checkpoint of a search may be of an earlier iteration, and stays for as long as the search goes on") {
  const temporary_directory at;
  auto s = plain_searcher(at.path);
  s.search.subnetwork_generator = generators::simple_dnn(
      {.optimizer = adam{.rate = 0.05f}, .features = {"x"}, .layer_size = 4});
  s.search.max_iterations = 3;
  s.config.save_checkpoints_steps = 2;
  s.config.keep_checkpoint_max = 2;
  const eval_spec evaluation{.input = with_extra(false).batch(4), .throttle_secs = 0};
  struct losses : hook {
    std::map<checkpoint_id, double> all = {};
    void on_event(const job_event& e, job_control&) override {
      if (e.what == job_event::kind::evaluated)
        all[*e.checkpoint] = e.metrics.at("average_loss");
    }
  };
  const auto seen = std::make_shared<losses>();
  // The worst is sought, which is not the last.
  const train_spec training{
      .input = with_extra(false).batch(4).repeat(),
      .hooks = {seen},
      .keep_best = keep_best{.goal = {.metric = "average_loss", .smaller_is_better = false}, .restore_best = true}};
  const auto trained = train_and_evaluate(s, training, {evaluation});
  REQUIRE_MESSAGE(trained, why(trained));
  CHECK(trained->global_step == 12);
  const auto worst = std::max_element(seen->all.begin(), seen->all.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  REQUIRE(worst != seen->all.end());
  CHECK(worst->first.iteration < 2);  // The last one is 2.
  for (const auto& which : {checkpoint_ref::best(), checkpoint_ref::newest()}) {
    const auto winner = winner_of(s, which);
    REQUIRE_MESSAGE(winner, why(winner));
    CHECK_FALSE(winner->model.name.starts_with("t2_"));
    const auto measured = evaluate(*winner, {.input = with_extra(false).batch(4)}, which);
    REQUIRE_MESSAGE(measured, why(measured));
    CHECK(measured->metrics.at("average_loss") == doctest::Approx(worst->second));
  }
}

namespace {

/// Counts its calls, and evaluates the winner when it is told the end.
struct counting_hook : hook {
  explicit counting_hook(searcher of) : search(std::move(of)) {}
  needs begin(int64_t) override {
    ++begun;
    return {};
  }
  void end(int64_t) override {
    ++ended;
    const auto winner = winner_of(search);
    result = winner ? evaluate(*winner, {.input = with_extra(false).batch(4)}) : fail(winner.error());
  }
  searcher search;
  int begun = 0, ended = 0;
  expected<evaluation_result> result = fail(errc::state, "not called");
};

struct counting_listener : saving_listener {
  void begin(int64_t) override { ++begun; }
  void before_save(int64_t step) override { before.push_back(step); }
  answer after_save(int64_t step, const std::string&) override {
    after.push_back(step);
    return answer::go_on;
  }
  void end(int64_t) override { ++ended; }
  int begun = 0, ended = 0;
  std::vector<int64_t> before, after;
};

}  // namespace

TEST_CASE(
    "[ADA-22.9 hooks] a hook that evaluates at its end ends, listeners hear every save, and both begin and end once in "
    "a search that grows") {
  const temporary_directory at;
  const auto s = plain_searcher(at.path);
  const auto counted = std::make_shared<counting_hook>(s);
  const auto listener = std::make_shared<counting_listener>();
  const auto trained = train(
      s, {.input = with_extra(false).batch(4).repeat(), .hooks = {counted}, .saving_listeners = {listener}});
  REQUIRE_MESSAGE(trained, why(trained));
  CHECK(counted->begun == 1);
  CHECK(counted->ended == 1);
  REQUIRE_MESSAGE(counted->result, why(counted->result));
  CHECK(counted->result->global_step == 8);
  CHECK(listener->begun == 1);
  CHECK(listener->ended == 1);
  CHECK(listener->before == listener->after);
  CHECK(listener->after == std::vector<int64_t>{0, 4, 4, 8});  // At step 4 before and after it has grown.
}

}  // namespace troupe::test
