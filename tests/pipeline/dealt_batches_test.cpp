// Evaluations and predictions whose batches are dealt to several replicas, on one host and on several.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/has.hpp"
#include "support/predicted_rows.hpp"
#include "support/prediction_case.hpp"
#include "support/troubled_dataset.hpp"
#include "support/wrapped_engine.hpp"

#include <troupe/metrics.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace troupe::test {

namespace {

struct spread {
  int32_t hosts, replicas;
};
constexpr spread several[] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 4}, {3, 3}};

std::shared_ptr<file_system> trained() {
  small_job_options o{.max_steps = 10};
  run_to_end(o);
  return o.files;
}

evaluation_result evaluated_by(const spread& by, const std::shared_ptr<file_system>& files, int64_t examples,
                               std::optional<int64_t> batches, uint64_t seed) {
  evaluation_job job{.basis = small_basis({.files = files}),
                     .data = {.input = small_dataset(examples).batch(4), .steps = batches}};
  job.data.hosts = by.hosts;
  job.data.replicas = by.replicas;
  auto prepared = prepare(std::move(job));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  simulated_launcher launcher{seed};
  auto result = launcher.evaluate(*prepared)->wait();
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  launcher.world().end_all();
  return *result;
}

prediction_job prediction_by(const spread& by, int64_t examples, model source) {
  std::vector<float> x(static_cast<size_t>(examples));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  auto job = prediction_job{.basis = small_basis({.source = std::move(source)}),
                            .input = dataset::from_tensors({{"x", tensor::of<float>({examples}, x)}})->batch(4)};
  job.hosts = by.hosts;
  job.replicas = by.replicas;
  return job;
}

model twice() {
  return {"twice", [](graph&, const features& x, const labels&, mode m) {
            return model_spec{.mode = m, .predictions = {{"twice", 2.0f * x["x"]}}};
          }};
}

/// Tells of each batch that a replica computes.
class told_engine final : public wrapped_engine {
 public:
  using listener = std::function<void(int64_t batch)>;
  told_engine(std::shared_ptr<step_engine> inner, listener tell)
    : wrapped_engine(std::move(inner)), tell_(std::move(tell)) {}
  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override {
    tell_(step);
    return wrapped_engine::evaluate(step, in, arena);
  }

 private:
  listener tell_;
};

/// The batches that each replica of a prediction computes, in their order.
using computed_batches = std::map<size_t, std::vector<int64_t>>;

/// All rows of a prediction in the order in which they come, or its error.
std::pair<std::vector<float>, std::optional<error>> predicted_rows(prediction_job job, uint64_t seed,
                                                                   computed_batches* computed = nullptr) {
  auto prepared = prepare(std::move(job));
  if (!prepared)
    return {{}, prepared.error()};
  auto& engines = (*prepared)->in(mode::predict).engines;
  for (size_t r = 0; computed && r < engines.size(); ++r)
    engines[r] = std::make_shared<told_engine>(engines[r], [r, computed](int64_t b) { (*computed)[r].push_back(b); });
  simulated_prediction p{*prepared, seed};
  auto all = predicted_rows(p, 0);
  CHECK((all.second || p.left().empty()));
  return all;
}

std::vector<float> even_numbers(int64_t count) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(static_cast<float>(2 * i));
  return all;
}

}  // namespace

TEST_CASE(
    "[DF-57] batches of 4, 4 and 2 rows give ten results in order, one batch four and none none, by any number of "
    "replicas on any number of hosts") {
  for (const auto& by : several)
    for (const int64_t examples : {10, 4, 27}) {
      const auto [rows, trouble] = predicted_rows(prediction_by(by, examples, twice()), 7);
      CHECK_MESSAGE(!trouble, (trouble ? to_text(*trouble) : ""));
      CHECK(rows == even_numbers(examples));
    }
  for (const int32_t replicas : {1, 2}) {
    auto none = prediction_by({1, replicas}, 4, twice());
    none.input = dataset_over(fake_batches(0));
    const auto [rows, trouble] = predicted_rows(std::move(none), 7);
    CHECK_FALSE(trouble);
    CHECK(rows.empty());
  }
}

