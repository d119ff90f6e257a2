#include "cli/configuration/job_setup.hpp"

#include "cli/configuration/model_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr const char* default_data = "/usr/share/datasets/fashion-mnist";

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
  run_config config;
  for (const char* field : {"model_dir", "seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
                            "keep_checkpoint_every_n_hours", "log_step_count_steps", "steps_per_loop", "gradient_shards", "replicas", "intra_op_threads",
                            "debug_numerics", "recompute"}) {
    const auto key = fmt::format("run.{}", field);
    const auto value = given.text(key);
    // Of the two keys for when to save, the one with the higher precedence counts.
    const auto other = key == steps ? secs : key == secs ? steps : std::string{};
    if (!value || (both && !other.empty() && given.precedence_of(key) < given.precedence_of(other)))
      continue;
    auto changed = replace(config, field, *value);
    if (!changed)
      return fail(errc::invalid_argument, fmt::format("{}run.{}", given.origin(key), changed.error().message));
    config = std::move(*changed);
  }
  return config;
}

expected<void> add_input(job_setup& setup, const settings& given, bool training) {
  setup.format = given.text("input.format").value_or("fashion_mnist");
  setup.data = given.text("input.data").value_or(default_data);
  setup.batch_size = given.integer("input.batch_size").value_or(setup.batch_size);
  setup.shuffle = given.boolean("input.shuffle").value_or(true);
  setup.shuffle_seed = given.natural("input.seed");
  setup.epochs = given.integer("input.epochs");
  for (const char* key : {"input.images", "input.labels", "evaluate.images", "evaluate.labels"}) {
    const bool needed = setup.format == "idx" && (key[0] == 'e' ? setup.evaluates || !training : training);
    if (needed && !given.has(key))
      return missing(key, "input.format is idx, which takes a file of images and one of labels");
  }
  setup.training_files = {given.text("input.images").value_or(""), given.text("input.labels").value_or("")};
  setup.evaluation_files = {given.text("evaluate.images").value_or(""), given.text("evaluate.labels").value_or("")};
  return {};
}

void add_evaluation(job_setup& setup, const settings& given) {
  setup.evaluation_batch_size = given.integer("evaluate.batch_size").value_or(setup.evaluation_batch_size);
  setup.evaluation_steps = given.integer("evaluate.steps");
  setup.evaluation_name = given.text("evaluate.name").value_or("");
  setup.throttle_secs = given.number("evaluate.throttle_secs").value_or(setup.throttle_secs);
  // Evaluations need checkpoints: where nothing is kept there are none; requesting them then is an error.
  const std::string when = given.text("evaluate.when").value_or(setup.estimator.config.model_dir ? "waits" : "never");
  setup.evaluates = when != "never";
  setup.when = when == "beside" ? evaluation_mode::beside : evaluation_mode::waits;
}

expected<dataset> published(expected<dataset> opened) {
  if (opened || opened.error().category != errc::not_found)
    return opened;
  auto e = opened.error();
  e.notes.push_back("the Debian package dataset-fashion-mnist puts the data into " + std::string{default_data}
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
  setup.max_steps = given.integer("run.max_steps");
  setup.steps = given.integer("run.steps");
  add_evaluation(setup, given);
  if (auto added = add_input(setup, given, training); !added)
    return fail(added.error());
  if (setup.max_steps && setup.steps)
    return fail(errc::invalid_argument, fmt::format("{}run.max_steps and run.steps cannot both be given", given.origin("run.steps")));
  if (training && !setup.max_steps && !setup.steps && !setup.epochs)
    return missing("run.max_steps", "nothing says when to end; give --max-steps N or --epochs N");
  return setup;
}

expected<dataset> open_training_data(const job_setup& setup) {
  return setup.format == "idx" ? open_idx(setup.training_files) : published(mnist_train(setup.data));
}

expected<dataset> open_test_data(const job_setup& setup) {
  return setup.format == "idx" ? open_idx(setup.evaluation_files) : published(mnist_test(setup.data));
}

train_spec make_train_spec(const job_setup& setup, const dataset& data) {
  auto examples = setup.shuffle ? data.shuffle(setup.shuffle_seed) : data;
  return {.input = examples.batch(setup.batch_size).repeat(), .max_steps = setup.max_steps, .steps = setup.steps, .epochs = setup.epochs};
}

eval_spec make_eval_spec(const job_setup& setup, const dataset& data) {
  return {.input = data.batch(setup.evaluation_batch_size), .steps = setup.evaluation_steps, .name = setup.evaluation_name,
          .throttle_secs = setup.throttle_secs, .when = setup.when};
}

std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data) {
  const auto rows = data.source_size();
  return rows ? std::optional{*rows / setup.batch_size} : std::nullopt;  // A partial last batch is dropped.
}

std::optional<int64_t> evaluation_batches(const job_setup& setup, const dataset& data) {
  const auto rows = data.source_size();
  if (!rows)
    return setup.evaluation_steps;
  const int64_t all = *rows / setup.evaluation_batch_size + (*rows % setup.evaluation_batch_size != 0 ? 1 : 0);
  return std::min(all, setup.evaluation_steps.value_or(all));
}

}  // namespace troupe::cli
