#include "words/text.hpp"

#include <troupe/options/option_field.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace troupe {

namespace {

template <class T>
bool parse_number(std::string_view text, T& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc{} && end == text.data() + text.size();
}

/// Six digits if they read back as the same number, otherwise as many as needed. Whole numbers have no exponent.
template <class T>
std::string number_text(T x) {
  constexpr T whole_max = 1e15f;
  if (std::abs(x) < whole_max && x == std::trunc(x))
    return std::to_string(static_cast<int64_t>(x));
  char digits[40];
  const int size = std::snprintf(digits, sizeof digits, "%g", static_cast<double>(x));
  if (T same{}; parse_number(std::string_view{digits, static_cast<size_t>(size)}, same) && same == x)
    return digits;
  return shortest_text(x);
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class T>
bool parse_list(std::string_view text, std::vector<T>& into) {
  into.clear();
  text = trimmed(text);
  if (text.starts_with('[') != text.ends_with(']'))
    return false;
  if (text.starts_with('['))
    text = trimmed(text.substr(1, text.size() - 2));
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (!parse_option(trimmed(text.substr(0, comma)), into.emplace_back()) || comma + 1 == text.size())
      return false;
    text = text.substr(std::min(comma + 1, text.size()));
  }
  return true;
}

template <class T>
bool accepts_number(std::string_view text, const field_range& range) {
  T x{};
  return parse_option(text, x) && range.has(static_cast<double>(x));
}
template <class T>
bool accepts_list(std::string_view text, const field_range& range, size_t least = 0, size_t most = SIZE_MAX) {
  std::vector<T> list;
  return parse_list(text, list) && list.size() >= least && list.size() <= most
         && std::all_of(list.begin(), list.end(), [&range](T x) { return range.has(static_cast<double>(x)); });
}

template <class T>
expected<void> check_number(std::string_view label, T value, const field_range& range) {
  if (range.has(static_cast<double>(value)))
    return {};
  bool infinite = false;
  if constexpr (std::is_floating_point_v<T>)
    infinite = std::isinf(value);
  return fail(errc::invalid_argument, std::string{label}
                                          .append(" must be ")
                                          .append(infinite ? "finite" : to_text(range))
                                          .append(", not ")
                                          .append(option_text(value)));
}

}  // namespace

// -- ranges ----------------------------------------------------------------------

std::string to_text(const field_range& r) {
  const bool from = std::isfinite(r.least), to = std::isfinite(r.most);
  if (from && to)
    return std::string{r.above ? "in (" : "in ["}
        .append(number_text(r.least))
        .append(", ")
        .append(number_text(r.most))
        .append(r.below ? ")" : "]");
  if (from)
    return std::string{r.above ? "above " : "at least "}.append(number_text(r.least));
  if (to)
    return std::string{r.below ? "below " : "at most "}.append(number_text(r.most));
  return "finite";
}

std::string to_text(const option_values& v) {
  const std::string bounds = v.range == field_range{}
                                 ? ""
                                 : (to_text(v.range).starts_with("at ") ? " of " : " ") + to_text(v.range);
  std::string text;
  switch (v.kind) {
    case option_kind::integer: text = "a whole number" + bounds; break;
    case option_kind::natural: text = "a whole number of at least 0"; break;
    case option_kind::number: text = "a number" + bounds; break;
    case option_kind::single: text = "a 32-bit number" + bounds; break;
    case option_kind::boolean: text = "true or false"; break;
    case option_kind::integers: text = "a list of whole numbers" + bounds + ", such as [256, 128]"; break;
    case option_kind::numbers: text = "a list of numbers" + bounds + ", such as [0.1, 0.01]"; break;
    case option_kind::extents: text = "a whole number" + bounds + ", or two of them, such as [3, 5]"; break;
    case option_kind::length: text = "a whole number" + bounds + ", or a time such as 90s, 2m or 1h"; break;
    case option_kind::texts:
      text = v.choices.empty() ? "a list of texts without commas, such as [\"shirt\", \"bag\"]"
                               : "a list of some of " + joined(v.choices);
      break;
    case option_kind::text: text = v.choices.empty() ? "text" : "one of " + joined(v.choices);
  }
  return v.may_be_none ? text + ", or \"none\"" : text;
}

bool option_values::accept(std::string_view value) const {
  if (may_be_none && value == "none")
    return true;
  switch (kind) {
    case option_kind::integer: return accepts_number<int64_t>(value, range);
    case option_kind::natural: return accepts_number<uint64_t>(value, {});
    case option_kind::number: return accepts_number<double>(value, range);
    case option_kind::single: return accepts_number<float>(value, range);
    case option_kind::boolean: return value == "true" || value == "false";
    case option_kind::integers: return accepts_list<int64_t>(value, range);
    case option_kind::numbers: return accepts_list<double>(value, range);
    case option_kind::extents: return accepts_list<int64_t>(value, range, 1, 2);
    case option_kind::length: {
      std::variant<int64_t, std::chrono::seconds> parsed;
      return parse_option(value, parsed) && check_option("", parsed, range);
    }
    case option_kind::texts: {
      std::vector<std::string> list;
      if (choices.empty())
        return parse_option(value, list) && !list.empty();
      return parse_names(value, list) && !list.empty() && std::all_of(list.begin(), list.end(), [this](const auto& x) {
               return std::count(choices.begin(), choices.end(), x) == 1;
             });
    }
    case option_kind::text: break;
  }
  return choices.empty() ? !value.empty() : std::count(choices.begin(), choices.end(), value) == 1;
}

