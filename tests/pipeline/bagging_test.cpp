// Searches with builders that train on data of their own, while ensembles see them on the data of the search.
#include "support/killed_search.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/search/auto_ensemble.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

/// Rows that the data of the search do not have.
dataset other_rows() { return small_dataset(96).skip(48); }
dataset two_batches() { return other_rows().take(8).batch(4); }
dataset endless() { return other_rows().shuffle().batch(4).repeat(); }

pool_member bagged(std::optional<dataset> input, double dropout = 0) {
  return {.model = dropout > 0 ? small_model(dropout)
                               : linear_model({.head = multi_class_head{.classes = 3}, .optimizer = adam{.rate = .1f}}),
          .name = "bagged",
          .train_input = std::move(input)};
}
pool_member unbagged() {
  return {.model = dnn_model(
              {.hidden_units = {5}, .head = multi_class_head{.classes = 3}, .optimizer = adam{.rate = 0.02f}}),
          .name = "dnn"};
}

small_search search_with(model_list pool) {
  small_search s;
  s.search.subnetwork_generator = generators::auto_ensemble({.pool = std::move(pool)});
  s.search.max_iterations = 1;
  return s;
}

expected<train_result> result_of_search(const small_search& s, uint64_t seed = 1) {
  auto made = prepare(describe_search(s));
  if (!made)
    return fail(made.error());
  simulated_job job{*made, seed};
  return result_of(job);
}

checkpoint_content end_of_search(const small_search& s, uint64_t seed = 1) {
  const auto result = result_of_search(s, seed);
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  return newest_checkpoint(s.o.files).content;
}

/// The error of a search whose first builder is `b`.
error refusal_of(const pool_member& member) {
  const auto result = result_of_search(search_with({member}));
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::invalid_argument);
  CHECK_MESSAGE(has(result.error().message, "the builder 'bagged'"), result.error().message);
  return result.error();
}

std::map<std::string, tensor> bagged_variables(const checkpoint_content& state, int64_t iteration) {
  const auto scope = subnetwork_scope(iteration, "bagged") + "/";
  std::map<std::string, tensor> all;
  for (const auto& t : state.tensors)
    if (t.name.starts_with(scope) && t.name != subnetwork_step_key(iteration, "bagged"))
      all[t.name.substr(scope.size())] = t.value;
  return all;
}

/// The variables after a job of that many steps that trains the model alone.
std::map<std::string, tensor> trained_alone(const dataset& input, int64_t steps, int64_t replicas = 1,
                                            std::optional<int64_t> shards = {}) {
  const auto state = state_at_end(
      {.max_steps = steps, .replicas = replicas, .shards = shards, .input = input, .source = bagged({}).model});
  std::map<std::string, tensor> all;
  for (const auto& t : state.tensors)
    if (t.name.starts_with("linear/"))
      all[t.name] = t.value;
  REQUIRE(all.size() > 2);  // With slots.
  return all;
}

/// Data of so many rows, a number that nobody knows.
dataset uncounted(int64_t rows) {
  const auto open = [rows]() -> expected<example_stream> {
    const auto at = std::make_shared<int64_t>(0);
    const auto next = [rows, at]() -> expected<std::optional<example_tensors>> {
      if (*at == rows)
        return std::nullopt;
      const auto value = 0.125f * static_cast<float>(*at);
      example_tensors made;
      made.features["x"] = tensor::of<float>({8}, std::vector<float>(8, value));
      made.labels["y"] = tensor::of<int32_t>({}, {static_cast<int32_t>((*at)++ % 3)});
      return made;
    };
    return example_stream{.next = next,
                          .save = [at]() -> expected<std::string> { return std::to_string(*at); },
                          .restore = [at](std::string_view position) -> expected<void> {
                            *at = std::stoll(std::string{position});
                            return {};
                          }};
  };
  return *dataset::from_generator(small_dataset().spec(), open, "uncounted");
}

/// Stops its subnetwork after so many steps.
struct stop_after : hook {
  int64_t at;
  explicit stop_after(int64_t step) : at(step) {}
  needs begin(int64_t) override { return {.steps = {{.first = at, .gate = true}}}; }
  void on_step(const step_facts&, job_control& job) override { job.stop(); }
};

}  // namespace

