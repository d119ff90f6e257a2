#include "storage/exports/export_json.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/exports/exporting_case.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/has.hpp"
#include "tests/support/refused.hpp"

#include <troupe/exporter.hpp>
#include <troupe/nn.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

using namespace test;

TEST_CASE(
    "[EST-38] an export's directory has digits for a name, and its temporary directory is gone; without a checkpoint "
    "the directory is named") {
  exported_case c;
  const auto path = c.written();
  const auto name = path.substr(path.rfind('/') + 1);
  CHECK(path.starts_with(c.directory / "run/export/latest/"));
  CHECK(name.size() == 10);
  CHECK(std::all_of(name.begin(), name.end(), [](char ch) { return ch >= '0' && ch <= '9'; }));
  const auto again = c.written();
  CHECK(again != path);
  CHECK(list_exports(c.directory / "run/export/latest") == std::vector<std::string>{path, again});
  CHECK(posix_file_system()->list(c.directory / "run/export/latest")->size() == 2);
  const auto empty = small_estimator(c.directory / "empty");
  refused(export_model(empty, c.how), errc::not_found,
          "there is no checkpoint to export in " + (c.directory / "empty"));
  c.how.checkpoint = checkpoint_ref::of_step(99);
  refused(export_model(c.e, c.how), errc::not_found, "there is no checkpoint to export in " + (c.directory / "run"));
}

TEST_CASE("an export takes the checkpoint of a step, or any checkpoint by its path") {
  exported_case c;
  c.how.checkpoint = checkpoint_ref::of_step(0);
  CHECK(opened(c.written()).global_step() == 0);
  c.how.checkpoint = checkpoint_ref::of_path(c.directory / "run/model.ckpt-3");
  auto elsewhere = small_estimator(c.directory / "other");
  const auto path = export_model(elsewhere, c.how);
  REQUIRE_MESSAGE(path, why(path));
  CHECK(path->starts_with(c.directory / "other/export/latest/"));
  CHECK(opened(*path).global_step() == 3);
  c.how.checkpoint = checkpoint_ref::of_path("somewhere");
  refused(export_model(c.e, c.how), errc::invalid_argument, "'somewhere' names no checkpoint");
}

TEST_CASE(
    "an export without an input, without a place, of another model or of a model that is wrong is refused, and leaves "
    "nothing") {
  exported_case c;
  refused(export_model(c.e, {}), errc::invalid_argument, "an export needs `input` or `features`");
  refused(export_model({c.e.model, {}}, c.how), errc::invalid_argument, "an export needs a `directory`");
  auto wider = c.e;
  wider.model = {"wider", [](graph& g, const features& x, const labels& y, mode m) {
                   return multi_class_head{.classes = 3}.spec(
                       g, {.mode = m, .logits = nn::dense(nn::dense(x["x"], {.units = 6}), {.units = 3}), .labels = y});
                 }};
  const auto other = export_model(wider, c.how);
  refused(other, errc::invalid_argument, "is a checkpoint of another model");
  CHECK(has(other.error().message, "dense/kernel is float32[8, 5] there and float32[8, 6] in the model"));
  CHECK(has(other.error().message, "dense_1/kernel is float32[5, 3] there and float32[6, 3] in the model"));
  CHECK_FALSE(posix_file_system()->info(c.directory / "run/export"));
  auto looks = c.e;
  looks.model.build = [](graph& g, const features& x, const labels& y, mode m) {
    const symbol w = g.variable({.name = "dense/kernel", .dims = {8, 5}});
    return model_spec{.mode = m, .predictions = {{"p", matmul(x["x"], w)}, {"label", y["y"]}}};
  };
  refused(export_model(looks, c.how), errc::invalid_argument,
          "the predictions of the model depend on the label 'y', which an exported model is not fed");
  CHECK_FALSE(posix_file_system()->info(c.directory / "run/export"));
  looks.model.build = [](graph& g, const features& x, const labels&, mode m) {
    const symbol w = g.variable({.name = "dense/kernel", .dims = {8, 5}});
    return model_spec{.mode = m, .predictions = {{"p", matmul(x["x"], w)}}};
  };
  const auto by_features = export_model(looks, {.features = {{"x", dtype::float32, {8}}}});
  REQUIRE_MESSAGE(by_features, why(by_features));
  CHECK(opened(*by_features).signatures().at("serving_default").inputs.size() == 1);
}

TEST_CASE("an export takes moving averages where the optimizer keeps them") {
  temporary_directory directory;
  auto e = small_estimator(directory / "run");
  e.model = small_model(0, {.rule = adam{.rate = 0.1f}, .moving_average = 0.5});
  REQUIRE(train(e, small_training(4)));
  const auto path = export_model(e, {.input = small_dataset().batch(4)});
  REQUIRE_MESSAGE(path, why(path));
  CHECK(predicted({opened(*path).as_model(), {}}, small_dataset(), 4) == predicted(e, small_dataset(), 4));
}

