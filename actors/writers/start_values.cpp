#include "actors/writers/start_values.hpp"

#include "actors/writers/word_rows.hpp"
#include "storage/archives/tensor_names.hpp"
#include "words/name_expression.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <map>

namespace troupe {

struct start_values::expressions {
  std::vector<name_expression> over_trainable, over_all;
};

/// A variable or slot that takes a value, and its source.
struct start_values::taken {
  group_id group{};
  const parameter_entry* entry = nullptr;
  std::string wanted;  ///< The name in the source.
  const archived_tensor* from = nullptr;
  std::optional<word_rows> words = {};
  std::vector<std::string> copies = {};  ///< Slots that begin with the same value.
};

struct start_values::plan {
  std::unique_ptr<tensor_archive> source;
  std::vector<taken> all;
  int64_t step = 0;
  bool has_step = false;  ///< The source has a step, and it is taken.
};

start_values::start_values(std::shared_ptr<file_system> files, warm_start_settings settings)
  : files_(std::move(files)), settings_(std::move(settings)), expressions_([this] {
      auto made = std::make_unique<expressions>();
      if (settings_.global_vars_to_warm_start.empty() && settings_.vars_to_warm_start)
        made->over_trainable.push_back(*name_expression::make(*settings_.vars_to_warm_start));
      for (const auto& text : settings_.global_vars_to_warm_start)
        made->over_all.push_back(*name_expression::make(text));
      return made;
    }()) {}

start_values::~start_values() = default;

bool start_values::takes(std::string_view name) const {
  const auto matches = [name](const name_expression& e) { return e.matches(name); };
  const auto any = [&](const auto& list) { return std::any_of(list.begin(), list.end(), matches); };
  return settings_.var_name_to_vocab_info.contains(std::string{name}) || any(expressions_->over_all)
         || (trainable_.contains(name) && any(expressions_->over_trainable));
}

namespace {

constexpr size_t told_max = 20;

/// "'a', 'b'", followed by how many more there are.
std::string listed(const std::vector<std::string>& names) {
  std::string text = joined(std::span{names}.first(std::min(names.size(), told_max)), ", ", quoted);
  return names.size() > told_max ? text + " and " + std::to_string(names.size() - told_max) + " more" : text;
}

/// The names in a map that no variable uses.
template <class Map, class Used>
std::vector<std::string> unused(const Map& map, Used used) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map)
    if (!used(name))
      names.push_back(name);
  return names;
}

}  // namespace

expected<start_values::plan> start_values::make_plan(layouts groups) const {
  plan made;
  for (const auto& group : groups)
    for (const auto& e : group.layout->entries())
      if (takes(e.name)) {
        const auto renamed = settings_.var_name_to_prev_var_name.find(e.name);
        made.all.push_back(
            {group.group, &e, renamed == settings_.var_name_to_prev_var_name.end() ? e.name : renamed->second});
      }
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(made.all.begin(), made.all.end(), [&](const taken& t) { return t.entry->name == name; });
  };
  if (const auto names = unused(settings_.var_name_to_prev_var_name, is_taken); !names.empty())
    return fail(errc::invalid_argument,
                "warm_start.var_name_to_prev_var_name: no variable that is taken is called " + listed(names));
  if (const auto names = unused(settings_.var_name_to_vocab_info, is_taken); !names.empty())
    return fail(errc::invalid_argument, "warm_start.var_name_to_vocab_info: no variable is called " + listed(names));
  const bool with_step = std::any_of(expressions_->over_all.begin(), expressions_->over_all.end(),
                                     [](const auto& e) { return e.matches(global_step_name); });
  if (made.all.empty() && !with_step)
    return fail(errc::invalid_argument,
                "warm_start.vars_to_warm_start: no "
                    + std::string{expressions_->over_all.empty() ? "trainable variable" : "variable"}
                    + " is meant by it; there are " + listed({trainable_.begin(), trainable_.end()}));

  auto source = open_archive(files_, settings_.ckpt_to_initialize_from);
  if (!source) {
    source.error().message = "warm_start.ckpt_to_initialize_from: " + source.error().message;
    return fail(std::move(source.error()));
  }
  made.source = std::move(*source);
  if (auto found = find_tensors(made); !found)
    return fail(std::move(found.error()));
  if (with_step) {
    const auto step = step_of(*made.source);
    if (!step)
      return fail(step.error());
    made.step = step->value_or(0);
    made.has_step = step->has_value();
  }
  if (auto found = check_expressions(made); !found)
    return fail(std::move(found.error()));
  add_copies(made, groups);
  if (auto done = find_words(made); !done)
    return fail(std::move(done.error()));
  return made;
}

namespace {

/// Lists what the source has, for errors about what it lacks.
std::string what_is_in(const tensor_archive& source) {
  std::vector<std::string> there;
  for (const auto& [name, t] : names_here(source))
    there.push_back(name);
  return "it has " + listed(there);
}

}  // namespace

