#include "cli/configuration/job_setup.hpp"

#include "cli/configuration/joined.hpp"
#include "cli/configuration/model_setup.hpp"
#include "cli/configuration/stopping_setup.hpp"
#include "cli/configuration/warm_start_setup.hpp"

#include <troupe/options/exporter_fields.hpp>
#include <troupe/options/run_config_fields.hpp>
#include <troupe/options/spec_fields.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

/// Sets the fields by name, one after the other. In this order a valid configuration is valid after every step.
expected<run_config> make_run_config(const settings& given) {
  const auto none = [&given](std::string_view key) { return given.text(key).value_or("none") == "none"; };
  const std::string steps = "run.save_checkpoints_steps", secs = "run.save_checkpoints_secs";
  const bool both = !none(steps) && !none(secs);
  if (both && given.precedence_of(steps) == given.precedence_of(secs))
    return fail(errc::invalid_argument,
                fmt::format("{}{} and {} cannot both be given", given.origin(secs), steps, secs));
  const run_config defaults;
  expected<run_config> config = defaults;
  each_field(defaults, [&](const field_row& field, const auto&) {
    const auto key = fmt::format("run.{}", field.name);
    const auto value = given.text(key);
    // Of the two keys that say when to save, the one with the higher precedence counts.
    const auto other = key == steps ? secs : key == secs ? steps : std::string{};
    if (!config || !value || (both && !other.empty() && given.precedence_of(key) < given.precedence_of(other)))
      return;
    config = replace(*config, field.name, *value);
    if (!config)
      config.error().message = fmt::format("{}run.{}", given.origin(key), config.error().message);
  });
  if (config)
    each_field(*config, [&](const field_row& field, const auto& value) {
      given.settle(fmt::format("run.{}", field.name), option_text(value));
    });
  return config;
}

expected<void> add_input(job_setup& setup, const settings& given, job_purpose purpose) {
  const bool training = writes_checkpoints(purpose);
  given.read_fields("input.", setup.input);
  if (setup.input.format != data_format::idx)
    return {};
  const auto check = [](const std::string& table, const auto& files, bool labelled = true) -> expected<void> {
    if (files.images.value_or("").empty())
      return missing_key(table + ".images", "input.format is idx, which takes a file of images");
    if (labelled && files.labels.value_or("").empty())
      return missing_key(table + ".labels", "input.format is idx, and only predictions take images without labels");
    return {};
  };
  auto named = training ? check("input", setup.input) : expected<void>{};
  for (const auto& e : setup.evaluations)
    if (e.while_training || !training)
      named = named.and_then([&] { return check(e.key, e.data, purpose != job_purpose::predicting); });
  if (const auto* by = setup.search && setup.search->evaluation ? &*setup.search->evaluation : nullptr)
    named = named.and_then([&] {
      return by->data == data_split::train ? check("input", setup.input)
                                           : check(setup.evaluations.front().key, setup.evaluations.front().data);
    });
  return named;
}

/// The key that counts for one evaluation. A key of [evaluate] holds for each [[evaluate]] that does not have it, or
/// has it with lower precedence.
std::string key_for(const settings& given, const std::string& own, std::string_view field) {
  const auto of_all = fmt::format("evaluate.{}", field), of_this = fmt::format("{}.{}", own, field);
  const auto all = given.precedence_of(of_all), one = given.precedence_of(of_this);
  return one && (!all || *one >= *all) ? of_this : of_all;
}

template <class Options>
void read_evaluation(const settings& given, const std::string& own, Options& into) {
  each_field(into, [&](const field_row& field, auto& value) { given.read(key_for(given, own, field.name), value); });
}

void add_evaluations(job_setup& setup, const settings& given) {
  const auto listed = given.size_of_list("evaluate");
  for (int64_t i = 0; i < std::max<int64_t>(1, listed); ++i) {
    evaluation_setup e{listed == 0 ? "evaluate" : fmt::format("evaluate[{}]", i), {}};
    read_evaluation(given, e.key, e.spec);
    read_evaluation(given, e.key, e.data);
    for (int64_t x = 0; x < given.size_of_list(e.key + ".exporters"); ++x)
      given.read_fields(fmt::format("{}.exporters[{}].", e.key, x), e.spec.exporters.emplace_back());
    // Evaluations need checkpoints: without a model directory there are none by default, and asking for them is an
    // error.
    e.while_training = given.text(key_for(given, e.key, "when"))
                           .value_or(setup.estimator.config.model_dir ? "" : "never")
                       != "never";
    setup.evaluations.push_back(std::move(e));
  }
}

