#include "cli/configuration/settings.hpp"

#include "cli/configuration/joined.hpp"
#include "cli/configuration/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace troupe::cli {

namespace {

/// The most similar name; for a key of a list, with the numbers of `key`.
std::optional<std::string> nearest_key(const std::string& key, const std::vector<std::string>& names) {
  auto like = nearest(without_number(key), names);
  if (!like)
    return like;
  if (key.starts_with("evaluate[") && like->starts_with("evaluate."))
    like->insert(like->find('.'), "[]");
  for (size_t open = 0, at = 0;;) {
    open = key.find('[', open);
    const size_t close = key.find(']', open);
    at = like->find("[]", at);
    if (close == std::string::npos || at == std::string::npos)
      return like;
    like->replace(at, 2, key.substr(open, close + 1 - open));
    at += close + 1 - open;
    open = close + 1;
  }
}

/// The known key that is meant, or an error that says why there is none.
expected<std::string> resolve(const assignment& given, bool may_be_short) {
  if (find_key(given.key))
    return given.key;
  if (given.written == value_kind::table) {
    const auto like = nearest(
        given.key, {"model", "head", "optimizer", "input", "run", "evaluate", "experiment", "stop_early", "keep_best",
                    "reduce_on_plateau", "warm_start", "search", "search.generator", "search.choose"});
    return fail(errc::invalid_argument,
                fmt::format("{}: unknown table {}{}", given.origin, given.key, did_you_mean(like)));
  }
  const size_t dot = given.key.rfind('.');
  const auto ending = keys_ending_in(std::string_view{given.key}.substr(dot == std::string::npos ? 0 : dot + 1));
  if (may_be_short) {
    const auto whole = keys_ending_in(without_number(given.key));
    if (whole.size() > 1)
      return fail(errc::invalid_argument,
                  fmt::format("{}: key {} is ambiguous: it can be {}", given.origin, given.key, joined(whole, " or ")));
    if (const auto full = whole.empty() ? std::string{}
                                        : whole.front().substr(0, whole.front().find('.') + 1) + given.key;
        find_key(full))
      return full;
  }
  std::optional<std::string> like;
  if (!ending.empty()) {  // The right key in the wrong table.
    like = joined(ending, " or ");
  } else {
    std::vector<std::string> names;
    for (const auto& k : known_keys())
      names.push_back(dot == std::string::npos ? k.name.substr(k.name.find('.') + 1) : k.name);
    like = nearest_key(given.key, names);
    if (like && dot == std::string::npos && keys_ending_in(*like).size() == 1)
      like = keys_ending_in(*like).front();
  }
  if (like == given.key)
    like.reset();  // Its number is wrong.
  return fail(errc::invalid_argument, fmt::format("{}: unknown key {}{}", given.origin, given.key, did_you_mean(like)));
}

/// Whether `merge` would report a problem with this assignment. Without `may_be_short` an unknown key is wrong at once;
/// else the key that it abbreviates is searched for.
bool is_wrong(const assignment& given, bool may_be_short) {
  if (const auto* key = find_key(given.key))
    return !accepts(*key, given.value, given.written);
  if (!may_be_short)
    return true;
  const auto name = resolve(given, true);
  return !name || !accepts(*find_key(*name), given.value, given.written);
}

/// The choice, or other name of a choice, that is most similar to the value. Capitals count as small letters.
std::optional<std::string> nearest_choice(const key_info& key, std::string value) {
  auto names = key.choices;
  for (const auto& [name, real] : key.also)
    names.push_back(name);
  for (char& c : value)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return nearest(value, names);
}

std::string shown(const assignment& a) {
  if (a.written == value_kind::integers && a.value.empty())
    return "an empty list";
  return a.written == value_kind::text || a.written == value_kind::untyped ? "'" + a.value + "'" : a.value;
}

}  // namespace

