// Checks that the tables of options tell a reader enough: a purpose for every field, and a range or a unit for every
// number.
#pragma once

#include <troupe/options/option_field.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace troupe::cli {

/// The unit of a field, which follows from the end of its name: "seconds" for throttle_secs. Empty if there is none.
constexpr std::string_view unit_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> units[] = {
      {"_secs", "seconds"}, {"_hours", "hours"}, {"_steps", "steps"}, {"threshold", "the metric's unit"}};
  for (const auto& [ending, unit] : units)
    if (name.ends_with(ending))
      return unit;
  return "";
}

template <class Owner, class T>
constexpr bool is_explained(const option_field<Owner, T>& row) {
  using enum option_kind;
  constexpr auto kind = kind_of_option<typename option_value<T>::type>();
  // A natural number needs no range: its type has one.
  constexpr bool is_number = kind == integer || kind == number || kind == single || kind == integers || kind == numbers
                             || kind == extents;
  return !row.about.empty() && (!is_number || row.range != field_range{} || !unit_of(row.name).empty());
}

template <class Options>
constexpr bool has_explained_fields();
template <class Owner, class Part>
constexpr bool is_explained(const option_part<Owner, Part>&) {
  return has_explained_fields<Part>();
}

/// Whether every row has a text, and every row of a number also a range or a unit.
template <class Options>
constexpr bool has_explained_fields() {
  return std::apply([](const auto&... row) { return (is_explained(row) && ...); }, option_fields<Options>::all);
}

}  // namespace troupe::cli