/// A file has either a [model], for `troupe train`, or a [search], for `troupe search`.
expected<void> check_purpose(const settings& given, job_purpose purpose) {
  const auto first = [&given](std::string_view table) {
    const auto keys = given.keys_beginning(table);
    return keys.empty() ? std::string{} : keys.front();
  };
  if (purpose == job_purpose::training && is_search(given))
    return fail(
        errc::invalid_argument,
        fmt::format("{}{} belongs to a search, which troupe search runs: a search has no [model] to train or to "
                    "check",
                    given.origin(first("search.")), first("search.")));
  if (purpose == job_purpose::searching && !is_search(given))
    return fail(errc::invalid_argument,
                fmt::format("{}there is no [search] to say what to search: {}", given.origin(first("model.")),
                            first("model.").empty() ? "give a --config with [search.generator] or [[search.builders]]"
                                                    : "a [model] is trained by troupe train, not by troupe search"));
  return {};
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

expected<job_setup> make_job_setup(const settings& given, job_purpose purpose) {
  const bool training = writes_checkpoints(purpose);
  job_setup setup;
  if (auto right = check_purpose(given, purpose); !right)
    return fail(right.error());
  auto config = make_run_config(given);
  if (!config)
    return fail(config.error());
  auto built = is_search(given) ? expected<model>{model{}} : make_model(given);
  if (!built)
    return fail(built.error());
  if (is_search(given)) {
    auto search = make_search(given);
    if (!search)
      return fail(search.error());
    setup.search = std::move(*search);
  }
  if (!given.has("run.model_dir"))
    return missing_key("run.model_dir",
                       training ? "give --model-dir DIR, or none to keep nothing" : "give --model-dir DIR");
  if (!training && !config->model_dir)
    return fail(errc::invalid_argument, fmt::format("{}run.model_dir cannot be none: there is nothing to evaluate",
                                                    given.origin("run.model_dir")));
  auto start = make_warm_start(given);
  if (!start)
    return fail(start.error());
  setup.estimator = {std::move(*built), std::move(*config), std::move(*start)};
  each_field(setup.training, [&](const field_row& field, auto& value) {
    given.read(std::string{prefix_of_training(field.name)}.append(field.name), value);
  });
  add_evaluations(setup, given);
  if (auto added = add_input(setup, given, purpose); !added)
    return fail(added.error());
  auto rules = make_stop_rules(given);
  if (!rules)
    return fail(rules.error());
  setup.training.stop_early = std::move(*rules);
  setup.training.keep_best = make_keep_best(given);
  std::vector<std::string> evaluations;
  for (const auto& e : setup.evaluations)
    if (e.while_training)
      evaluations.push_back(e.spec.name);
  auto plateau = training ? make_plateau(given, evaluations, setup.estimator.config.model_dir)
                          : std::shared_ptr<hook>{};
  if (!plateau)
    return fail(plateau.error());
  if (*plateau)
    setup.training.hooks.push_back(std::move(*plateau));
  if (setup.training.max_steps && setup.training.steps)
    return fail(errc::invalid_argument,
                fmt::format("{}run.max_steps and run.steps cannot both be given", given.origin("run.steps")));
  if (training && !setup.training.max_steps && !setup.training.steps && !setup.training.epochs
      && !(setup.search && setup.search->ends))
    return missing_key("run.max_steps", fmt::format("nothing says when to end; give --max-steps N or --epochs N{}",
                                                    setup.search ? ", or --max-iterations N with "
                                                                   "--max-iteration-steps N"
                                                                 : ""));
  return setup;
}

expected<job_setup> make_data_setup(const settings& given) {
  job_setup setup;
  add_evaluations(setup, given);
  if (auto added = add_input(setup, given, job_purpose::predicting); !added)
    return fail(added.error());
  return setup;
}

expected<dataset> open_training_data(const job_setup& setup) {
  const auto& in = setup.input;
  return in.format == data_format::idx ? open_idx({in.images.value_or(""), in.labels.value_or("")})
                                       : published(mnist_train(in.data));
}

expected<evaluation_setup> find_evaluation(const job_setup& setup, const std::optional<std::string>& name) {
  if (!name)
    return setup.evaluations.front();
  std::vector<std::string> names;
  for (const auto& e : setup.evaluations) {
    if (e.spec.name == *name)
      return e;
    names.push_back(e.spec.name.empty() ? "one without a name" : "'" + e.spec.name + "'");
  }
  return fail(errc::invalid_argument,
              fmt::format("there is no evaluation named '{}'; the configuration has {}", *name, joined(names, ", ")));
}

expected<dataset> open_test_data(const job_setup& setup, const evaluation_setup& evaluation) {
  const auto& in = evaluation.data;
  if (setup.input.format == data_format::idx)
    return open_idx({in.images.value_or(""), in.labels.value_or("")});
  return published(in.split == data_split::test ? mnist_test(setup.input.data) : mnist_train(setup.input.data));
}

expected<searcher> make_searcher(const job_setup& setup) {
  searcher made{setup.search->options, setup.estimator.config};
  const auto& by = setup.search->evaluation;
  if (!by)
    return made;
  auto test = setup.evaluations.front();
  test.data.split = data_split::test;
  auto data = by->data == data_split::train ? open_training_data(setup) : open_test_data(setup, test);
  if (!data)
    return fail(std::move(data.error()));
  made.search.evaluator = by->evaluator;
  made.search.evaluator->input = data->batch(by->batch_size);
  return made;
}

expected<void> take_winner(job_setup& setup, const checkpoint_ref& which) {
  if (!setup.search)
    return {};
  return make_searcher(setup)
      .and_then([&](const searcher& s) { return winner_of(s, which); })
      .map([&](estimator winner) { setup.estimator = std::move(winner); });
}

train_spec make_train_spec(const job_setup& setup, const dataset& data) {
  auto spec = setup.training;
  const auto examples = setup.input.shuffle ? data.shuffle(setup.input.seed) : data;
  spec.input = examples.batch(setup.input.batch_size).repeat();
  return spec;
}

eval_spec make_eval_spec(const evaluation_setup& evaluation, const dataset& data) {
  auto spec = evaluation.spec;
  spec.input = data.batch(evaluation.data.batch_size);
  return spec;
}

std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data) {
  const auto rows = data.source_size();
  return rows ? std::optional{*rows / setup.input.batch_size} : std::nullopt;  // A partial last batch is dropped.
}

std::optional<int64_t> evaluation_batches(const evaluation_setup& evaluation, const dataset& data) {
  const auto rows = data.source_size();
  if (!rows)
    return evaluation.spec.steps;
  const int64_t size = evaluation.data.batch_size, all = *rows / size + (*rows % size != 0 ? 1 : 0);
  return std::min(all, evaluation.spec.steps.value_or(all));
}

}  // namespace troupe::cli
