// The list of keys, made from the option tables of the library and of the program.
#include "cli/configuration/data_options.hpp"
#include "cli/configuration/explained_fields.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/keys.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/stopping_setup.hpp"
#include "cli/configuration/warm_start_setup.hpp"

#include <troupe/hooks.hpp>
#include <troupe/options/exporter_fields.hpp>
#include <troupe/options/optimizer_fields.hpp>
#include <troupe/options/run_config_fields.hpp>
#include <troupe/options/spec_fields.hpp>

#include <algorithm>

namespace troupe::cli {

namespace {

/// The smallest range that contains both ranges.
field_range both_ranges(const field_range& a, const field_range& b) {
  field_range all = a;
  if (b.least < a.least || (b.least == a.least && !b.above))
    all.least = b.least, all.above = b.above;
  if (b.most > a.most || (b.most == a.most && !b.below))
    all.most = b.most, all.below = b.below;
  return all;
}

/// The key for a field of type T. A default that the user must replace is left out.
template <class T>
[[gnu::noinline]] key_info key_of(const std::string& prefix, const field_row& field, const T& value) {
  key_info key{values_of<T>(field.range), prefix + std::string{field.name}, std::string{field.about}};
  auto text = option_text(value);
  if (check_option("", value, field.range) && text != "[]" && !(key.may_be_none && text == "none"))
    key.standard = std::move(text);
  return key;
}

/// `each_field` for a table that is checked at compile time to explain every field.
template <class Options, class F>
void each_key(const Options& defaults, F f) {
  static_assert(has_explained_fields<Options>(),
                "a field has no text, or is a number without a range and without a unit in its name");
  each_field(defaults, f);
}

template <class Options>
void add(std::vector<key_info>& keys, const std::string& prefix, const Options& defaults) {
  each_key(defaults, [&](const field_row& field, const auto& value) { keys.push_back(key_of(prefix, field, value)); });
}

/// Options of which one alternative is chosen. A field that several alternatives have becomes one key; its text names
/// the owners if not all have it.
class alternatives {
 public:
  template <class... Options>
  alternatives(const std::string& prefix, const std::variant<Options...>&) : prefix_(prefix) {
    (add(std::string{name_of(Options{})}, Options{}), ...);
  }

  /// Adds the fields of the struct that contains the alternatives. If an alternative has the same field, this one
  /// counts for all others.
  template <class Options>
  void surround(const Options& defaults) {
    each_key(defaults, [this](const field_row& field, const auto& value) {
      merged(key_of(prefix_, field, value), "any other").owners = names_;
    });
  }

  const std::vector<std::string>& names() const noexcept { return names_; }
  void finish(std::vector<key_info>& into) const {
    for (const auto& m : all_) {
      auto key = m.key;
      if (m.owners.size() < names_.size())
        key.about = joined(m.owners, ", ") + ": " + key.about;
      key.standard = standard_text(m);
      into.push_back(std::move(key));
    }
  }

 private:
  struct standard {
    std::string text;
    std::vector<std::string> owners;
  };
  struct entry {
    key_info key;
    std::vector<std::string> owners;
    std::vector<standard> standards;
  };

  template <class Options>
  void add(const std::string& owner, const Options& defaults) {
    names_.push_back(owner);
    each_key(defaults, [&](const field_row& field, const auto& value) {
      merged(key_of(prefix_, field, value), owner).owners.push_back(owner);
    });
  }

  entry& merged(const key_info& key, const std::string& owner) {
    auto found = std::find_if(all_.begin(), all_.end(), [&key](const entry& e) { return e.key.name == key.name; });
    if (found == all_.end())
      found = all_.insert(all_.end(), entry{key, {}, {}});
    found->key.range = both_ranges(found->key.range, key.range);
    if (key.standard.empty() || key.standard == owner)  // The name of a layer is its type, not a default.
      return *found;
    auto& known = found->standards;
    auto same = std::find_if(known.begin(), known.end(), [&key](const standard& s) { return s.text == key.standard; });
    if (same == known.end())
      same = known.insert(known.end(), standard{key.standard, {}});
    same->owners.push_back(owner);
    return *found;
  }

  /// "0.001; 0.01 for momentum, adagrad": the most frequent default comes first.
  static std::string standard_text(const entry& e) {
    auto all = e.standards;
    std::stable_sort(all.begin(), all.end(),
                     [](const standard& a, const standard& b) { return a.owners.size() > b.owners.size(); });
    std::string text;
    for (const auto& s : all)
      text += text.empty() ? s.text : "; " + s.text + " for " + joined(s.owners, ", ");
    return text;
  }

