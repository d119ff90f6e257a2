// A long job needs no more memory at its end than after each activity happened once: no step, save, evaluation, summary
// or prediction leaks.
#include "pipeline/launch/launcher.hpp"
#include "tests/estimator/small_start.hpp"
#include "tests/support/mortal_engine.hpp"
#include "tests/support/resident.hpp"

#include <troupe/nn.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

#include <deque>

namespace troupe::test {

namespace {

constexpr int64_t steps_all = 20'000, warm_from = 5'000, look_every = 1'000, growth_max = int64_t{2} << 20;
constexpr int64_t inputs = 32, hidden_units = 1'300, examples = 256, sentence = 6, vocabulary = 5'000;

/// Gradients and variables have 220 kB: too much for the small bins of an allocator, and too little for a heap to
/// return at once. Predictions have 160 kB for a batch of 32. Inputs are small, because the length of blocks, and so
/// the memory of blocks in flight, depends on the machine's present speed.
estimator middling(const std::string& directory) {
  return {
      model{"middling",
            [](graph& g, const features& x, const labels& y, mode m) {
              const auto hidden = nn::dense(x["x"], {.units = hidden_units, .activation = relu});
              if (m == mode::predict)
                return model_spec{.mode = m, .predictions = {{"hidden", hidden}}};
              return multi_class_head{.classes = 10}.spec(g, {.mode = m,
                                                              .logits = nn::dense(hidden, {.units = 10}),
                                                              .labels = y.only(),
                                                              .optimizer = momentum{.rate = 0.01f}});
            }},
      {.model_dir = directory, .seed = 7, .save_summary_steps = 100, .save_checkpoints_steps = 1'000, .replicas = 2}};
}

/// A model that looks up words in a table of 160 kB and reads them with an LSTM, so that the number of rows in the
/// table's gradient varies.
estimator reading(const std::string& directory) {
  return {
      model{"reading",
            [](graph& g, const features& x, const labels& y, mode m) {
              const auto words = nn::embedding(x["ids"], {.entries = vocabulary, .units = 8});
              const auto last = nn::lstm(words, {.units = 16}).last.h;
              return multi_class_head{.classes = 10}.spec(g, {.mode = m,
                                                              .logits = nn::dense(last, {.units = 10}),
                                                              .labels = y.only(),
                                                              .optimizer = momentum{.rate = 0.01f}});
            }},
      {.model_dir = directory, .seed = 7, .save_summary_steps = 100, .save_checkpoints_steps = 1'000, .replicas = 2}};
}

tensor labels_of_rows() {
  std::vector<int32_t> y(static_cast<size_t>(examples));
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<int32_t>(i % 10);
  return tensor::of<int32_t>({examples}, y);
}

dataset rows() {
  std::vector<float> x(static_cast<size_t>(examples * inputs));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  return *dataset::from_tensors({{"x", tensor::of<float>({examples, inputs}, x)}}, {{"y", labels_of_rows()}});
}

dataset sentences() {
  std::vector<int32_t> ids(static_cast<size_t>(examples * sentence));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(i * 2654435761u % vocabulary);
  return *dataset::from_tensors({{"ids", tensor::of<int32_t>({examples, sentence}, ids)}}, {{"y", labels_of_rows()}});
}

/// Records the memory of the process at state `warm_from` and at regular intervals after it.
struct looks final : hook {
  std::vector<std::pair<int64_t, int64_t>> seen;
  int64_t evaluations = 0, saves = 0;
  needs begin(int64_t) override { return {.steps = {{.first = warm_from, .every = look_every}}}; }
  void on_step(const step_facts& facts, job_control&) override { seen.emplace_back(facts.step, resident_bytes()); }
  void on_event(const job_event& e, job_control&) override {
    evaluations += e.what == job_event::kind::evaluated;
    saves += e.what == job_event::kind::saved;
  }
};

/// Checks that memory grows by at most `growth_max` bytes after the first of these states.
void check_level(const std::vector<std::pair<int64_t, int64_t>>& seen) {
  REQUIRE(seen.size() == 1 + (steps_all - warm_from) / look_every);
  std::string all;
  int64_t most = 0;
  for (const auto& [step, bytes] : seen) {
    all += " " + std::to_string(step) + ": " + std::to_string(bytes >> 10);
    most = std::max(most, bytes - seen.front().second);
  }
  MESSAGE("kB held at step", all);
  CHECK(most <= growth_max);
}

void check_training(estimator (*e)(const std::string& directory), const dataset& data) {
  temporary_directory directory;
  const auto held = std::make_shared<looks>();
  auto running = start(e(directory / "run"),
                       {.input = data.shuffle().batch(4).repeat(), .max_steps = steps_all, .hooks = {held}},
                       eval_spec{.input = data.batch(32), .throttle_secs = 0});
  REQUIRE_MESSAGE(running.has_value(), why(running));
  const auto result = running->wait(std::chrono::seconds{180});
  REQUIRE_MESSAGE(result.has_value(), why(result));
  CHECK(held->saves == steps_all / 1'000 + 1);
  CHECK(held->evaluations >= steps_all / 1'000);
  check_level(held->seen);
}

}  // namespace

TEST_CASE("20,000 steps of two replicas with saves, evaluations and summaries hold 2 MiB more than 5,000 at most") {
  check_training(middling, rows());
}

TEST_CASE("20,000 steps of two replicas that look words up and read them hold 2 MiB more than 5,000 at most") {
  check_training(reading, sentences());
}

TEST_CASE("20,000 batches of predictions hold 2 MiB more than 5,000 at most") {
  estimator fresh = middling("");
  fresh.config.model_dir.reset();
  auto stream = predict(fresh, {.input = rows().batch(32).repeat(), .single_examples = false});
  REQUIRE_MESSAGE(stream.has_value(), why(stream));
  std::vector<std::pair<int64_t, int64_t>> seen;
  std::deque<prediction> kept;  // As a consumer that keeps the last results.
  for (int64_t batch = 1; batch <= steps_all; ++batch) {
    auto one = stream->next();
    REQUIRE_MESSAGE(one.has_value(), why(one));
    REQUIRE(one->has_value());
    kept.push_back(std::move(**one));
    if (kept.size() > 10)
      kept.pop_front();
    if (batch >= warm_from && batch % look_every == 0)
      seen.emplace_back(batch, resident_bytes());
  }
  check_level(seen);
}

namespace {

/// Records the memory of the process at each recovery.
struct looks_at_recoveries final : hook {
  std::vector<int64_t> held;
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::recovered)
      held.push_back(resident_bytes());
  }
};

}  // namespace

TEST_CASE("a job that has recovered 120 times holds 2 MiB more than one that has recovered 20 times at most") {
  constexpr int64_t deaths = 120, warm = 20, apart = 10;
  temporary_directory directory;
  const auto e = middling(directory / "run");
  auto config = resolve_config(e.config);
  REQUIRE_MESSAGE(config.has_value(), why(config));
  config->save_steps = apart;
  config->recovery = {.attempts_max = {}, .first_delay_secs = 0};
  const auto looked = std::make_shared<looks_at_recoveries>();
  auto prepared = prepare(training_job{.basis = {.source = std::make_shared<const model>(e.model), .config = *config},
                                       .input = rows().shuffle().batch(4).repeat(),
                                       .max_steps = apart * (deaths + 1),
                                       .hooks = {looked}});
  REQUIRE_MESSAGE(prepared.has_value(), why(prepared));
  const auto fate = std::make_shared<doom>();
  for (int64_t n = 0; n < deaths; ++n)
    fate->steps.insert(apart * n + 7);
  make_mortal(**prepared, fate);
  const auto result = local_launcher{}.train(*prepared)->wait(std::chrono::seconds{180});
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), why(*result));
  REQUIRE(static_cast<int64_t>(looked->held.size()) >= warm + 2);
  const auto growth = *std::max_element(looked->held.begin() + warm, looked->held.end()) - looked->held[warm - 1];
  MESSAGE("kB held after ", warm, " recoveries: ", looked->held[warm - 1] >> 10, ", after ", looked->held.size(), ": ",
          looked->held.back() >> 10);
  CHECK(growth <= growth_max);
}

}  // namespace troupe::test