TEST_CASE("[EST-65] the latest exporter exports each time and keeps five; all without a number, and 0 is refused") {
  exporting_case c;
  for (int i = 0; i < 7; ++i)
    CHECK(c.run(latest_exporter("five"), with_loss(0.5)));
  CHECK(c.exports("five").size() == 5);
  for (int i = 0; i < 7; ++i)
    CHECK(c.run({.name = "all", .exports_to_keep = std::nullopt}, with_loss(0.5)));
  CHECK(c.exports("all").size() == 7);
  refused(run_exporter(c.in, {.name = "none", .exports_to_keep = 0}, c.e, c.how, with_loss(0.5)),
          errc::invalid_argument, "exporter 'none': exports_to_keep must be at least 1, not 0");
}

TEST_CASE("[EST-68] the final exporter exports with the flag alone, which is never set without max_steps") {
  CHECK_FALSE(is_final_evaluation({}, 1'000'000));
  CHECK_FALSE(is_final_evaluation(22, 21));
  CHECK(is_final_evaluation(22, 22));
  exporting_case c;
  CHECK_FALSE(c.run(final_exporter(), with_loss(0.5)));
  auto last = with_loss(0.5);
  last.is_final = true;
  CHECK(c.run(final_exporter(), last));
  CHECK(c.exports("final").size() == 1);
  // This exporter removes no exports.
  for (int i = 0; i < 6; ++i)
    CHECK(c.run({.name = "final", .rule = export_rule::final, .exports_to_keep = 1}, last));
  CHECK(c.exports("final").size() == 7);
}

TEST_CASE("[EST-87] exporters run in order, and results keep their places where nothing was exported") {
  exported_case c;
  const std::vector<exporter> all{final_exporter(), latest_exporter("a"),
                                  best_exporter("b", {.metric = "accuracy", .smaller_is_better = false}),
                                  final_exporter("end")};
  const auto paths = run_exporters(all, c.e, c.how, {.metrics = {{"accuracy", 0.5}}});
  REQUIRE_MESSAGE(paths, why(paths));
  REQUIRE(paths->size() == 4);
  CHECK_FALSE((*paths)[0]);
  CHECK((*paths)[1]->starts_with(c.directory / "run/export/a/"));
  CHECK((*paths)[2]->starts_with(c.directory / "run/export/b/"));
  CHECK_FALSE((*paths)[3]);

  const auto exports = [&](const std::string& name) {
    return list_exports(c.directory / ("run/export/" + name))->size();
  };
  exporter between{.name = "between", .rule = export_rule::best};
  between.better = [&](const metrics&, const metrics&) {
    CHECK(exports("before") == 2);
    CHECK(exports("after") == 1);
    return false;
  };
  const std::vector<exporter> three{latest_exporter("before"), between, latest_exporter("after")};
  for (const bool first : {true, false}) {
    const auto made = run_exporters(three, c.e, c.how, with_loss(0.5));
    REQUIRE_MESSAGE(made, why(made));
    CHECK((*made)[1].has_value() == first);
    CHECK((*made)[2]->starts_with(c.directory / "run/export/after/"));
  }
}

TEST_CASE(
    "[EST-87] the result of a job has a place for each exporter of an evaluation, empty where its last occasion "
    "exported nothing") {
  temporary_directory directory;
  auto e = small_estimator(directory / "run");
  e.config.save_checkpoints_steps = 2;
  eval_spec evaluation{.input = small_dataset(20).batch(8),
                       .throttle_secs = 0,
                       .exporters = {best_exporter("first", {.metric = "global_step"}), latest_exporter("each")}};
  const auto places = [&](int64_t max_steps) {
    const auto result = train_and_evaluate(e, small_training(max_steps), evaluation);
    REQUIRE_MESSAGE(result, why(result));
    return result->exports.at("");
  };
  const auto before_the_end = places(4);
  CHECK(before_the_end == std::vector<std::string>{"", list_exports(directory / "run/export/each")->back()});
  evaluation.exporters.push_back(final_exporter("end"));
  const auto at_the_end = places(6);
  CHECK(at_the_end
        == std::vector<std::string>{"", list_exports(directory / "run/export/each")->back(),
                                    list_exports(directory / "run/export/end")->at(0)});
  CHECK(list_exports(directory / "run/export/first")->size() == 1);
  CHECK(list_exports(directory / "run/export/each")->size() == 3);
}