  std::string prefix_;
  std::vector<std::string> names_;
  std::vector<entry> all_;
};

/// The key that chooses an alternative.
key_info choice(const std::string& name, const std::string& about, const std::string& standard,
                const alternatives& of) {
  return {{.choices = of.names()}, name, about, standard};
}

key_info tables(const std::string& name, const std::string& about) { return {{}, name, about, {}, true}; }

void add_model(std::vector<key_info>& keys) {
  const alternatives models{"model.", model_choice{}};
  keys.push_back(
      choice("model.type",
             "a classifier has a head of its own, a model the one of [head]; sequential: the layers that are listed",
             std::string{name_of(dnn_classifier_options{})}, models));
  models.finish(keys);
  keys.push_back(tables("model.layers",
                        "its layers in their order, as [[model.layers]], before the logits; layers[0] is the first"));
  const alternatives layers{"model.layers[].", sequential_layer{}};
  keys.push_back(choice("model.layers[].type",
                        "conv2d, max_pool, flatten, dense, dropout, batch_norm, ...: functions of nn.hpp", "", layers));
  layers.finish(keys);
}

void add_head(std::vector<key_info>& keys) {
  const alternatives heads{"head.", head_choice{}}, single{"head.heads[].", single_head{}};
  keys.push_back(choice("head.type",
                        "the loss, metrics and predictions of a model; multi_head: those of the heads that are listed",
                        "", heads));
  heads.finish(keys);
  keys.push_back(tables("head.heads", "multi_head: its heads in the order of their logits, as [[head.heads]]"));
  keys.push_back(choice("head.heads[].type", "as head.type", "", single));
  add(keys, "head.heads[].", named_head{});
  single.finish(keys);
}

void add_optimizer(std::vector<key_info>& keys) {
  const optimizer defaults;
  const auto name = [](const auto& of) {
    return std::visit([](const auto& one) { return std::string{name_of(one)}; }, of);
  };
  alternatives rules{"optimizer.", update_rule{}};
  rules.surround(defaults);
  const auto rule = [](const std::string& key, const std::string& about, const std::string& standard,
                       const alternatives& of) {
    auto made = choice(key, about + "; sgd is another name of gradient_descent", standard, of);
    made.also = {{"sgd", "gradient_descent"}};
    return made;
  };
  keys.push_back(rule("optimizer.name", "the update rule",
                      name(defaults.rule) + "; adagrad for dnn_linear_combined_model; ftrl for baseline_model", rules));
  rules.finish(keys);
  add(keys, "optimizer.clip_", defaults.clip);
  const alternatives schedules{"optimizer.", learning_rate_schedule{}};
  keys.push_back(choice("optimizer.schedule", "how the rate changes", name(defaults.schedule), schedules));
  schedules.finish(keys);
  keys.push_back({{.kind = option_kind::texts},
                  "optimizer.freeze",
                  "beginnings of the names of variables that keep their values"});
  keys.push_back(tables(
      "optimizer.groups",
      "variables that are treated differently, as [[optimizer.groups]]; one belongs to the first group that fits"));
  const std::string group = "optimizer.groups[].";
  add(keys, group, variable_group{});
  const alternatives own{group, update_rule{}};
  keys.push_back(
      rule(group + "name", "a rule of their own, with the fields of that rule; the optimizer's unless given", "", own));
  std::vector<key_info> of_rules;
  own.finish(of_rules);
  // The group's own key counts.
  std::erase_if(of_rules, [&group](const key_info& k) { return k.name == group + "weight_decay"; });
  keys.insert(keys.end(), of_rules.begin(), of_rules.end());
}

/// Adds the keys of [evaluate], or of each [[evaluate]]. The program adds the value "never" to `when`.
void add_evaluation(std::vector<key_info>& keys) {
  add(keys, "evaluate.", defaults_of<eval_spec>());
  auto& when = *std::find_if(keys.begin(), keys.end(), [](const key_info& k) { return k.name == "evaluate.when"; });
  when.choices.push_back("never");
  when.about += "; never: there is none, as where nothing is kept";
  add(keys, "evaluate.", test_options{});
  keys.push_back(
      tables("evaluate.exporters",
             "what is exported after an evaluation, below export/ in the model directory, as [[evaluate.exporters]]"));
  add(keys, "evaluate.exporters[].", exporter{});
}

void add_stopping(std::vector<key_info>& keys) {
  keys.push_back(tables(
      "stop_early",
      "rules that end the training because of its evaluations, as [[stop_early]]; the first that applies counts"));
  add(keys, "stop_early[].", stop_early_options{});
  add(keys, "keep_best.", keep_best{});
  add(keys, "reduce_on_plateau.", reduce_on_plateau_options{});
}

void add_input_and_run(std::vector<key_info>& keys) {
  add(keys, "input.", input_options{});
  std::vector<key_info> run;
  each_key(defaults_of<train_spec>(), [&](const field_row& field, const auto& value) {
    const auto prefix = prefix_of_training(field.name);
    (prefix == "run." ? run : keys).push_back(key_of(std::string{prefix}, field, value));
  });
  add(run, "run.", run_config{});
  auto& secs = *std::find_if(run.begin(), run.end(),
                             [](const key_info& k) { return k.name == "run.save_checkpoints_secs"; });
  // The default if the configuration mentions neither steps nor seconds.
  secs.standard = option_text(resolve_checkpoint_trigger({})->secs);
  keys.insert(keys.end(), run.begin(), run.end());
}

void add_warm_start(std::vector<key_info>& keys) {
  add(keys, "warm_start.", defaults_of<warm_start_settings>());
  keys.push_back(tables("warm_start.names", "variables that the checkpoint calls otherwise, as [[warm_start.names]]"));
  add(keys, "warm_start.names[].", renamed_variable{});
  keys.push_back(
      tables("warm_start.vocabularies", "variables whose rows stand for words, as [[warm_start.vocabularies]]"));
  add(keys, "warm_start.vocabularies[].", vocabulary_variable{});
  add(keys, "warm_start.vocabularies[].", vocab_info{});
}

}  // namespace

std::string_view prefix_of_training(std::string_view field) { return field == "epochs" ? "input." : "run."; }

const std::vector<key_info>& known_keys() {
  static const std::vector<key_info> keys = [] {
    std::vector<key_info> all;
    add_model(all);
    add_head(all);
    add_optimizer(all);
    add_input_and_run(all);
    add_evaluation(all);
    add_stopping(all);
    add_warm_start(all);
    return all;
  }();
  return keys;
}

}  // namespace troupe::cli