TEST_CASE("[ADA-22.11 bagging] a member with data of its own has the bits of a model that trains on them alone") {
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    auto s = search_with({bagged(endless()), unbagged()});
    s.search.max_iterations = 2;
    s.search.force_grow = true;
    s.o.replicas = replicas;
    s.o.shards = 2;
    const auto end = end_of_search(s);
    CHECK(bagged_variables(end, 1) == trained_alone(endless(), 10, replicas, 2));
    for (const auto& [name, value] : bagged_variables(end, 0))
      CHECK_MESSAGE(value == bagged_variables(end, 1).at(name), "its data begin anew with each iteration");
  }
}

TEST_CASE("[ADA-22.11 bagging] only the member whose data end after two batches stops, and 15 steps are made in all") {
  for (const std::optional<int64_t> iteration_steps : {std::optional<int64_t>{}, std::optional<int64_t>{10}}) {
    auto s = search_with({bagged(two_batches()), unbagged()});
    s.search.max_iteration_steps = iteration_steps;
    s.search.max_iterations.reset();
    s.o.max_steps = 15;
    const auto result = result_of_search(s);
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    CHECK(result->global_step == 15);
    const auto books = newest_books(s.o.files);
    CHECK(books.global_step == 15);
    REQUIRE(books.subnetworks.size() == 2);
    CHECK(books.subnetworks[0].stop == spec_stop{stop_cause::end_of_input, 2});
    CHECK_FALSE(books.subnetworks[1].stop);
    const auto mark = read_file(
        *s.o.files, "/run/" + stop_mark_file(books.iteration(), subnetwork_spec_name(books.iteration(), "bagged")));
    REQUIRE(mark);
    CHECK(has(*mark, "the end of its input after 2 steps"));
    CHECK(bagged_variables(newest_checkpoint(s.o.files).content, books.iteration()) == trained_alone(two_batches(), 2));
  }
}

TEST_CASE("an iteration is over once the data of all its members have ended, with one batch as with more") {
  for (const int64_t batches : {1, 3}) {
    auto s = search_with({bagged(other_rows().take(4 * batches).batch(4))});
    s.search.max_iterations = 3;
    s.search.max_iteration_steps.reset();
    const auto result = result_of_search(s);
    REQUIRE(result);
    CHECK(result->global_step == 3 * batches);
  }
}

TEST_CASE("on the data of the search itself bagging changes no bit of the search") {
  auto plain = search_with({bagged({}), unbagged()});
  auto bags = search_with({bagged(plain.o.input), unbagged()});
  for (auto* s : {&plain, &bags})
    s->search.ensemble_strategies = {strategy::all()};
  auto end = end_of_search(bags);
  CHECK(end.blobs.erase("own/infeed/t0_bagged") == 1);
  CHECK(same_state(end, end_of_search(plain)));
}

