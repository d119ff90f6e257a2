// Predictions in simulation: every schedule gives the same rows, and failures end in time without leaving an actor.
#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "storage/files/memory_file_system.hpp"
#include "support/predicted_rows.hpp"
#include "support/prediction_case.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

struct case_options {
  std::shared_ptr<fake_source> source = fake_batches(3, 2);
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  prediction_choice choice = {};
  std::optional<int64_t> step = {};
  int64_t ahead = 16;
  bool keeps = true;
  model what = echo_model();
};

expected<std::shared_ptr<prepared_job>> prepare_case(const case_options& o) {
  job_basis basis{.source = std::make_shared<const model>(o.what), .config = {}, .files = o.disk};
  if (o.keeps)
    basis.config.model_dir = "/run";
  return prepare(prediction_job{.basis = basis,
                                .input = dataset_over(o.source),
                                .choice = o.choice,
                                .checkpoint = {{.step = o.step.value_or(-1)}},
                                .batches_ahead = o.ahead});
}

std::shared_ptr<prepared_job> prepared(const case_options& o) {
  auto job = prepare_case(o);
  REQUIRE_MESSAGE(job, (job ? "" : to_text(job.error())));
  return *job;
}

size_t place_of(const prepared_job& job, std::string_view key) {
  const auto outputs = job.in(mode::predict).engines.front()->outputs();
  size_t i = 0;
  while (i < outputs.size() && outputs[i].name != key)
    ++i;
  REQUIRE(i < outputs.size());
  return i;
}

void commit(const std::shared_ptr<memory_disk>& disk, int64_t step, float w, const std::string& name = "w") {
  auto store = checkpoint_store::open(disk, "/run");
  REQUIRE(store);
  REQUIRE((*store)->commit(
      {{step}, {{name, tensor::of<float>({1}, {w})}, {"global_step", tensor::scalar<int64_t>(step)}}, {}, {}}));
}

void damage(const std::shared_ptr<memory_disk>& disk, int64_t step) {
  REQUIRE(write_file_atomically(*disk, "/run", "model.ckpt-" + std::to_string(step) + "-00000-of-00001.safetensors",
                                "no tensors"));
}

}  // namespace

TEST_CASE("batches of 4, 4 and 2 rows, in any schedule and with any number ahead, give ten results in order") {
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (int64_t ahead : {0, 1, 2, 16}) {
      CAPTURE(seed);
      CAPTURE(ahead);
      const case_options o{.ahead = ahead};
      const auto job = prepared(o);
      simulated_prediction p{job, seed};
      const auto [rows, cause] = predicted_rows(p, place_of(*job, "scaled"));
      CHECK_FALSE(cause);
      CHECK(rows == rows_of(*o.source, 3));
      CHECK(rows.size() == 10);
      CHECK(p.left().empty());
      CHECK_MESSAGE(!*p.next(), "the end is told again");
    }
}

TEST_CASE("one batch gives its rows, and data without a batch give none") {
  for (int64_t batches : {0, 1}) {
    const case_options o{.source = fake_batches(batches)};
    const auto job = prepared(o);
    simulated_prediction p{job, 3};
    const auto [rows, cause] = predicted_rows(p, place_of(*job, "scaled"));
    CHECK_FALSE(cause);
    CHECK(rows.size() == static_cast<size_t>(4 * batches));
    CHECK(p.left().empty());
  }
}

TEST_CASE("no more batches are read than the one being taken and those ahead of it, however long the consumer takes") {
  for (uint64_t seed = 1; seed <= 10; ++seed)
    for (int64_t ahead : {0, 1, 3, 8}) {
      CAPTURE(seed);
      CAPTURE(ahead);
      const case_options o{.source = fake_batches(1'000'000), .ahead = ahead};
      simulated_prediction p{prepared(o), seed};
      CHECK(o.source->reads.empty());
      for (int64_t taken = 1; taken <= 30; ++taken) {
        REQUIRE(p.next()->has_value());
        CHECK(o.source->reads.size() <= static_cast<size_t>(taken + ahead));
      }
      while (p.crank() && p.now() < std::chrono::hours{10}) {}
      CHECK_MESSAGE(o.source->reads.size() <= static_cast<size_t>(30 + ahead), "nor while nobody takes any for hours");
      CHECK_MESSAGE(p.next()->has_value(), "and then it goes on");
    }
}

