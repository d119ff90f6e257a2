#include "storage/exports/json_fields.hpp"

#include "storage/encodings/utf8.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace troupe::export_fields {

namespace {

constexpr std::pair<std::string_view, double> not_finite_texts[] = {{"inf", std::numeric_limits<double>::infinity()},
                                                                    {"-inf", -std::numeric_limits<double>::infinity()},
                                                                    {"nan", std::numeric_limits<double>::quiet_NaN()}};

/// Upper limit for extents and coefficients of a graph.
constexpr int64_t extent_most = int64_t{1} << 48;

/// Parses an extent with an unknown: "batch", "3*batch".
extent named_extent(const std::string& text, const std::vector<std::string>& unknowns, const std::string& where) {
  int64_t coefficient = 1;
  std::string_view name = text;
  if (const size_t star = text.find('*'); star != std::string::npos) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + star, coefficient);
    // Each number has only one accepted spelling, so that writing what was read gives the same text.
    if (failed != std::errc{} || end != text.data() + star || coefficient < 2 || coefficient > extent_most
        || text[0] == '0')
      throw damage_found{where + " has the extent '" + text + "'"};
    name.remove_prefix(star + 1);
  }
  const auto found = std::find(unknowns.begin(), unknowns.end(), name);
  if (found == unknowns.end())
    throw damage_found{where + " has the extent '" + text + "', which is no unknown of the graph"};
  return extent::of_unknown(static_cast<int32_t>(found - unknowns.begin()), coefficient);
}

}  // namespace

expected<void> check_format(const tree& j, const std::string& path, std::string_view format, int64_t newest) {
  if (!j.is_object() || !j.contains("format") || j["format"] != format)
    return fail(errc::data_loss, path + ": it is not a " + std::string{format});
  if (!j.contains("format_version") || !j["format_version"].is_number_integer())
    return fail(errc::data_loss, path + ": it has no format_version");
  if (j["format_version"] < 1 || j["format_version"] > newest)
    return fail(errc::unimplemented, path + ": format version " + j["format_version"].dump()
                                         + ", and this program reads "
                                         + (newest == 1 ? "1" : "1 to " + std::to_string(newest)));
  return {};
}

json begin_file(std::string_view format, int64_t version) { return {{"format", format}, {"format_version", version}}; }

expected<std::string> dump_file(const json& j, const std::string& file) {
  try {
    std::string text = "{";
    for (const auto& [name, value] : j.items()) {
      text.append(text.size() == 1 ? "\n" : ",\n").append(" ").append(json(name).dump()).append(": ");
      // Lists and objects have one line for each element, at this level only.
      if (!value.is_structured() || value.empty()) {
        text += value.dump();
        continue;
      }
      const bool list = value.is_array();
      text += list ? "[" : "{";
      bool first = true;
      for (const auto& [key, element] : value.items())
        text.append(std::exchange(first, false) ? "\n  " : ",\n  ")
            .append(list ? "" : json(key).dump() + ": ")
            .append(element.dump());
      text += list ? "\n ]" : "\n }";
    }
    return text + "\n}\n";
  } catch (const json::exception& e) {
    return fail(errc::invalid_argument, "a name in " + file + " is not UTF-8: " + e.what());
  }
}

void require_members(const tree& j, const std::string& where, std::initializer_list<std::string_view> names) {
  if (!j.is_object())
    throw damage_found{where + " is not an object"};
  for (const auto& [name, value] : j.items())
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw damage_found{where + " has the member '" + name + "', which is not known"};
  for (const auto name : names)
    if (!j.contains(std::string{name}))
      throw damage_found{where + " lacks the member '" + std::string{name} + "'"};
}

std::string text_in(const tree& j, const std::string& where) {
  if (!j.is_string())
    throw damage_found{where + " is not a text"};
  return j.get<std::string>();
}

int64_t integer_in(const tree& j, const std::string& where, int64_t least, int64_t most) {
  const bool fits = j.is_number_integer()
                    && (!j.is_number_unsigned() || j.get<uint64_t>() <= static_cast<uint64_t>(most));
  const int64_t x = fits ? j.get<int64_t>() : least;
  if (!fits || x < least || x > most)
    throw damage_found{where + " is not a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
  return x;
}

std::vector<std::string> texts_in(const tree& j, const std::string& where) {
  if (!j.is_array())
    throw damage_found{where + " is not a list"};
  std::vector<std::string> all;
  for (const auto& one : j)
    all.push_back(text_in(one, where));
  return all;
}

dtype dtype_in(const tree& j, const std::string& where) {
  const auto text = text_in(j, where);
  for (const auto t : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean, dtype::uint8})
    if (to_string(t) == text)
      return t;
  throw damage_found{where + " is no dtype: '" + text + "'"};
}

json as_json(double x) {
  for (const auto& [text, number] : not_finite_texts)
    if (std::isnan(number) ? std::isnan(x) : x == number)
      return text;
  return x;
}

double number_in(const tree& j, const std::string& where) {
  if (j.is_number_float())
    return j.get<double>();
  if (j.is_string())
    for (const auto& [text, number] : not_finite_texts)
      if (j == text)
        return number;
  throw damage_found{where + " is not a number with a point"};
}

json as_json(const std::map<std::string, double>& numbers) {
  auto j = json::object();
  for (const auto& [name, x] : numbers)
    j[name] = as_json(x);
  return j;
}

std::map<std::string, double> numbers_in(const tree& j, const std::string& where) {
  if (!j.is_object())
    throw damage_found{where + " is not an object"};
  std::map<std::string, double> numbers;
  for (const auto& [name, x] : j.items())
    numbers[name] = number_in(x, where + "." + name);
  return numbers;
}

json as_json(const symbol_shape& dims, const std::vector<std::string>& unknowns) {
  auto list = json::array();
  for (const extent& e : dims)
    if (e.known())
      list.push_back(e.coefficient);
    else
      list.push_back((e.coefficient == 1 ? "" : std::to_string(e.coefficient) + "*")
                     + unknowns[static_cast<size_t>(e.unknown)]);
  return list;
}

symbol_shape shape_in(const tree& j, const std::vector<std::string>& unknowns, const std::string& where) {
  if (!j.is_array() || j.size() > static_cast<size_t>(shape::max_rank))
    throw damage_found{where + " is not a list of at most 8 extents"};
  symbol_shape dims;
  for (const auto& e : j)
    dims.push_back(e.is_string() ? named_extent(e.get<std::string>(), unknowns, where)
                                 : extent{integer_in(e, where, 0, extent_most)});
  return dims;
}

}  // namespace troupe::export_fields