TEST_CASE("ensembles see a member on the data of the search, with the parameters that it has at that step") {
  auto s = search_with({bagged(two_batches()), unbagged()});
  s.o.input = small_dataset().batch(4).repeat();
  s.search.ensemblers = {mean_ensembler{}};
  s.search.max_iteration_steps = 5;
  s.search.adanet_loss_decay = 0;  // The average is the loss of the last step.
  static_cast<void>(end_of_search(s));
  const auto trained = trained_alone(two_batches(), 2);
  const auto kernel = trained.at("linear/linear_model/x/weights").as<float>();
  const auto bias = trained.at("linear/linear_model/bias_weights").as<float>();
  // The batch of the last step has the rows 16 to 19.
  auto rows = small_dataset().skip(16).batch(4).last_stage()->iterate({});
  REQUIRE(rows);
  std::vector<float> x(32);
  std::vector<int32_t> y(4);
  std::byte* into[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
  REQUIRE((*rows)->read(into, {}));
  double loss = 0;
  for (size_t row = 0; row < 4; ++row) {
    double sum = 0, of_label = 0;
    for (size_t c = 0; c < 3; ++c) {
      double logit = bias[c];
      for (size_t i = 0; i < 8; ++i)
        logit += x[8 * row + i] * kernel[3 * i + c];
      sum += std::exp(logit);
      of_label = static_cast<size_t>(y[row]) == c ? logit : of_label;
    }
    loss += (std::log(sum) - of_label) / 4;
  }
  const auto books = newest_books(s.o.files);
  REQUIRE(books.candidates.front().what.spec == "t0_bagged_grow_mean");
  CHECK(static_cast<double>(books.candidates.front().average.value) == doctest::Approx(loss).epsilon(1e-5));
}

TEST_CASE("a search with data of a member's own has the same bits under any schedule, and wherever it is killed") {
  for (const int64_t replicas : {1, 2})
    for (const bool ends : {false, true}) {
      CAPTURE(replicas);
      CAPTURE(ends);
      const auto searching = [&] {
        auto s = search_with({bagged(ends ? other_rows().shuffle().batch(4).take(6) : endless(), 0.2), unbagged()});
        s.search.max_iterations = 2;
        s.o.replicas = replicas;
        s.o.shards = 2;
        s.o.save_steps = 3;
        return s;
      };
      const auto whole = end_of_search(searching());
      for (const uint64_t seed : {2, 3, 4})
        CHECK(same_state(end_of_search(searching(), seed), whole));
      CHECK(places_killed(searching, replicas == 1 ? 83 : 211, whole) > 5);
    }
}

TEST_CASE(
    "a hook that stops a builder with data of its own leaves them where they are, wherever the search is killed") {
  const auto searching = [] {
    small_search s;
    s.search.max_iterations = 2;
    s.o.save_steps = 2;
    s.search.subnetwork_generator = [](const generator_input& in) {
      auto all = generators::simple_dnn({.optimizer = adam{.rate = 0.02f}, .layer_size = 4})(in);
      all[0].train_input = endless();
      all[0].hooks = [] { return std::vector<std::shared_ptr<hook>>{std::make_shared<stop_after>(4)}; };
      return all;
    };
    return s;
  };
  auto s = searching();
  const auto whole = end_of_search(s);
  CHECK(newest_books(s.o.files).subnetworks[0].stop == spec_stop{stop_cause::hook, 4});
  CHECK(places_killed(searching, 97, whole) > 5);
}

TEST_CASE("a search whose own infeed dies recovers to the same bits") {
  const auto searching = [] {
    auto s = search_with({bagged(endless()), unbagged()});
    s.o.save_steps = 3;
    return s;
  };
  const auto whole = end_of_search(searching());
  for (const int64_t at : {1, 4, 7}) {
    const auto s = searching();
    simulated_job job{prepare_search(s), 4};
    REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
    CHECK(job.kill("infeed/t0_bagged"));
    run_to_end(job);
    CHECK(same_state(newest_checkpoint(s.o.files).content, whole));
  }
}

TEST_CASE("a search that is stopped goes on with the data of a member's own where they were") {
  const auto searching = [] {
    auto s = search_with({bagged(endless()), unbagged()});
    s.search.max_iteration_steps = 40;
    return s;
  };
  const auto whole = end_of_search(searching());
  for (const int64_t at : {1, 9, 22}) {
    const auto s = searching();
    {
      simulated_job job{prepare_search(s), 5};
      REQUIRE(job.crank_until([&] { return job.progress().step >= at; }));
      job.ask(request::stop);
      run_to_end(job);
    }
    CHECK(same_state(end_of_search(s, 6), whole));
  }
}

TEST_CASE("a search is stopped in the midst of a read of the search's data, and loses none of a member's own") {
  const auto searching = [] {
    auto s = search_with({bagged(endless()), unbagged()});
    s.search.max_iteration_steps = 40;
    return s;
  };
  const auto whole = end_of_search(searching());
  const auto s = searching();
  {
    simulated_job job{prepare_search(s), 5};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 5; }));
    job.slow_down("infeed/0", 1000);
    job.ask(request::stop);
    job.pass(std::chrono::seconds{3});
    run_to_end(job);
  }
  CHECK(same_state(end_of_search(s, 6), whole));
}

