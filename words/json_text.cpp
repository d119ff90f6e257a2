#include "words/json_text.hpp"

#include "words/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace troupe::json_text {

namespace {

constexpr int depth_max = 64;
constexpr size_t shown_bytes_max = 60;
constexpr uint64_t count_max = uint64_t{1} << 53;  // Every whole number up to it is a double.

std::string scalar_text(const json& value) { return value.dump(-1, ' ', true, json::error_handler_t::replace); }

/// The beginning of a value, for messages.
std::string shown(const json& value) {
  std::string text = text_of(value);
  if (text.size() > shown_bytes_max)
    text = text.substr(0, shown_bytes_max) + "...";
  return text;
}

/// Throws before a deep text overflows the stack of whoever walks its tree.
void check_depth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{') && ++depth > depth_max)
      throw wrong{"it nests deeper than " + std::to_string(depth_max)};
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
  }
}

}  // namespace

std::string text_of(const json& value) {
  if (value.is_array())
    return "[" + joined(value, ", ", [](const json& element) { return text_of(element); }) + "]";
  if (!value.is_object())
    return scalar_text(value);
  return "{"
         + joined(value.items(), ", ", [](const auto& m) { return scalar_text(m.key()) + ": " + text_of(m.value()); })
         + "}";
}

json as_json(double x) {
  if (std::isfinite(x))
    return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

bool is_utf8(const std::string& bytes) {
  try {
    static_cast<void>(json(bytes).dump());
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

json parse(std::string_view text) {
  check_depth(text);
  std::vector<std::set<std::string>> keys;  // Of each object that is open.
  const auto note_keys = [&keys](int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw wrong{"an object has the key " + shown(value) + " twice"};
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), note_keys);
  } catch (const json::exception& e) {
    // The parser's text repeats a number of any length.
    constexpr size_t most = 300;
    const auto why = printable(e.what());
    throw wrong{"it is no JSON: " + (why.size() > most ? why.substr(0, most) + "…" : why)};
  }
}

void entry::refuse(const std::string& what_is_right) const {
  throw wrong{(path_.empty() ? "it" : path_) + " must be " + what_is_right + ", not " + shown(*value_)};
}

void entry::require_members(std::initializer_list<std::string_view> names,
                            std::initializer_list<std::string_view> optional) const {
  const auto within = [](const auto& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const auto place = path_.empty() ? std::string{"it"} : path_;
  if (!value_->is_object())
    refuse("an object");
  for (const auto name : names)
    if (!has(name))
      throw wrong{place + " lacks the key " + troupe::quoted(name)};
  for (const auto& member : value_->items())
    if (!within(names, member.key()) && !within(optional, member.key()))
      throw wrong{place + " has the unknown key " + troupe::quoted(printable(member.key()))};
}

entry entry::at(std::string_view name) const {
  return {value_->at(std::string{name}), (path_.empty() ? "" : path_ + ".").append(name)};
}

std::vector<entry> entry::elements() const {
  if (!value_->is_array())
    refuse("a list");
  std::vector<entry> all;
  for (const auto& element : *value_)
    all.emplace_back(element, path_ + "[" + std::to_string(all.size()) + "]");
  return all;
}

std::vector<std::pair<std::string, entry>> entry::members() const {
  if (!value_->is_object())
    refuse("an object");
  std::vector<std::pair<std::string, entry>> all;
  for (const auto& member : value_->items())
    all.emplace_back(member.key(), at(member.key()));
  return all;
}

int64_t entry::integer() const {
  if (!value_->is_number_integer()
      || (value_->is_number_unsigned() && value_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    refuse("a whole number of 64 bits");
  return value_->get<int64_t>();
}

int64_t entry::count() const {
  if (!value_->is_number_unsigned())
    refuse("a whole number of at least 0");
  if (value_->get<uint64_t>() > count_max)
    refuse("a whole number of at most 2^53");
  return value_->get<int64_t>();
}

double entry::number() const {
  using limits = std::numeric_limits<double>;
  for (const double x : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()})
    if (*value_ == as_json(x))
      return x;
  if (!value_->is_number())
    refuse("a number");
  return value_->get<double>();
}

bool entry::boolean() const {
  if (!value_->is_boolean())
    refuse("true or false");
  return value_->get<bool>();
}

std::string entry::text() const {
  if (!value_->is_string())
    refuse("a text");
  return value_->get<std::string>();
}

}  // namespace troupe::json_text