TEST_CASE("large batches in memory, which are lent, give the results in order by any number of replicas") {
  constexpr int64_t examples = 20'000, batch = 4096;  // 16 KiB a batch, and a last one with fewer rows.
  std::vector<float> numbers(examples);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i);
  const auto x = tensor::of<float>({examples}, numbers);
  for (const auto& by : several) {
    auto job = prediction_by(by, 4, twice());
    job.input = dataset::from_tensors({{"x", x}})->batch(batch);
    const auto [rows, trouble] = predicted_rows(std::move(job), 7);
    CHECK_MESSAGE(!trouble, (trouble ? to_text(*trouble) : ""));
    CHECK(rows == even_numbers(examples));
  }
  CHECK_MESSAGE(x == tensor::of<float>({examples}, numbers), "nothing is computed in what is lent");
}

TEST_CASE("[DF-61] no model computes a batch that is not in the data, whichever replica comes to the end first") {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    for (const int32_t replicas : {1, 2, 3, 4}) {
      computed_batches computed;
      const auto [rows, trouble] = predicted_rows(prediction_by({1, replicas}, 10, twice()), seed, &computed);
      CHECK_FALSE(trouble);
      CHECK(rows == even_numbers(10));
      std::vector<int64_t> all;
      for (const auto& [replica, batches] : computed)
        all.insert(all.end(), batches.begin(), batches.end());
      std::sort(all.begin(), all.end());
      CHECK(all == std::vector<int64_t>{0, 1, 2});
    }
}

TEST_CASE("[DF-62] two replicas take three batches as 1 and 3, and 2; the results are those of batches 1, 2, 3") {
  computed_batches computed;
  const auto [rows, trouble] = predicted_rows(prediction_by({1, 2}, 12, twice()), 3, &computed);
  CHECK_FALSE(trouble);
  CHECK(computed == computed_batches{{0, {0, 2}}, {1, {1}}});
  CHECK(rows == even_numbers(12));
}

