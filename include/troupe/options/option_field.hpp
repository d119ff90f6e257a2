// Options by name: a table for each struct, by which its fields are parsed, checked, printed and explained.
// Not needed to begin with.
//
//   template <> struct option_fields<train_spec> {
//     static constexpr std::tuple all{
//         option_field{"steps", &train_spec::steps, "how many steps to make", field_range::at_least(1)}};
//   };
//   if (auto right = check_fields(spec); !right) return tr::print_error(right.error());
//
// The tables are in options/*_fields.hpp. The type of a member decides how its value is written. Any thread may call.
#pragma once

#include <troupe/error.hpp>

#include <array>
#include <chrono>
#include <limits>
#include <tuple>
#include <type_traits>
#include <variant>

namespace troupe {

// -- rows ------------------------------------------------------------------------

/// The numbers that a field accepts. NaN is outside every range.
struct field_range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = true;  ///< Whether `least` itself is excluded.
  bool below = true;  ///< Whether `most` itself is excluded.

  static constexpr field_range finite() { return {}; }
  static constexpr field_range at_least(double x) { return {.least = x, .above = false}; }
  static constexpr field_range above_number(double x) { return {.least = x}; }
  static constexpr field_range at_most(double x) { return {.most = x, .below = false}; }
  static constexpr field_range between(double least, double most) { return {least, most, false, false}; }
  /// (least, most)
  static constexpr field_range inside(double least, double most) { return {.least = least, .most = most}; }
  /// [0, 1)
  static constexpr field_range fraction() { return {0, 1, false, true}; }
  /// The same numbers and infinity.
  constexpr field_range or_infinite() const { return {least, most, above, false}; }

  constexpr bool has(double x) const noexcept {
    return (above ? x > least : x >= least) && (below ? x < most : x <= most);
  }
  friend constexpr bool operator==(const field_range&, const field_range&) = default;
};
/// "at least 1", "above 0", "in [1, 1024]", "finite"
TROUPE_API std::string to_text(const field_range& range);

/// How the value of a field is written.
enum class option_kind : uint8_t {
  text,
  integer,
  natural,  ///< An unsigned integer of 64 bits.
  number,
  single,  ///< A floating number of 32 bits.
  boolean,
  integers,  ///< "256,128"; brackets are allowed.
  numbers,   ///< "0.1,0.01"; brackets are allowed.
  texts,     ///< "shirt,bag"; of names that are choices brackets are allowed.
  extents,   ///< One integer for both axes of an image, or two.
  length,    ///< A number of steps, or a time: "100", "90s", "2m", "1h".
};

/// The values that a field accepts as text.
struct option_values {
  option_kind kind = option_kind::text;
  field_range range = {};
  bool may_be_none = false;               ///< Whether "none" is accepted: off, or never set.
  std::vector<std::string> choices = {};  ///< The accepted texts; empty: any except the empty one.

  TROUPE_API bool accept(std::string_view value) const;
};
/// The accepted values in words: "a whole number of at least 1, or \"none\""
TROUPE_API std::string to_text(const option_values& values);

/// One row of a table without its member: a name, the purpose in one line, and the accepted numbers.
struct field_row {
  std::string_view name;
  std::string_view about;
  field_range range = {};
  bool has_effect = true;  ///< False: any value except the default is unimplemented.
};
template <class Owner, class T>
struct option_field : field_row {
  T Owner::*member;

  constexpr option_field(const char* its_name, T Owner::*its_member, std::string_view its_purpose,
                         field_range accepted = {}, bool effect = true)
    : field_row{its_name, its_purpose, accepted, effect}, member(its_member) {}
};

/// A member that is a struct with a table of its own. The rows of that table become rows of the owner, except for the
/// row `without`.
template <class Owner, class Part>
struct option_part {
  Part Owner::*member;
  std::string_view without = {};

  explicit constexpr option_part(Part Owner::*its_member, std::string_view left_out = {})
    : member(its_member), without(left_out) {}
};

/// The table of a struct: `static constexpr std::tuple all{option_field{...}, ...}`.
template <class Options>
struct option_fields;

/// The name of a struct. Only for structs whose table has a `name`, such as update rules.
template <class Options>
requires requires { option_fields<Options>::name; }
constexpr std::string_view name_of(const Options&) { return option_fields<Options>::name; }

/// The names of an enumeration's values, or of another type's: `static const inline std::pair<std::string_view, T>
/// all[]`.
template <class T>
struct option_choices;
template <class T>
concept chosen_by_name = requires {
  option_choices<T>::all;
};

