#include "cli/configuration/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace troupe::cli {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string_view::npos
         && (text.size() == 1 || text.front() != '0');
}

}  // namespace

std::string without_number(std::string_view name) {
  std::string known;
  for (;;) {
    const size_t open = name.find('['), close = name.find(']', open);
    if (open == std::string_view::npos || close == std::string_view::npos
        || !is_number(name.substr(open + 1, close - open - 1)))
      return known.append(name);
    known.append(name.substr(0, open));
    if (known != "evaluate")
      known += "[]";
    name.remove_prefix(close + 1);
  }
}

const key_info* find_key(std::string_view name) {
  if (name.find("[]") != std::string_view::npos)
    return nullptr;  // Without a number it is ambiguous.
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const key_info*> all;
    for (const auto& k : known_keys())
      all.emplace(k.name, &k);
    return all;
  }();
  const auto found = by_name.find(without_number(name));
  return found == by_name.end() ? nullptr : found->second;
}

std::vector<std::string> keys_ending_in(std::string_view name) {
  std::vector<std::string> found;
  // Keys of a list at the top level have no name without a number.
  for (const auto& k : known_keys())
    if (std::string_view{k.name}.substr(k.name.find('.') + 1) == name
        && !k.name.substr(0, k.name.find('.')).ends_with(']'))
      found.push_back(k.name);
  return found;
}

std::vector<std::string> keys_of_table(std::string_view table) {
  std::vector<std::string> found;
  for (const auto& k : known_keys())
    if (k.name.starts_with(table) && k.name.substr(table.size()).starts_with('.'))
      found.push_back(k.name);
  return found;
}

std::string fits(const key_info& key) {
  return key.tables ? "a list of tables, each begun by [[" + key.name + "]]"
                    : to_text(static_cast<const option_values&>(key));
}

namespace {

bool may_be_written(option_kind kind, value_kind written) {
  using enum option_kind;
  switch (written) {
    case value_kind::untyped: return true;
    case value_kind::text: return kind == text || kind == length;
    case value_kind::integer:
      return kind == integer || kind == natural || kind == number || kind == single || kind == extents
             || kind == length;
    case value_kind::number: return kind == number || kind == single;
    case value_kind::boolean: return kind == boolean;
    case value_kind::integers: return kind == integers || kind == numbers || kind == extents;
    case value_kind::numbers: return kind == numbers;
    case value_kind::texts: return kind == texts;
    case value_kind::table:
    case value_kind::other: break;
  }
  return false;
}

}  // namespace

std::string_view real_name(const key_info& key, std::string_view value) {
  const auto found = key.also.find(value);
  return found == key.also.end() ? value : std::string_view{found->second};
}

bool accepts(const key_info& key, std::string_view value, value_kind written) {
  if (key.tables)
    return false;  // A single table has been given key by key.
  const bool none = key.may_be_none && value == "none";
  return (none || may_be_written(key.kind, written)) && key.accept(real_name(key, value));
}

std::string help_of(const key_info& key) {
  return key.standard.empty() ? key.about : fmt::format("{} [{}]", key.about, key.standard);
}

std::span<const key_table> key_tables() {
  static constexpr key_table tables[] = {
      {"model", "what is trained: its kind, its layers, its classes"},
      {"head", "loss, metrics and predictions of a model that has none of its own"},
      {"optimizer", "the update rule, the learning rate and its schedule, groups of variables"},
      {"input", "the data, their batches, how often they are read"},
      {"run", "directory, end, checkpoints, summaries, threads"},
      {"evaluate", "evaluations while training and what they export; several as [[evaluate]]"},
      {"experiment", "troupe experiment: when its schedules evaluate"},
      {"stop_early", "rules that end the training because of its evaluations"},
      {"keep_best", "the best checkpoint, kept beside the newest ones"},
      {"reduce_on_plateau", "a learning rate that falls when a metric no longer gets better"},
      {"warm_start", "values that another run has learnt, to begin with"},
      {"search", "what a search tries in place of a model: networks, ensembles of them, how the best is chosen"},
  };
  return tables;
}

std::string describe_keys(const key_table& table) {
  std::string text = fmt::format("[{}]  {}\n", table.name, table.about);
  for (const auto& k : known_keys())
    if (std::string_view{k.name}.substr(0, k.name.find_first_of(".[")) == table.name)
      text += fmt::format("  {:<34} {}\n", k.name, help_of(k));
  return text;
}

}  // namespace troupe::cli