TEST_CASE(
    "a member that is dropped takes its own data along, and the search ends in the same bits under any schedule") {
  const auto searching = [] {
    std::vector<float> x(16 * 8, 0.25f);
    x[9 * 8] = std::nanf("");  // In the third batch.
    const auto spoilt = dataset::from_tensors({{"x", tensor::of<float>({16, 8}, x)}},
                                              {{"y", tensor::zeros(dtype::int32, {16})}});
    auto s = search_with({bagged(spoilt->batch(4)), unbagged()});
    s.search.on_candidate_not_finite = candidate_not_finite::drop;
    s.o.save_steps = 2;
    return s;
  };
  const auto whole = end_of_search(searching());
  CHECK_FALSE(whole.blobs.contains("own/infeed/t0_bagged"));
  for (const uint64_t seed : {2, 3, 4})
    CHECK(same_state(end_of_search(searching(), seed), whole));
  CHECK(places_killed(searching, 97, whole) > 3);
}

TEST_CASE("data of a member's own that do not go with those of the search are refused before anything is trained") {
  CHECK(has(refusal_of(bagged(small_dataset(8).take(3).batch(4))).message,
            "train_input of the builder 'bagged': "
            "they have no batch"));
  CHECK(has(refusal_of(bagged(small_dataset().batch(8))).message,
            "a batch has 8 rows, and one of the search's data 4: batches must be of one size"));
  const auto of = [](const char* feature, int64_t width, const char* label) {
    return dataset::from_tensors({{feature, tensor::zeros(dtype::float32, {8, width})}},
                                 {{label, tensor::zeros(dtype::int32, {8})}})
        ->batch(4);
  };
  CHECK(has(refusal_of(bagged(of("x", 7, "y"))).message,
            "the feature 'x' is float32 [7], and float32 [8] in the data of the search"));
  CHECK(has(refusal_of(bagged(of("z", 8, "y"))).message,
            "the feature 'x' is missing, and float32 [8] in the data of the search"));
  CHECK(has(refusal_of(bagged(of("x", 8, "w"))).message,
            "the label 'y' is missing, and int32 [] in the data of the search"));
  auto idle = bagged(two_batches());
  idle.prediction_only = true;
  CHECK(has(refusal_of(idle).message, "neither optimizer nor train"));
}

TEST_CASE("data of unknown length that end while a member trains on them fail the search, which says what helps") {
  const auto s = search_with({bagged(uncounted(10).batch(4))});
  const auto result = result_of_search(s);
  REQUIRE_FALSE(result);
  const auto& e = result.error();
  CHECK(e.category == errc::invalid_argument);
  CHECK(e.source == "infeed/t0_bagged");
  CHECK(e.step == 2);
  CHECK(has(e.message, "the data of the builder 'bagged' (train_input) end before its training does"));
  CHECK(has(to_text(e), "take(n)"));
  SUBCASE("a limit of its steps is within them") {
    auto limited = bagged(uncounted(10).batch(4));
    limited.steps_max = 2;
    const auto good = result_of_search(search_with({limited, unbagged()}));
    REQUIRE_MESSAGE(good, (good ? "" : to_text(good.error())));
    CHECK(good->global_step == 6);
  }
}

TEST_CASE("a builder that reads the previous ensemble cannot train on data of its own, and the error says so") {
  small_search s;
  s.search.max_iterations = 2;
  s.search.subnetwork_generator = [](const generator_input& in) {
    builder b{.name = "reader",
              .build = [](graph&, const build_context& c) -> subnetwork {
                auto logits = nn::dense(c.features["x"], {.units = 3});
                if (c.previous)
                  logits = logits + c.previous->logits();
                return {.last_layer = logits, .logits = logits, .complexity = 0};
              },
              .optimizer = adam{}};
    if (in.iteration == 1)
      b.train_input = endless();
    return std::vector<builder>{b};
  };
  const auto result = result_of_search(s);
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::unimplemented);
  CHECK(has(result.error().message, "the builder 'reader' reads outputs of the previous ensemble"));
}

}  // namespace troupe::test