TEST_CASE(
    "data that cannot be read, or a label that is none, are an error behind the rows before it, and no actor is left") {
  case_options o{.source = fake_batches(6)};
  errc category{};
  std::string source, part;
  SUBCASE("data") {
    o.source->trouble[3] = error{errc::data_loss, "record 12 is damaged"};
    std::tie(category, source, part) = std::tuple{errc::data_loss, "predictor/infeed/0", "record 12 is damaged"};
  }
  SUBCASE("a label") {
    // The label is the first column of y = {s, row}: from batch 3 on it is not one of the three classes.
    o.what.build = [inner = o.what.build](graph& g, const features& x, const labels& y, mode m) {
      auto spec = inner(g, x, y, m);
      const symbol label = reshape(slice(y["y"], -1, 0, 1), {y["y"].dims()[0]});
      const symbol logits = concat(std::vector<symbol>(3, reshape(x["x"], {x["x"].dims()[0], extent{1}})));
      spec.predictions["loss"] = sparse_softmax_cross_entropy(label, logits);
      return spec;
    };
    std::tie(category, source, part) = std::tuple{errc::invalid_argument, "predictor/replica/0", "label 3 of row 0"};
  }
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto job = prepared(o);
    simulated_prediction p{job, seed};
    const auto [rows, cause] = predicted_rows(p, place_of(*job, "scaled"));
    CHECK(rows == rows_of(*o.source, 3));
    REQUIRE(cause);
    CHECK(cause->category == category);
    CHECK(cause->source == source);
    CHECK(cause->step == 3);
    CHECK(has(cause->message, part));
    CHECK(p.next().error() == *cause);
    CHECK(p.left().empty());
  }
}

TEST_CASE("numbers that are not finite are results like others") {
  case_options o{.source = fake_batches(2)};
  o.what.texts.clear();
  o.what.build = [](graph& g, const features& x, const labels&, mode m) {
    const symbol w = g.variable({.name = "w", .dims = {1}});
    return model_spec{.mode = m, .predictions = {{"scaled", troupe::log(mul(x["x"], w) - x["x"])}}};
  };
  const auto job = prepared(o);
  simulated_prediction p{job, 1};
  const auto [rows, cause] = predicted_rows(p, 0);
  CHECK_FALSE(cause);
  REQUIRE(rows.size() == 8);
  CHECK(std::isnan(rows[7]));
}

TEST_CASE("a node that dies ends the stream with its name's cause, whenever it does, and leaves no actor") {
  for (const char* node : {"predictor/infeed/0", "predictor/replica/0", "predictor/outfeed", "predictor"})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(node);
      CAPTURE(seed);
      const case_options o{.source = fake_batches(1'000'000), .ahead = 2};
      const auto job = prepared(o);
      simulated_prediction p{job, seed};
      for (uint64_t taken = 0; taken < seed; ++taken)
        REQUIRE(p.next()->has_value());
      REQUIRE(p.kill(node));
      const auto [rows, cause] = predicted_rows(p, place_of(*job, "scaled"));
      CHECK(rows.size() <= 4 * 3);
      REQUIRE(cause);
      CHECK(cause->category == errc::aborted);
      CHECK(p.left().empty());
      CHECK(p.now() < std::chrono::minutes{1});
    }
}

TEST_CASE("[DF-63] a cancelled stream says so at once, and every actor ends") {
  const case_options o{.source = fake_batches(1'000'000)};
  simulated_prediction p{prepared(o), 5};
  REQUIRE(p.next()->has_value());
  p.cancel();
  CHECK(p.next().error().category == errc::cancelled);
  CHECK(p.left().empty());
}

TEST_CASE("the newest checkpoint is what predicts, or the one of a step; without any, fresh variables do") {
  case_options o{};
  const auto first_of = [&] {
    const auto job = prepared(o);
    simulated_prediction p{job, 1};
    const auto [rows, cause] = predicted_rows(p, place_of(*job, "scaled"));
    CHECK_FALSE(cause);
    return std::pair{rows.at(1), p.from()};
  };
  CHECK(first_of().first == 1);
  CHECK(first_of().second.prefix.empty());
  commit(o.disk, 5, 3);
  commit(o.disk, 9, 4);
  CHECK(first_of().first == 4);
  CHECK(first_of().second.prefix == "/run/model.ckpt-9");
  CHECK(first_of().second.id.step == 9);
  o.step = 5;
  CHECK(first_of().first == 3);
}

TEST_CASE(
    "a checkpoint that is damaged is passed over with a warning; where none is whole, missing or another model's, it "
    "is an error") {
  case_options o{};
  const auto failure_of = [&] {
    const auto job = prepared(o);
    simulated_prediction p{job, 1};
    const auto cause = predicted_rows(p, place_of(*job, "scaled")).second;
    CHECK(p.left().empty());
    CHECK_MESSAGE(o.source->reads.empty(), "nothing was read for it");
    return cause.value_or(error{errc::state, "no error"});
  };
  SUBCASE("passed over") {
    commit(o.disk, 5, 3);
    commit(o.disk, 9, 4);
    damage(o.disk, 9);
    const auto job = prepared(o);
    simulated_prediction p{job, 1};
    CHECK(predicted_rows(p, place_of(*job, "scaled")).first.at(1) == 3);
    REQUIRE(p.from().warnings.size() == 1);
    CHECK(has(p.from().warnings[0], "9"));
    o.step = 9;
    o.source->reads.clear();
    CHECK(failure_of().category == errc::data_loss);
  }
  SUBCASE("none is whole") {
    commit(o.disk, 5, 3);
    damage(o.disk, 5);
    CHECK(failure_of().category == errc::data_loss);
  }
  SUBCASE("missing") {
    commit(o.disk, 5, 3);
    o.step = 6;
    CHECK(failure_of().category == errc::not_found);
  }
  SUBCASE("no directory to have it in") {
    o.keeps = false;
    o.step = 6;
    CHECK(failure_of().category == errc::not_found);
  }
  SUBCASE("another model's") {
    commit(o.disk, 5, 3, "v");
    CHECK(failure_of().category == errc::failed_precondition);
  }
}

