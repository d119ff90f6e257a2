#include "cli/configuration/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

std::string without_number(std::string_view name) {
  const size_t open = name.find('['), close = name.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::string{name};
  const auto number = name.substr(open + 1, close - open - 1);
  const bool is_number = !number.empty() && number.size() <= 6 && number.find_first_not_of("0123456789") == std::string_view::npos
                         && (number.size() == 1 || number.front() != '0');
  if (!is_number)
    return std::string{name};
  const bool may_be_one = name.substr(0, open) == "evaluate";
  return std::string{name.substr(0, may_be_one ? open : open + 1)}.append(name.substr(may_be_one ? close + 1 : close));
}

const key_info* find_key(std::string_view name) {
  if (name.find("[]") != std::string_view::npos)
    return nullptr;  // Ambiguous without a number.
  const auto& keys = known_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [known = without_number(name)](const key_info& k) { return k.name == known; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> keys_ending_in(std::string_view name) {
  std::vector<std::string> found;
  for (const auto& k : known_keys())
    if (std::string_view{k.name}.substr(k.name.find('.') + 1) == name)
      found.push_back(k.name);
  return found;
}

std::vector<std::string> keys_of_table(std::string_view table) {
  std::vector<std::string> found;
  for (const auto& k : known_keys())
    if (std::string_view{k.name}.substr(0, k.name.find('.')) == table)
      found.push_back(k.name);
  return found;
}

std::string fits(const key_info& key) {
  return key.tables ? "a list of tables, each begun by [[" + key.name + "]]" : to_text(static_cast<const option_values&>(key));
}

namespace {

bool may_be_written(option_kind kind, value_kind written) {
  using enum option_kind;
  switch (written) {
    case value_kind::untyped: return true;
    case value_kind::text: return kind == text;
    case value_kind::integer: return kind == integer || kind == natural || kind == number || kind == single || kind == extents;
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

bool accepts(const key_info& key, std::string_view value, value_kind written) {
  if (key.tables)
    return false;  // A single table has been given key by key.
  const bool none = key.may_be_none && value == "none";
  return (none || may_be_written(key.kind, written)) && key.accept(value);
}

std::string help_of(const key_info& key) {
  return key.standard.empty() ? key.about : fmt::format("{} [{}]", key.about, key.standard);
}

std::string describe_keys() {
  std::string text;
  for (const auto& k : known_keys())
    text += fmt::format("  {:<34} {}\n", k.name, help_of(k));
  return text;
}

}  // namespace troupe::cli