TEST_CASE("[DF-58] a batch with more rows than the data said, or a prediction without a row of its own, is an error") {
  auto constant = twice();
  constant.build = [](graph& g, const features&, const labels&, mode m) {
    return model_spec{.mode = m, .predictions = {{"table", g.constant(tensor::zeros(dtype::float32, {3}))}}};
  };
  auto doubled = twice();
  doubled.build = [](graph&, const features& x, const labels&, mode m) {
    const auto batch = x["x"].dims().front();
    auto both = batch;
    both.coefficient = 2;
    const auto pairs = broadcast_to(reshape(x["x"], {batch, 1}), {batch, 2});
    return model_spec{.mode = m, .predictions = {{"table", reshape(pairs, {both})}}};
  };
  const auto longer = predicted_rows(prediction_by({1, 2}, 10, doubled), 1).second;
  REQUIRE(longer);
  CHECK(longer->category == errc::invalid_argument);
  CHECK_MESSAGE(has(longer->message, "prediction 'table' has the shape [2*batch], whose first extent is not the batch"),
                longer->message);
  const auto refused = predicted_rows(prediction_by({1, 2}, 10, constant), 1).second;
  REQUIRE(refused);
  CHECK(refused->category == errc::invalid_argument);
  CHECK_MESSAGE(has(refused->message, "prediction 'table' has the shape [3], whose first extent is not the batch"),
                refused->message);
  for (const int64_t rows : {5, 0, -1, 100'000}) {
    auto job = prediction_by({1, 2}, 12, twice());
    const auto nothing = [] { return expected<void>{}; };
    job.input = dataset(std::make_shared<troubled_stage>(job.input.last_stage(), -1, nothing, rows));
    const auto trouble = predicted_rows(std::move(job), 1).second;
    REQUIRE(trouble);
    CHECK(trouble->category == errc::invalid_argument);
    CHECK_MESSAGE(has(trouble->message, "returned " + std::to_string(rows) + " rows, and a batch has 1 to 4"),
                  trouble->message);
  }
}

TEST_CASE("examples may have as many axes as a tensor has beside the batch") {
  const model doubles{
      "doubles", [](graph&, const features& x, const labels&, mode m) {
        return model_spec{.mode = m, .predictions = {{"twice", reshape(2.0f * x["x"], {x["x"].dims().front()})}}};
      }};
  for (const auto& by : several) {
    auto job = prediction_by(by, 12, doubles);
    std::vector<float> x(12);
    std::iota(x.begin(), x.end(), 0.0f);
    job.input = dataset::from_tensors({{"x", tensor::of<float>({12, 1, 1, 1, 1, 1, 1, 1}, std::move(x))}})
                    ->batch(12)
                    .take(1);
    const auto [rows, trouble] = predicted_rows(std::move(job), 1);
    CHECK_MESSAGE(!trouble, (trouble ? to_text(*trouble) : ""));
    CHECK(rows == even_numbers(12));
  }
}

TEST_CASE(
    "[DF-59] predictions of 2^30 bytes in a batch are refused, with keys and shapes; of 4 bytes less they are not") {
  const auto prepared_with = [](int64_t floats, int64_t below = predict_spec{}.batch_bytes_below,
                                const std::vector<std::string>& keys = {"wide"}) {
    auto source = twice();
    source.build = [floats, keys](graph&, const features& x, const labels&, mode m) {
      const auto row = reshape(x["x"], {x["x"].dims()[0], 1});
      model_spec spec{.mode = m};
      for (const auto& key : keys)
        spec.predictions.emplace(key, broadcast_to(row, {row.dims()[0], floats}));
      return spec;
    };
    auto job = prediction_by({1, 1}, 8, source);
    job.input = dataset::from_tensors({{"x", tensor::of<float>({2}, {1, 2})}})->batch(1);
    job.choice.bytes_below = below;
    const auto prepared = prepare(std::move(job));
    return prepared ? std::optional<error>{} : prepared.error();
  };
  constexpr int64_t limit = int64_t{1} << 28;
  CHECK_FALSE(prepared_with(limit - 1));
  const auto trouble = prepared_with(limit);
  REQUIRE(trouble);
  CHECK(trouble->category == errc::invalid_argument);
  CHECK_MESSAGE(has(trouble->message,
                    "take 1073741824 bytes, and must take less than 1073741824: 'wide' float32 [batch, "
                    "268435456]"),
                trouble->message);
  CHECK_FALSE(prepared_with(3, 13));
  CHECK(prepared_with(3, 12));
  CHECK_FALSE(prepared_with(limit / 2));
  const auto both = prepared_with(limit / 2, predict_spec{}.batch_bytes_below, {"wide", "broad"});
  REQUIRE(both);
  CHECK_MESSAGE(has(both->message,
                    "take 1073741824 bytes, and must take less than 1073741824: 'broad' float32 [batch, 134217728], "
                    "'wide' float32 [batch, 134217728]"),
                both->message);
}

TEST_CASE(
    "an evaluation has the same bits on 1, 2, 3 and 4 replicas of 1, 2 and 3 hosts, over all data or some batches") {
  const auto files = trained();
  for (const int64_t examples : {48, 45, 3})
    for (const std::optional<int64_t> batches : {std::optional<int64_t>{}, std::optional<int64_t>{5}}) {
      if (examples < 20 && batches)
        continue;
      const auto alone = evaluated_by(several[0], files, examples, batches, 1);
      CHECK(alone.batches == batches.value_or((examples + 3) / 4));
      for (const auto& by : several) {
        const auto result = evaluated_by(by, files, examples, batches, 11);
        CHECK(result.batches == alone.batches);
        CHECK(result.metrics == alone.metrics);
      }
    }
}

TEST_CASE(
    "[DF-44] the accuracy over three batches is that over all examples, the last batch included, by a slow outfeed") {
  const auto files = trained();
  const auto accuracy_of = [&files](int64_t rows, bool slow, std::optional<int64_t> batches = {}) {
    evaluation_job job{.basis = small_basis({.files = files}),
                       .data = {.input = small_dataset(12).batch(rows), .steps = batches}};
    job.data.replicas = slow ? 2 : 1;
    auto prepared = prepare(std::move(job));
    REQUIRE(prepared);
    world_conditions conditions;
    if (slow)
      conditions.cost["evaluator/outfeed"] = {std::chrono::seconds{2}, std::chrono::seconds{5}};
    simulated_launcher launcher{6, conditions};
    const auto result = launcher.evaluate(*prepared)->wait();
    launcher.world().end_all();
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    CHECK(result->batches == batches.value_or(12 / rows));
    return result->metrics.at("accuracy");
  };
  CHECK(accuracy_of(4, true) == accuracy_of(12, false));
  CHECK_MESSAGE(accuracy_of(4, true, 2) != accuracy_of(12, false), "the last batch changes the result");
}

TEST_CASE("training that waits for evaluations by two replicas ends in the same state, with the same results") {
  std::vector<job_event> by_one, by_two;
  small_job_options o{.evaluates = true};
  auto d = describe_small(o);
  run_to_end(d, 3, &by_one);
  o.files = memory_disk::make();
  d = describe_small(o);
  d.evaluations[0].data.replicas = 2;
  run_to_end(d, 3, &by_two);
  const auto results = [](const std::vector<job_event>& events) {
    std::map<int64_t, std::map<std::string, double>> all;
    for (const auto& e : events)
      if (e.what == job_event::kind::evaluated)
        all[e.step] = e.metrics;
    return all;
  };
  CHECK(results(by_one).size() > 2);
  CHECK(results(by_one) == results(by_two));
}

TEST_CASE("the death of any node ends an evaluation by two replicas") {
  const auto files = trained();
  for (const char* node : {"evaluator/replica/0", "evaluator/replica/1", "evaluator/infeed/0", "evaluator/outfeed"}) {
    small_job_options o{.evaluates = true};
    auto d = describe_small(o);
    d.evaluations[0].data.replicas = 2;
    auto prepared = prepare(d);
    REQUIRE(prepared);
    simulated_job job{*prepared, 2};
    REQUIRE(job.crank_until([&] { return job.node(node) != nullptr; }));
    REQUIRE(job.kill(node));
    CHECK(has(failure_of(job).message, "a node of the evaluation ended: it was killed"));
  }
}

TEST_CASE("batches that cannot be computed are named by their number among all") {
  auto source = small_model();
  source.build = [inner = source.build](graph& g, const features& x, const labels& y, mode m) {
    auto spec = inner(g, x, y, m);
    if (m == mode::evaluate)  // Example 21, of batch 5, is out of range.
      spec.loss = spec.loss + 0.f * reduce_mean(check_range(x["x"], -1.0, 1.0, "a row that nobody has asked for"));
    return spec;
  };
  evaluation_job job{.basis = small_basis({.source = source, .keeps = false})};
  std::vector<float> x(48 * 8, 0.5f);
  x[21 * 8 + 3] = 2;
  job.data.input = dataset::from_tensors({{"x", tensor::of<float>({48, 8}, x)}},
                                         {{"y", tensor::of<int32_t>({48}, std::vector<int32_t>(48))}})
                       ->batch(4);
  std::optional<error> alone;
  for (const int32_t replicas : {1, 2, 3}) {
    auto by = job;
    by.data.replicas = replicas;
    auto prepared = prepare(by);
    REQUIRE(prepared);
    simulated_launcher launcher{4};
    const auto result = launcher.evaluate(*prepared)->wait();
    launcher.world().end_all();
    REQUIRE_FALSE(result);
    CHECK(result.error().step == 5);
  }
}

TEST_CASE("a model that carries states is evaluated by one of the replicas, and on one host only") {
  auto source = small_model();
  source.build = [inner = source.build](graph& g, const features& x, const labels& y, mode m) {
    const auto batch = x["x"].dims().front();
    const auto count = g.state({.name = "count", .dims = {batch}});
    g.carry(count, count + 1);
    auto spec = inner(g, x, y, m);
    if (m == mode::evaluate)
      spec.metrics["count"] = {reduce_sum(count), reduce_sum(count * 0 + 1)};
    return spec;
  };
  std::map<std::string, double> alone;
  for (const int32_t replicas : {1, 2, 3}) {
    evaluation_job job{.basis = small_basis({.source = source, .keeps = false}),
                       .data = {.input = small_dataset(24).batch(4), .replicas = replicas}};
    auto prepared = prepare(job);
    REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
    simulated_launcher launcher{4};
    const auto result = launcher.evaluate(*prepared)->wait();
    launcher.world().end_all();
    REQUIRE(result);
    CHECK(result->metrics.at("count") == 2.5);
    if (replicas == 1)
      alone = result->metrics;
    CHECK(result->metrics == alone);
  }
  evaluation_job spread{.basis = small_basis({.source = source, .keeps = false}),
                        .data = {.input = small_dataset(24).batch(4), .hosts = 2, .replicas = 2}};
  const auto refused = prepare(spread);
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "reads them on 2 hosts: evaluate it on one"));
}

TEST_CASE("replicas that cannot be spread evenly over hosts are refused") {
  auto job = prediction_by({2, 3}, 4, twice());
  const auto refused = prepare(std::move(job));
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "3 replicas cannot be spread evenly over 2 hosts"));
}

}  // namespace troupe::test