TEST_CASE(
    "a finished job that is run again exports no checkpoint again, names the exports that are there, and makes those "
    "that are missing") {
  temporary_directory directory;
  auto e = small_estimator(directory / "run");
  const auto run = [&](std::vector<exporter> exporters) {
    const eval_spec evaluation{
        .input = small_dataset(20).batch(8), .throttle_secs = 0, .exporters = std::move(exporters)};
    const auto result = train_and_evaluate(e, small_training(4), evaluation);
    REQUIRE_MESSAGE(result, why(result));
    return result->exports.at("");
  };
  const auto first = run({latest_exporter("each"), final_exporter("end")});
  CHECK(run({latest_exporter("each"), final_exporter("end")}) == first);
  CHECK(list_exports(directory / "run/export/end") == std::vector{first[1]});
  const auto each = list_exports(directory / "run/export/each");
  std::filesystem::remove_all(first[1]);
  const auto other = run({latest_exporter("each"), final_exporter("end"), final_exporter("another")});
  CHECK(other[0] == first[0]);
  CHECK(list_exports(directory / "run/export/end") == std::vector{other[1]});
  CHECK(list_exports(directory / "run/export/another") == std::vector{other[2]});
  CHECK(list_exports(directory / "run/export/each") == each);
}

TEST_CASE(
    "a finished job that is run again finds its exports behind later ones, and takes no equal result for a better "
    "one") {
  temporary_directory directory;
  auto e = small_estimator(directory / "run");
  e.config.save_checkpoints_steps = 2;
  const auto run = [&](std::vector<exporter> exporters) {
    const eval_spec evaluation{
        .input = small_dataset(20).batch(8), .throttle_secs = 0, .exporters = std::move(exporters)};
    const auto result = train_and_evaluate(e, small_training(4), evaluation);
    REQUIRE_MESSAGE(result, why(result));
    return result->exports.at("");
  };
  SUBCASE("one that was made by hand") {
    const auto first = run({latest_exporter("each")});
    REQUIRE(export_model(e, {.directory = directory / "run/export/each",
                             .input = small_dataset().batch(4),
                             .checkpoint = checkpoint_ref::of_step(2)}));
    const auto before = list_exports(directory / "run/export/each");
    CHECK(run({latest_exporter("each")}) == first);
    CHECK(list_exports(directory / "run/export/each") == before);
  }
  SUBCASE("results that are no float32") {
    e.model.build = [inner = e.model.build](graph& g, const features& x, const labels& y, mode m) {
      auto spec = inner(g, x, y, m);
      spec.optimizer = gradient_descent{.rate = 1e-30f};  // All evaluations are equal.
      return spec;
    };
    auto greatest = best_exporter("greatest", {.metric = "loss"}), least = best_exporter("least", {.metric = "loss"});
    greatest.goal.smaller_is_better = false;
    run({greatest, least});
    const auto size = [&](const char* name) {
      return list_exports(directory / ("run/export/" + std::string{name}))->size();
    };
    CHECK(size("greatest") == 1);
    CHECK(size("least") == 1);
    run({greatest, least});
    CHECK(size("greatest") == 1);
    CHECK(size("least") == 1);
  }
}

TEST_CASE(
    "an export without a step takes the best checkpoint where the job says that it is used, and else the newest") {
  temporary_directory directory;
  for (const bool uses_best : {true, false}) {
    auto e = small_estimator(directory / (uses_best ? "best" : "newest"));
    e.config.save_checkpoints_steps = 2;
    auto training = small_training(6);
    training.keep_best = keep_best{.goal = {.metric = "global_step"}, .restore_best = uses_best};
    const auto result = train_and_evaluate(e, training, {.input = small_dataset(20).batch(8), .throttle_secs = 0});
    REQUIRE_MESSAGE(result, why(result));
    export_options how{.input = small_dataset().batch(4)};
    const auto path = export_model(e, how);
    REQUIRE_MESSAGE(path, why(path));
    CHECK(opened(*path).global_step() == (uses_best ? 2 : 6));
    how.checkpoint = checkpoint_ref::of_step(4);
    CHECK(opened(*export_model(e, how)).global_step() == 4);
  }
}

TEST_CASE("exporters of one evaluation need names of their own, which can be names of directories") {
  const auto wrong = [](std::vector<exporter> all) {
    const auto right = validate(all);
    REQUIRE_FALSE(right);
    CHECK(right.error().category == errc::invalid_argument);
    return right.error().message;
  };
  CHECK(wrong({latest_exporter("a"), best_exporter("b"), final_exporter("a")})
        == "two exporters of one evaluation have the name 'a'");
  for (const auto* name : {"", ".", "..", "a/b"})
    CHECK(has(wrong({latest_exporter(name)}),
              std::string{"an exporter needs a name that can be a directory's, not '"} + name + "'"));
  CHECK(wrong({final_exporter(std::string{"final\0b", 7})})
        == "an exporter needs a name that can be a directory's, not 'final?b', which has a control character");
  CHECK(wrong({final_exporter(std::string(300, 'x'))}).ends_with("x', which has 300 bytes, and 200 at most fit"));
  CHECK(validate(std::vector<exporter>{latest_exporter(), best_exporter(), final_exporter()}));
}

}  // namespace troupe