expected<settings> settings::merge(const std::vector<assignment>& file, const std::vector<assignment>& set,
                                   const std::vector<assignment>& flags) {
  constexpr size_t told_max = 20;
  settings merged;
  // Only the first ones, since a file that is no configuration has a problem in each line.
  std::vector<std::string> problems;
  size_t more = 0;
  const auto add = [&](const std::vector<assignment>& given, precedence from) {
    for (const auto& a : given) {
      if (problems.size() == told_max) {
        more += is_wrong(a, from == precedence::set) ? 1 : 0;
        continue;
      }
      const auto name = resolve(a, from == precedence::set);
      if (!name) {
        problems.push_back(name.error().message);
        continue;
      }
      const auto& key = *find_key(*name);
      if (!accepts(key, a.value, a.written))
        problems.push_back(fmt::format("{}: {} must be {}, not {}{}", a.origin, *name, fits(key), shown(a),
                                       did_you_mean(nearest_choice(key, a.value))));
      auto& kept = merged.entries_.insert_or_assign(*name, entry{a, from}).first->second.given.value;
      kept = real_name(key, kept);
    }
  };
  add(file, precedence::file);
  add(set, precedence::set);
  add(flags, precedence::flag);
  if (problems.empty())
    return merged;
  error e{errc::invalid_argument, problems.front()};
  e.notes.assign(problems.begin() + 1, problems.end());
  if (more > 0)
    e.notes.push_back(fmt::format("and {} more like these", more));
  return fail(std::move(e));
}

const settings::entry* settings::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

std::optional<std::string> settings::text(std::string_view key) const {
  const auto* e = find(key);
  return e ? std::optional{e->given.value} : std::nullopt;
}
std::vector<std::string> settings::keys_beginning(std::string_view beginning) const {
  std::vector<std::string> keys;
  for (auto e = entries_.lower_bound(beginning); e != entries_.end() && e->first.starts_with(beginning); ++e)
    keys.push_back(e->first);
  return keys;
}
std::vector<std::string> settings::keys_of_list(std::string_view list) const {
  return keys_beginning(std::string{list} + "[");
}
int64_t settings::size_of_list(std::string_view list) const {
  int64_t size = 0;
  for (const auto& key : keys_of_list(list)) {
    int64_t i = 0;
    std::from_chars(key.data() + list.size() + 1, key.data() + key.size(), i);
    size = std::max(size, i + 1);
  }
  return size;
}

std::map<std::string, std::string> settings::given() const {
  std::map<std::string, std::string> all;
  for (const auto& [key, e] : entries_)
    all.emplace(key, e.given.value);
  return all;
}
std::map<std::string, std::string> settings::resolved() const {
  auto all = given();
  for (const auto& [key, text] : resolved_)
    all[key] = text;  // Also for given keys, so that 1e-3 and 0.001 are equal.
  return all;
}
void settings::settle(std::string_view key, std::string text) const { resolved_.emplace(key, std::move(text)); }

std::optional<precedence> settings::precedence_of(std::string_view key) const {
  const auto* e = find(key);
  return e ? std::optional{e->from} : std::nullopt;
}
std::string settings::origin(std::string_view key) const {
  const auto* e = find(key);
  return e ? e->given.origin + ": " : std::string{};
}

expected<assignment> parse_assignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(errc::invalid_argument,
                fmt::format("--set takes key=value, such as run.max_steps=1000, not '{}'", text));
  const auto trim = [](std::string_view s) {
    while (s.starts_with(' '))
      s.remove_prefix(1);
    while (s.ends_with(' '))
      s.remove_suffix(1);
    return std::string{s};
  };
  return assignment{trim(text.substr(0, equals)), trim(text.substr(equals + 1)), "--set", value_kind::untyped};
}

tl::unexpected<error> missing_key(std::string_view key, std::string_view hint) {
  return fail(errc::invalid_argument, fmt::format("{} is missing: {}", key, hint));
}

}  // namespace troupe::cli