/// Finds the tensors in the source. Names that the settings give must be there; expressions over all variables choose
/// among what both sides have. A frozen variable is not trained any more, so it must be there, too.
expected<void> start_values::find_tensors(plan& made) const {
  const auto here = names_here(*made.source);
  std::vector<std::string> missing;
  for (auto& t : made.all) {
    t.from = made.source->find(t.wanted);
    if (const auto other = here.find(t.wanted); !t.from && other != here.end())
      t.from = other->second;
    const auto& name = t.entry->name;
    const bool by_choice = !expressions_->over_all.empty() && !settings_.var_name_to_prev_var_name.contains(name)
                           && !settings_.var_name_to_vocab_info.contains(name)
                           && !(settings_.freeze && trainable_.contains(name));
    if (!t.from && !by_choice)
      missing.push_back(t.wanted);
  }
  std::erase_if(made.all, [](const taken& t) { return !t.from; });
  if (missing.empty())
    return {};
  return fail({errc::not_found,
               "warm start: " + made.source->path() + " has no " + listed(missing),
               {what_is_in(*made.source),
                "narrow vars_to_warm_start to what is there, or give its names there in var_name_to_prev_var_name"}});
}

/// An expression that matches nothing is a mistake.
expected<void> start_values::check_expressions(const plan& made) const {
  for (size_t i = 0; i < expressions_->over_all.size(); ++i) {
    const auto& expression = expressions_->over_all[i];
    if ((!made.has_step || !expression.matches(global_step_name))
        && std::none_of(made.all.begin(), made.all.end(),
                        [&](const taken& t) { return expression.matches(t.entry->name); }))
      return fail({errc::not_found,
                   "warm_start.global_vars_to_warm_start: " + quoted(settings_.global_vars_to_warm_start[i])
                       + " matches nothing that both the model and " + made.source->path() + " have",
                   {what_is_in(*made.source)}});
  }
  return {};
}

/// A slot that begins as a copy of its variable does so here too, unless it takes a value itself.
void start_values::add_copies(plan& made, layouts groups) const {
  std::map<const parameter_entry*, taken*> by_entry;
  for (auto& t : made.all)
    by_entry[t.entry] = &t;
  for (const auto& group : groups) {
    const auto entries = group.layout->entries();
    for (const auto& slot : entries)
      if (slot.starts_as_variable && !by_entry.contains(&slot))
        if (const auto variable = by_entry.find(&entries[static_cast<size_t>(slot.variable)]);
            variable != by_entry.end())
          variable->second->copies.push_back(slot.name);
  }
}

/// Reads the vocabularies and compares all shapes.
expected<void> start_values::find_words(plan& made) const {
  std::vector<std::string> wrong;
  for (auto& t : made.all) {
    const auto& e = *t.entry;
    if (t.from->problem)
      return fail(*t.from->problem);
    const auto differs = [&](const std::string& why) {
      wrong.push_back(quoted(e.name) + " is " + type_text(e.type, e.dims) + ", and "
                      + (t.from->name == e.name ? "it" : quoted(t.from->name)) + " is " + type_text(*t.from) + " there"
                      + why);
    };
    const auto there = t.from->ours();
    const auto info = settings_.var_name_to_vocab_info.find(e.name);
    if (info == settings_.var_name_to_vocab_info.end()) {
      if (!there || there->first != e.type || there->second != e.dims)
        differs("");
      continue;
    }
    auto words = word_rows::make(*files_, info->second, e, "warm_start.var_name_to_vocab_info['" + e.name + "']");
    if (!words)
      return fail(std::move(words.error()));
    if (!there || there->first != e.type || !words->fits(there->second))
      differs(": with " + std::to_string(words->old_words()) + " old words along axis "
              + std::to_string(info->second.axis)
              + " it must have as many there at least, and the other extents of the variable");
    t.words = std::move(*words);
  }
  if (wrong.empty())
    return {};
  return fail(errc::invalid_argument, "warm start from " + made.source->path() + ": " + std::to_string(wrong.size())
                                          + (wrong.size() == 1 ? " variable differs: " : " variables differ: ")
                                          + joined(wrong, "; "));
}

expected<void> start_values::check(layouts groups) const {
  return make_plan(groups).map([](const plan&) {});
}

expected<start_values::values> start_values::read(layouts groups, uint64_t seed) const {
  auto made = make_plan(groups);
  if (!made)
    return fail(std::move(made.error()));
  values all{{}, made->step, made->source->path()};
  for (const auto& t : made->all) {
    auto value = made->source->read(*t.from);
    if (value && t.words)
      value = t.words->apply(*t.entry, seed, *value);
    if (!value)
      return fail(std::move(value.error()));
    for (const auto& copy : t.copies)
      all.tensors.push_back({copy, *value});
    all.tensors.push_back({t.entry->name, std::move(*value)});
  }
  return all;
}

}  // namespace troupe
