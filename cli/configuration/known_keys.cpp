// The list of keys, made from the option tables of the library and of the program.
#include "cli/configuration/data_options.hpp"
#include "cli/configuration/key_rows.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/stopping_setup.hpp"
#include "cli/configuration/warm_start_setup.hpp"

#include <troupe/hooks.hpp>
#include <troupe/options/experiment_fields.hpp>
#include <troupe/options/exporter_fields.hpp>
#include <troupe/options/optimizer_fields.hpp>
#include <troupe/options/run_config_fields.hpp>
#include <troupe/options/spec_fields.hpp>

#include <algorithm>

namespace troupe::cli {

namespace {

void add_model(std::vector<key_info>& keys) {
  const alternatives models{"model.", model_choice{}};
  keys.push_back(
      choice("model.type",
             "a classifier has a head of its own, a model the one of [head]; sequential: the layers that are listed",
             std::string{name_of(dnn_classifier_options{})}, models));
  models.finish(keys);
  add_layer_keys(keys, "model.layers",
                 "its layers in their order, as [[model.layers]], before the logits; layers[0] is the first");
}

void add_head(std::vector<key_info>& keys) {
  const alternatives heads{"head.", head_choice{}}, single{"head.heads[].", single_head{}};
  keys.push_back(choice("head.type",
                        "the loss, metrics and predictions of a model; multi_head: those of the heads that are listed",
                        "", heads));
  heads.finish(keys);
  keys.push_back(tables("head.heads", "multi_head: its heads in the order of their logits, as [[head.heads]]"));
  keys.push_back(choice("head.heads[].type", "as head.type", "", single));
  add_rows(keys, "head.heads[].", named_head{});
  single.finish(keys);
}

/// Adds the keys of [evaluate], or of each [[evaluate]]. The program adds the value "never" to `when`.
void add_evaluation(std::vector<key_info>& keys) {
  add_rows(keys, "evaluate.", defaults_of<eval_spec>());
  auto& when = *std::find_if(keys.begin(), keys.end(), [](const key_info& k) { return k.name == "evaluate.when"; });
  when.choices.push_back("never");
  when.about += "; never: there is none, as where nothing is kept";
  add_rows(keys, "evaluate.", test_options{});
  keys.push_back(
      tables("evaluate.exporters",
             "what is exported after an evaluation, below export/ in the model directory, as [[evaluate.exporters]]"));
  add_rows(keys, "evaluate.exporters[].", exporter{});
}

void add_stopping(std::vector<key_info>& keys) {
  keys.push_back(tables(
      "stop_early",
      "rules that end the training because of its evaluations, as [[stop_early]]; the first that applies counts"));
  add_rows(keys, "stop_early[].", stop_early_options{});
  add_rows(keys, "keep_best.", keep_best{});
  add_rows(keys, "reduce_on_plateau.", reduce_on_plateau_options{});
}

void add_input_and_run(std::vector<key_info>& keys) {
  add_rows(keys, "input.", input_options{});
  std::vector<key_info> run;
  each_key(defaults_of<train_spec>(), [&](const field_row& field, const auto& value) {
    const auto prefix = prefix_of_training(field.name);
    (prefix == "run." ? run : keys).push_back(key_of(std::string{prefix}, field, value));
  });
  add_rows(run, "run.", run_config{});
  auto& secs = *std::find_if(run.begin(), run.end(),
                             [](const key_info& k) { return k.name == "run.save_checkpoints_secs"; });
  // The default if the configuration mentions neither steps nor seconds.
  secs.standard = option_text(resolve_checkpoint_trigger({})->secs);
  keys.insert(keys.end(), run.begin(), run.end());
}

void add_warm_start(std::vector<key_info>& keys) {
  add_rows(keys, "warm_start.", defaults_of<warm_start_settings>());
  keys.push_back(tables("warm_start.names", "variables that the checkpoint calls otherwise, as [[warm_start.names]]"));
  add_rows(keys, "warm_start.names[].", renamed_variable{});
  keys.push_back(
      tables("warm_start.vocabularies", "variables whose rows stand for words, as [[warm_start.vocabularies]]"));
  add_rows(keys, "warm_start.vocabularies[].", vocabulary_variable{});
  add_rows(keys, "warm_start.vocabularies[].", vocab_info{});
}

}  // namespace

void add_optimizer_keys(std::vector<key_info>& keys, const std::string& at, const std::string& about,
                        const std::string& others) {
  const optimizer defaults;
  const auto name = [](const auto& of) {
    return std::visit([](const auto& one) { return std::string{name_of(one)}; }, of);
  };
  alternatives rules{at, update_rule{}};
  rules.surround(defaults);
  const auto rule = [](const std::string& key, const std::string& its, const std::string& standard,
                       const alternatives& of) {
    auto made = choice(key, its + "; sgd is another name of gradient_descent", standard, of);
    made.also = {{"sgd", "gradient_descent"}};
    return made;
  };
  keys.push_back(rule(at + "name", about, name(defaults.rule) + others, rules));
  rules.finish(keys);
  add_rows(keys, at + "clip_", defaults.clip);
  const alternatives schedules{at, learning_rate_schedule{}};
  keys.push_back(choice(at + "schedule", "how the rate changes", name(defaults.schedule), schedules));
  schedules.finish(keys);
  keys.push_back(
      {{.kind = option_kind::texts}, at + "freeze", "beginnings of the names of variables that keep their values"});
  keys.push_back(tables(at + "groups", "variables that are treated differently, as [[" + at
                                           + "groups]]; one belongs to the first group that fits"));
  const std::string group = at + "groups[].";
  add_rows(keys, group, variable_group{});
  const alternatives own{group, update_rule{}};
  keys.push_back(
      rule(group + "name", "a rule of their own, with the fields of that rule; the optimizer's unless given", "", own));
  std::vector<key_info> of_rules;
  own.finish(of_rules);
  // The group's own key counts.
  std::erase_if(of_rules, [&group](const key_info& k) { return k.name == group + "weight_decay"; });
  keys.insert(keys.end(), of_rules.begin(), of_rules.end());
}

void add_layer_keys(std::vector<key_info>& keys, const std::string& list, const std::string& about) {
  keys.push_back(tables(list, about));
  const alternatives layers{list + "[].", sequential_layer{}};
  keys.push_back(choice(list + "[].type",
                        "conv2d, max_pool, flatten, dense, dropout, batch_norm, ...: functions of nn.hpp", "", layers));
  layers.finish(keys);
}

std::string_view prefix_of_training(std::string_view field) {
  return field == "epochs" || field == "continue_input" || field == "input_changed" ? "input." : "run.";
}

const std::vector<key_info>& known_keys() {
  static const std::vector<key_info> keys = [] {
    std::vector<key_info> all;
    add_model(all);
    add_head(all);
    add_optimizer_keys(all, "optimizer.", "the update rule",
                       "; adagrad for dnn_linear_combined_model; ftrl for baseline_model");
    add_input_and_run(all);
    add_evaluation(all);
    add_rows(all, "experiment.", experiment{});
    add_stopping(all);
    add_warm_start(all);
    add_search_keys(all);
    return all;
  }();
  return keys;
}

}  // namespace troupe::cli