// -- values ----------------------------------------------------------------------

std::string option_text(bool value) { return value ? "true" : "false"; }
std::string option_text(int32_t value) { return std::to_string(value); }
std::string option_text(int64_t value) { return std::to_string(value); }
std::string option_text(uint64_t value) { return std::to_string(value); }
std::string option_text(float value) { return number_text(value); }
std::string option_text(double value) { return number_text(value); }
std::string option_text(const std::string& value) { return value; }
std::string option_text(const std::array<int64_t, 2>& value) {
  return value[0] == value[1] ? std::to_string(value[0])
                              : "[" + std::to_string(value[0]) + ", " + std::to_string(value[1]) + "]";
}

std::string option_text(const std::variant<int64_t, std::chrono::seconds>& value) {
  const auto* secs = std::get_if<std::chrono::seconds>(&value);
  return secs ? std::to_string(secs->count()) + "s" : std::to_string(std::get<int64_t>(value));
}

bool parse_option(std::string_view text, bool& into) {
  into = text == "true";
  return into || text == "false";
}
bool parse_option(std::string_view text, int32_t& into) { return parse_number(text, into); }
bool parse_option(std::string_view text, int64_t& into) { return parse_number(text, into); }
bool parse_option(std::string_view text, uint64_t& into) { return parse_number(text, into); }
bool parse_option(std::string_view text, double& into) { return parse_number(text, into); }
bool parse_option(std::string_view text, float& into) {
  double x = 0;
  if (!parse_number(text, x))
    return false;
  using limits = std::numeric_limits<float>;
  into = std::abs(x) > static_cast<double>(limits::max()) ? std::copysign(limits::infinity(), x > 0 ? 1.0f : -1.0f)
                                                          : static_cast<float>(x);
  return true;
}
bool parse_option(std::string_view text, std::string& into) {
  into = text;
  return true;
}
bool parse_option(std::string_view text, std::array<int64_t, 2>& into) {
  std::vector<int64_t> list;
  if (!parse_list(text, list) || list.empty() || list.size() > 2)
    return false;
  into = {list.front(), list.back()};
  return true;
}
bool parse_option(std::string_view text, std::variant<int64_t, std::chrono::seconds>& into) {
  const char last = text.empty() ? ' ' : text.back();
  const int64_t unit_secs = last == 's' ? 1 : last == 'm' ? 60 : last == 'h' ? 3600 : 0;
  int64_t number = 0;
  if (unit_secs > 0)
    text.remove_suffix(1);
  if (!parse_number(text, number) || (unit_secs > 0 && __builtin_mul_overflow(number, unit_secs, &number)))
    return false;
  if (unit_secs > 0)
    into = std::chrono::seconds{number};
  else
    into = number;
  return true;
}
bool parse_option(std::string_view text, std::vector<int64_t>& into) { return parse_list(text, into); }
bool parse_option(std::string_view text, std::vector<float>& into) { return parse_list(text, into); }
bool parse_option(std::string_view text, std::vector<double>& into) { return parse_list(text, into); }
bool parse_option(std::string_view text, std::vector<std::string>& into) {
  into.clear();
  for (size_t first = 0; !text.empty() && first <= text.size();) {
    const size_t comma = std::min(text.find(',', first), text.size());
    into.emplace_back(trimmed(text.substr(first, comma - first)));
    first = comma + 1;
  }
  return std::none_of(into.begin(), into.end(), [](const std::string& word) { return word.empty(); });
}
bool parse_names(std::string_view text, std::vector<std::string>& into) {
  text = trimmed(text);
  if (text.starts_with('[') != text.ends_with(']'))
    return false;
  return parse_option(text.starts_with('[') ? trimmed(text.substr(1, text.size() - 2)) : text, into);
}

expected<void> check_option(std::string_view label, int64_t value, const field_range& range) {
  return check_number(label, value, range);
}
expected<void> check_option(std::string_view label, double value, const field_range& range) {
  return check_number(label, value, range);
}
expected<void> check_option(std::string_view label, float value, const field_range& range) {
  return check_number(label, value, range);
}
expected<void> check_option(std::string_view label, const std::variant<int64_t, std::chrono::seconds>& value,
                            const field_range& range) {
  constexpr int64_t secs_max = 100LL * 365 * 24 * 3600;
  const auto* secs = std::get_if<std::chrono::seconds>(&value);
  if (!secs)
    return check_option(label, std::get<int64_t>(value), range);
  if (secs->count() >= 1 && secs->count() <= secs_max)
    return {};
  return fail(errc::invalid_argument,
              std::string{label}.append(" must be from 1 s to a hundred years, not ").append(option_text(value)));
}

}  // namespace troupe