// -- values as text --------------------------------------------------------------

/// A value as a configuration file writes it. An absent one is "none".
TROUPE_API std::string option_text(bool value);
TROUPE_API std::string option_text(int32_t value);
TROUPE_API std::string option_text(int64_t value);
TROUPE_API std::string option_text(uint64_t value);
TROUPE_API std::string option_text(float value);
TROUPE_API std::string option_text(double value);
TROUPE_API std::string option_text(const std::string& value);
TROUPE_API std::string option_text(const std::array<int64_t, 2>& value);
TROUPE_API std::string option_text(const std::variant<int64_t, std::chrono::seconds>& value);
template <chosen_by_name T>
std::string option_text(const T& value) {
  for (const auto& [name, known] : option_choices<T>::all)
    if (known == value)
      return std::string{name};
  return {};
}
template <class T>
std::string option_text(const std::optional<T>& value) {
  return value ? option_text(*value) : "none";
}
template <class T>
std::string option_text(const std::vector<T>& list) {
  std::string text = "[";
  for (const T& x : list)
    text.append(text.size() == 1 ? "" : ", ").append(option_text(x));
  return text + "]";
}

/// Reads a value. False, with `into` unspecified: the text is no value of that type. Numbers too large for float become
/// infinite.
TROUPE_API bool parse_option(std::string_view text, bool& into);
TROUPE_API bool parse_option(std::string_view text, int32_t& into);
TROUPE_API bool parse_option(std::string_view text, int64_t& into);
TROUPE_API bool parse_option(std::string_view text, uint64_t& into);
TROUPE_API bool parse_option(std::string_view text, float& into);
TROUPE_API bool parse_option(std::string_view text, double& into);
TROUPE_API bool parse_option(std::string_view text, std::string& into);
TROUPE_API bool parse_option(std::string_view text, std::array<int64_t, 2>& into);
TROUPE_API bool parse_option(std::string_view text, std::variant<int64_t, std::chrono::seconds>& into);
/// Reads a list. An empty text is an empty list.
TROUPE_API bool parse_option(std::string_view text, std::vector<int64_t>& into);
TROUPE_API bool parse_option(std::string_view text, std::vector<float>& into);
TROUPE_API bool parse_option(std::string_view text, std::vector<double>& into);
TROUPE_API bool parse_option(std::string_view text, std::vector<std::string>& into);
/// Reads names with commas between them: "grow,all"; brackets are allowed.
TROUPE_API bool parse_names(std::string_view text, std::vector<std::string>& into);
template <chosen_by_name T>
bool parse_option(std::string_view text, T& into) {
  for (const auto& [name, value] : option_choices<T>::all)
    if (name == text)
      return into = value, true;
  return false;
}
template <chosen_by_name T>
bool parse_option(std::string_view text, std::vector<T>& into) {
  std::vector<std::string> names;
  into.clear();
  if (!parse_names(text, names))
    return false;
  for (const auto& name : names)
    if (T value{}; parse_option(name, value))
      into.push_back(value);
  return into.size() == names.size();
}
template <class T>
bool parse_option(std::string_view text, std::optional<T>& into) {
  if (text == "none")
    return into.reset(), true;
  return parse_option(text, into.emplace());
}

/// The type of a field's value without std::optional, and whether the field may be none.
template <class T>
struct option_value {
  using type = T;
  static constexpr bool may_be_none = false;
};
template <class T>
struct option_value<std::optional<T>> {
  using type = T;
  static constexpr bool may_be_none = true;
};

/// The type of the values that a field names: of a list that of its elements.
template <class T>
struct named_value {
  using type = T;
  static constexpr bool is_list = false;
};
template <chosen_by_name T>
struct named_value<std::vector<T>> {
  using type = T;
  static constexpr bool is_list = true;
};

template <class T>
constexpr option_kind kind_of_option() {
  using enum option_kind;
  if constexpr (std::is_same_v<T, bool>)
    return boolean;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return natural;
  else if constexpr (std::is_integral_v<T>)
    return integer;
  else if constexpr (std::is_same_v<T, float>)
    return single;
  else if constexpr (std::is_same_v<T, double>)
    return number;
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return integers;
  else if constexpr (std::is_same_v<T, std::vector<float>> || std::is_same_v<T, std::vector<double>>)
    return numbers;
  else if constexpr (std::is_same_v<T, std::vector<std::string>> || named_value<T>::is_list)
    return texts;
  else if constexpr (std::is_same_v<T, std::array<int64_t, 2>>)
    return extents;
  else if constexpr (std::is_same_v<T, std::variant<int64_t, std::chrono::seconds>>)
    return length;
  else
    return text;
}

