#include "actors/writers/start_values.hpp"

#include "actors/writers/word_rows.hpp"
#include "storage/archives/tensor_names.hpp"
#include "words/name_expression.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

struct start_values::expressions {
  std::vector<name_expression> over_trainable, over_all;
};

/// A variable or slot that is taken, and what it is taken from.
struct start_values::taken {
  group_id group{};
  const parameter_entry* entry = nullptr;
  std::string wanted;                     ///< The name in the source.
  const archived_tensor* from = nullptr;
  std::optional<word_rows> words = {};
  std::vector<std::string> copies = {};   ///< Slots that begin as the variable does.
};

struct start_values::plan {
  std::unique_ptr<tensor_archive> source;
  std::vector<taken> all;
  int64_t step = 0;
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

/// "'a', 'b'", and how many more there are.
std::string listed(const std::vector<std::string>& names) {
  std::string text = joined(std::span{names}.first(std::min(names.size(), told_max)), ", ", quoted);
  return names.size() > told_max ? text + " and " + std::to_string(names.size() - told_max) + " more" : text;
}

/// The names of a map that no variable used.
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
  for (const auto& group : groups) {
    const auto entries = group.layout->entries();
    for (const auto& e : entries)
      if (takes(e.name)) {
        const auto renamed = settings_.var_name_to_prev_var_name.find(e.name);
        made.all.push_back({group.group, &e, renamed == settings_.var_name_to_prev_var_name.end() ? e.name : renamed->second});
        for (const auto& slot : entries)
          if (slot.starts_as_variable && &entries[static_cast<size_t>(slot.variable)] == &e && !takes(slot.name))
            made.all.back().copies.push_back(slot.name);
      }
  }
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(made.all.begin(), made.all.end(), [&](const taken& t) { return t.entry->name == name; });
  };
  if (const auto names = unused(settings_.var_name_to_prev_var_name, is_taken); !names.empty())
    return fail(errc::invalid_argument, "warm_start.var_name_to_prev_var_name: no variable that is taken is called " + listed(names));
  if (const auto names = unused(settings_.var_name_to_vocab_info, is_taken); !names.empty())
    return fail(errc::invalid_argument, "warm_start.var_name_to_vocab_info: no variable is called " + listed(names));
  const bool with_step = std::any_of(expressions_->over_all.begin(), expressions_->over_all.end(), [](const auto& e) { return e.matches(global_step_name); });
  if (made.all.empty() && !with_step)
    return fail(errc::invalid_argument, "warm_start.vars_to_warm_start: no " + std::string{expressions_->over_all.empty() ? "trainable variable" : "variable"}
                                          + " is meant by it; there are " + listed({trainable_.begin(), trainable_.end()}));

  auto source = open_archive(files_, settings_.ckpt_to_initialize_from);
  if (!source) {
    source.error().message = "warm_start.ckpt_to_initialize_from: " + source.error().message;
    return fail(std::move(source.error()));
  }
  made.source = std::move(*source);
  const auto here = names_here(*made.source);
  std::vector<std::string> missing;
  for (auto& t : made.all) {
    t.from = made.source->find(t.wanted);
    if (const auto other = here.find(t.wanted); !t.from && other != here.end())
      t.from = other->second;
    if (!t.from)
      missing.push_back(t.wanted);
  }
  const auto step = with_step ? step_of(*made.source) : expected<std::optional<int64_t>>{std::optional<int64_t>{0}};
  if (!step)
    return fail(step.error());
  if (!*step)
    missing.emplace_back(global_step_name);
  if (!missing.empty()) {
    std::vector<std::string> there;
    for (const auto& [name, t] : here)
      there.push_back(name);
    return fail({errc::not_found, "warm start: " + made.source->path() + " has no " + listed(missing),
                 {"it has " + listed(there), "narrow vars_to_warm_start to what is there, or give its names there in var_name_to_prev_var_name"}});
  }
  made.step = **step;
  if (auto done = find_words(made); !done)
    return fail(std::move(done.error()));
  return made;
}

/// Reads the vocabularies, and compares all shapes.
expected<void> start_values::find_words(plan& made) const {
  std::vector<std::string> wrong;
  for (auto& t : made.all) {
    const auto& e = *t.entry;
    if (t.from->problem)
      return fail(*t.from->problem);
    const auto differs = [&](const std::string& why) {
      wrong.push_back(quoted(e.name) + " is " + type_text(e.type, e.dims) + ", and " + (t.from->name == e.name ? "it" : quoted(t.from->name)) + " is "
                      + type_text(*t.from) + " there" + why);
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
      differs(": with " + std::to_string(words->old_words()) + " old words along axis " + std::to_string(info->second.axis)
              + " it must have as many there at least, and the other extents of the variable");
    t.words = std::move(*words);
  }
  if (wrong.empty())
    return {};
  return fail(errc::invalid_argument, "warm start from " + made.source->path() + ": " + std::to_string(wrong.size())
                                        + (wrong.size() == 1 ? " variable differs: " : " variables differ: ") + joined(wrong, "; "));
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