TEST_CASE(
    "[EST-36] only the chosen predictions are made; unknown ones are an error that names them and those there are") {
  case_options o{};
  const auto outputs = [&] {
    std::vector<std::string> names;
    const auto job = prepared(o);
    for (const auto& output : job->in(mode::predict).engines.front()->outputs())
      names.push_back(output.name);
    return names;
  };
  CHECK(outputs() == std::vector<std::string>{"pair", "row", "scaled"});
  o.choice.keys = {"scaled"};
  CHECK(outputs() == std::vector<std::string>{"scaled"});
  o.choice.keys = {"place"};
  CHECK_MESSAGE(outputs() == std::vector<std::string>{"row"}, "what a text is made of");
  o.choice.keys = {"scaled", "scores", "logits"};
  const auto unknown = prepare_case(o);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error()
        == error{errc::invalid_argument,
                 "the model predicts no 'logits', 'scores'; there are 'pair', 'place', 'row', 'scaled'"});
}

TEST_CASE("[EST-36] a prediction without a row for each example is an error only where single ones are asked for") {
  case_options o{};
  std::string told;
  const auto add = [&](auto make) {
    o.what.build = [inner = o.what.build, make](graph& g, const features& x, const labels& y, mode m) {
      auto spec = inner(g, x, y, m);
      spec.predictions["odd"] = make(x["x"]);
      return spec;
    };
  };
  shape first;  // What a batch of four rows yields.
  SUBCASE("a scalar") {
    add([](symbol x) { return reduce_mean(x); }), told = "[]";
  }
  SUBCASE("with the batch elsewhere") {
    add([](symbol x) { return reshape(x, {extent{1}, x.dims()[0]}); }), told = "[1, batch]", first = {1, 4};
  }
  SUBCASE("of another length") {
    add([](symbol x) { return concat({reshape(reduce_mean(x), {1}), reshape(reduce_sum(x), {1})}); }), told = "[2]";
    first = {2};
  }
  const auto refused = prepare_case(o);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::invalid_argument);
  CHECK(has(refused.error().message, "prediction 'odd' has the shape " + told));
  o.choice.single_examples = false;
  {
    const auto job = prepared(o);
    simulated_prediction p{job, 1};
    const auto batch = p.next();
    REQUIRE((batch && *batch));
    CHECK((*batch)->values.at(place_of(*job, "odd")).dims() == first);
  }
  o.choice = {.keys = {"scaled"}};
  CHECK_MESSAGE(prepare_case(o), "nor where it is not among the chosen");
}

TEST_CASE("predictions of a batch that reach the limit are refused with their shapes, one element fewer is not") {
  // A batch has 48 bytes: 4 rows of one float32 and two int32.
  case_options o{.choice = {.keys = {"scaled", "pair"}}};
  o.choice.bytes_below = 49;
  CHECK(prepare_case(o));
  o.choice.bytes_below = 48;
  const auto refused = prepare_case(o);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::invalid_argument);
  CHECK_MESSAGE(has(refused.error().message,
                    "take 48 bytes, and must take less than 48: 'pair' int32 [batch, 2], 'scaled' float32 [batch]"),
                refused.error().message);
  CHECK(prediction_choice{}.bytes_below == int64_t{1} << 30);
  o.choice.keys = {"scaled"};
  CHECK_MESSAGE(prepare_case(o), "what is not chosen does not count");
}

TEST_CASE("a text of a prediction that is not there or no integer is an error that says so") {
  case_options o{};
  const auto message = [&] {
    const auto refused = prepare_case(o);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::invalid_argument);
    return refused.error().message;
  };
  o.what.texts = {{"place", {"class_ids", {"a"}}}};
  CHECK(message() == "the text 'place' is of 'class_ids', which is no prediction; there are 'pair', 'row', 'scaled'");
  o.what.texts = {{"place", {"scaled", {"a"}}}};
  CHECK(message() == "the text 'place' is of 'scaled', which is float32 and not an integer");
  o.what.texts = {{"pair", {"row", {"a"}}}};
  CHECK(message() == "the text 'pair' has the name of a prediction");
}

}  // namespace troupe::test