/// The values that a field of type T accepts.
template <class T>
option_values values_of(const field_range& range) {
  using type = typename option_value<T>::type;
  using named = typename named_value<type>::type;
  option_values values{kind_of_option<type>(), range, option_value<T>::may_be_none, {}};
  if constexpr (chosen_by_name<named>)
    for (const auto& choice : option_choices<named>::all)
      values.choices.emplace_back(choice.first);
  return values;
}

// -- whole structs ---------------------------------------------------------------

/// Calls f(row, member) for every field, in the order of the table. If f takes the row as `field_row`, it is compiled
/// once for each type of a member, not for each struct.
template <class Options, class F>
void each_field(Options& options, F f);

/// Calls f for one entry of a table: an option_field, or an option_part with several rows.
template <class Options, class Row, class F>
void visit_row(Options& options, const Row& field, F& f) {
  f(field, options.*field.member);
}
template <class Options, class Owner, class Part, class F>
void visit_row(Options& options, const option_part<Owner, Part>& part, F& f) {
  each_field(options.*part.member, [&](const auto& field, auto& value) {
    if (field.name != part.without)
      f(field, value);
  });
}

template <class Options, class F>
void each_field(Options& options, F f) {
  std::apply([&](const auto&... row) { (visit_row(options, row, f), ...); },
             option_fields<std::remove_const_t<Options>>::all);
}

/// A struct of options in which every field has its default.
template <class Options>
const Options& defaults_of() {
  static const Options defaults{};
  return defaults;
}

/// Checks a value: invalid_argument, "LABEL must be in [1, 1024], not 0". A text that is given must not be empty.
TROUPE_API expected<void> check_option(std::string_view label, int64_t value, const field_range& range);
TROUPE_API expected<void> check_option(std::string_view label, double value, const field_range& range);
inline expected<void> check_option(std::string_view label, int32_t value, const field_range& range) {
  return check_option(label, int64_t{value}, range);
}
TROUPE_API expected<void> check_option(std::string_view label, float value, const field_range& range);
/// A time must have at least a second, and at most a hundred years.
TROUPE_API expected<void> check_option(std::string_view label, const std::variant<int64_t, std::chrono::seconds>& value,
                                       const field_range& range);
template <class T>
expected<void> check_option(std::string_view, const T&, const field_range&) {
  return {};
}
template <class T>
expected<void> check_option(std::string_view label, const std::vector<T>& list, const field_range& range) {
  for (size_t i = 0; i < list.size(); ++i)
    if (auto right = check_option(std::string{label}.append("[").append(std::to_string(i)).append("]"), list[i], range);
        !right)
      return right;
  return {};
}
inline expected<void> check_option(std::string_view label, const std::array<int64_t, 2>& pair,
                                   const field_range& range) {
  return check_option(label, pair[0], range).and_then([&] { return check_option(label, pair[1], range); });
}
template <class T>
expected<void> check_option(std::string_view label, const std::optional<T>& value, const field_range& range) {
  if constexpr (std::is_same_v<T, std::string>)
    if (value && value->empty())
      return fail(errc::invalid_argument, std::string{label}.append(" must not be ''"));
  return value ? check_option(label, *value, range) : expected<void>{};
}

/// Checks the value of one row. Errors name the field as `before` followed by its name.
template <class T>
[[gnu::noinline]] expected<void> check_row(const field_row& row, std::string_view before, const T& value,
                                           const T& standard) {
  const std::string label = std::string{before}.append(row.name);
  if (auto right = check_option(label, value, row.range); !right)
    return right;
  if (row.has_effect || value == standard)
    return {};
  return fail(errc::unimplemented, std::string{label}
                                       .append(" has no effect yet: it must be left at ")
                                       .append(option_text(standard))
                                       .append(", not ")
                                       .append(option_text(value)));
}

/// Checks all fields and returns the first error: invalid_argument, or unimplemented for a field that has no effect yet
/// and is not at its default. Errors name a field as `before` followed by its name.
template <class Options>
expected<void> check_fields(const Options& options, std::string_view before = "") {
  expected<void> right;
  each_field(options, [&]<class Owner, class T>(const option_field<Owner, T>& field, const T& value) {
    if (right)
      right = check_row(field, before, value, defaults_of<Owner>().*field.member);
  });
  return right;
}

}  // namespace troupe
