#include "cli/configuration/job_setup.hpp"

#include "cli/configuration/model_setup.hpp"

#include <troupe/run_config_fields.hpp>
#include <troupe/spec_fields.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

tl::unexpected<error> missing(std::string_view key, std::string_view hint) {
  return fail(errc::invalid_argument, fmt::format("{} is missing: {}", key, hint));
}

/// Sets its fields by name, each over the earlier ones, in an order in which a valid whole is valid at every point.
expected<run_config> make_run_config(const settings& given) {
  const auto none = [&given](std::string_view key) { return given.text(key).value_or("none") == "none"; };
  const std::string steps = "run.save_checkpoints_steps", secs = "run.save_checkpoints_secs";
  const bool both = !none(steps) && !none(secs);
  if (both && given.precedence_of(steps) == given.precedence_of(secs))
    return fail(errc::invalid_argument, fmt::format("{}{} and {} cannot both be given", given.origin(secs), steps, secs));
  const run_config defaults;
  expected<run_config> config = defaults;
  each_field(defaults, [&](const field_row& field, const auto&) {
    const auto key = fmt::format("run.{}", field.name);
    const auto value = given.text(key);
    // Of the two keys for when to save, the one with the higher precedence counts.
    const auto other = key == steps ? secs : key == secs ? steps : std::string{};
    if (!config || !value || (both && !other.empty() && given.precedence_of(key) < given.precedence_of(other)))
      return;
    config = replace(*config, field.name, *value);
    if (!config)
      config.error().message = fmt::format("{}run.{}", given.origin(key), config.error().message);
  });
  if (config)
    each_field(*config, [&](const field_row& field, const auto& value) { given.settle(fmt::format("run.{}", field.name), option_text(value)); });
  return config;
}

expected<void> add_input(job_setup& setup, const settings& given, bool training) {
  given.read_fields("input.", setup.input);
  given.read_fields("evaluate.", setup.test);
  for (const char* key : {"input.images", "input.labels", "evaluate.images", "evaluate.labels"}) {
    const bool needed = setup.input.format == data_format::idx && (key[0] == 'e' ? setup.evaluates || !training : training);
    if (needed && !given.get<std::optional<std::string>>(key).value_or(std::nullopt))
      return missing(key, "input.format is idx, which takes a file of images and one of labels");
  }
  return {};
}

void add_evaluation(job_setup& setup, const settings& given) {
  given.read_fields("evaluate.", setup.evaluation);
  // Evaluations need checkpoints: where nothing is kept there are none; requesting them then is an error.
  setup.evaluates = given.text("evaluate.when").value_or(setup.estimator.config.model_dir ? "" : "never") != "never";
}

expected<dataset> published(expected<dataset> opened) {
  if (opened || opened.error().category != errc::not_found)
    return opened;
  auto e = opened.error();
  e.notes.push_back("the Debian package dataset-fashion-mnist puts the data into " + input_options{}.data
                    + ": apt-get install dataset-fashion-mnist; --data names another directory");
  return fail(std::move(e));
}

}  // namespace

expected<job_setup> make_job_setup(const settings& given, bool training) {
  job_setup setup;
  auto config = make_run_config(given);
  if (!config)
    return fail(config.error());
  auto built = make_model(given);
  if (!built)
    return fail(built.error());
  if (!given.has("run.model_dir"))
    return missing("run.model_dir", training ? "give --model-dir DIR, or none to keep nothing" : "give --model-dir DIR");
  if (!training && !config->model_dir)
    return fail(errc::invalid_argument, fmt::format("{}run.model_dir cannot be none: there is nothing to evaluate", given.origin("run.model_dir")));
  setup.estimator = {std::move(*built), std::move(*config)};
  each_field(setup.training, [&](const field_row& field, auto& value) { given.read(std::string{prefix_of_training(field.name)}.append(field.name), value); });
  add_evaluation(setup, given);
  if (auto added = add_input(setup, given, training); !added)
    return fail(added.error());
  if (setup.training.max_steps && setup.training.steps)
    return fail(errc::invalid_argument, fmt::format("{}run.max_steps and run.steps cannot both be given", given.origin("run.steps")));
  if (training && !setup.training.max_steps && !setup.training.steps && !setup.training.epochs)
    return missing("run.max_steps", "nothing says when to end; give --max-steps N or --epochs N");
  return setup;
}

expected<job_setup> make_data_setup(const settings& given) {
  job_setup setup;
  if (auto added = add_input(setup, given, false); !added)
    return fail(added.error());
  return setup;
}

expected<dataset> open_training_data(const job_setup& setup) {
  const auto& in = setup.input;
  return in.format == data_format::idx ? open_idx({in.images.value_or(""), in.labels.value_or("")}) : published(mnist_train(in.data));
}

expected<dataset> open_test_data(const job_setup& setup) {
  const auto& in = setup.test;
  return setup.input.format == data_format::idx ? open_idx({in.images.value_or(""), in.labels.value_or("")}) : published(mnist_test(setup.input.data));
}

train_spec make_train_spec(const job_setup& setup, const dataset& data) {
  auto spec = setup.training;
  const auto examples = setup.input.shuffle ? data.shuffle(setup.input.seed) : data;
  spec.input = examples.batch(setup.input.batch_size).repeat();
  return spec;
}

eval_spec make_eval_spec(const job_setup& setup, const dataset& data) {
  auto spec = setup.evaluation;
  spec.input = data.batch(setup.test.batch_size);
  return spec;
}

std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data) {
  const auto rows = data.source_size();
  return rows ? std::optional{*rows / setup.input.batch_size} : std::nullopt;  // A partial last batch is dropped.
}

std::optional<int64_t> evaluation_batches(const job_setup& setup, const dataset& data) {
  const auto rows = data.source_size();
  if (!rows)
    return setup.evaluation.steps;
  const int64_t size = setup.test.batch_size, all = *rows / size + (*rows % size != 0 ? 1 : 0);
  return std::min(all, setup.evaluation.steps.value_or(all));
}

}  // namespace troupe::cli
