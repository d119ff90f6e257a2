#include "serving/predict_request.hpp"

#include "storage/encodings/json_depth.hpp"
#include "words/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

using json = nlohmann::json;

constexpr std::string_view default_signature = "serving_default";

tl::unexpected<error> refused(std::string message) { return fail(errc::invalid_argument, std::move(message)); }

/// "a list of 3", "the text 'x'", "2.5": what was found in place of what is wanted.
std::string shown(const json& value) {
  constexpr size_t most = 40;
  if (value.is_array())
    return "a list of " + std::to_string(value.size());
  if (value.is_object())
    return "an object";
  const auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Where a value is: made only for an error.
struct place {
  std::string base;
  std::vector<int64_t> at = {};
};

std::string to_text(const place& p) {
  return p.base + joined(p.at, "", [](int64_t i) { return "[" + std::to_string(i) + "]"; });
}

// -- values ------------------------------------------------------------------------

template <class T>
bool take(const json& value, T& into) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean())
      return false;
    into = value.get<bool>();
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number())
      return false;
    const double x = value.get<double>();
    into = static_cast<T>(x);
    return std::isfinite(into);  // 1e300 is no float32.
  } else {
    if (value.is_number_unsigned()) {
      const auto x = value.get<uint64_t>();
      into = static_cast<T>(x);
      return x <= static_cast<uint64_t>(std::numeric_limits<T>::max());
    }
    if (!value.is_number_integer())
      return false;
    const auto x = value.get<int64_t>();
    into = static_cast<T>(x);
    return x >= static_cast<int64_t>(std::numeric_limits<T>::min()) && x <= static_cast<int64_t>(std::numeric_limits<T>::max());
  }
}

std::string wanted_text(dtype type) {
  switch (type) {
    case dtype::float32:
    case dtype::float64: return "a finite number that " + std::string{to_string(type)} + " holds";
    case dtype::boolean: return "true or false";
    default: return "a whole number that " + std::string{to_string(type)} + " holds";
  }
}

/// Copies the elements of a row, whose axes from `axis` on are nested lists, to `to`. False with the place of what does not fit.
template <class T>
bool copy_row(const json& value, const component& c, int axis, T*& to, place& where, std::string& why) {
  if (axis == c.dims.rank()) {
    if (take(value, *to))
      return ++to, true;
    why = shown(value) + " where " + wanted_text(c.type) + " is wanted";
    return false;
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != c.dims[axis]) {
    why = shown(value) + " where a list of " + std::to_string(c.dims[axis]) + " is wanted: a row of " + c.name + " is " + type_text(c.type, c.dims);
    return false;
  }
  int64_t i = 0;
  for (const auto& inner : value) {
    if (!copy_row(inner, c, axis + 1, to, where, why)) {
      where.at.insert(where.at.begin(), i);
      return false;
    }
    ++i;
  }
  return true;
}

/// Calls f(T{}) with the C++ type of a dtype.
template <class F>
auto with_type(dtype type, F f) {
  switch (type) {
    case dtype::float64: return f(double{});
    case dtype::int32: return f(int32_t{});
    case dtype::int64: return f(int64_t{});
    case dtype::boolean: return f(bool{});
    case dtype::uint8: return f(uint8_t{});
    case dtype::float32: break;
  }
  return f(float{});
}

struct limits {
  int64_t rows = 0;
  int64_t elements = 0;  ///< Those of one input: an element takes at least a byte of the body.
};

/// A tensor [rows, ...] of one input: `row_of(i)` is the JSON of row i, `where(i)` its place.
template <class RowOf, class Where>
expected<tensor> read_input(const component& c, int64_t rows, const limits& most, RowOf row_of, Where where) {
  // Elements are copied one by one as they are found: a few bytes that promise many rows take no memory for those.
  auto buffer = allocate_buffer(std::max<int64_t>(1, std::min(rows * c.dims.elements(), most.elements) * size_of(c.type)));
  if (!buffer)
    return fail(errc::resource_exhausted, "no memory for " + std::to_string(rows) + " rows of " + c.name);
  return with_type(c.type, [&]([[maybe_unused]] auto zero) -> expected<tensor> {
    auto* to = reinterpret_cast<decltype(zero)*>(buffer.get());
    std::string why;
    for (int64_t i = 0; i < rows; ++i)
      if (place at; !copy_row(row_of(i), c, 0, to, at, why)) {
        at.base = where(i);
        return refused(to_text(at) + ": " + why);
      }
    return tensor{c.type, c.dims.prepend(rows), std::move(buffer)};
  });
}

// -- forms -------------------------------------------------------------------------

std::string names_of(const std::vector<component>& inputs) {
  return joined(inputs, ", ", [](const component& c) { return c.name; });
}

/// Whether an object has each input of the signature and no other.
expected<void> check_names(const json& object, const served_signature& s, const std::string& where) {
  for (const auto& c : s.inputs)
    if (!object.contains(c.name))
      return refused(where + " has no '" + c.name + "': the inputs are " + names_of(s.inputs));
  if (object.size() == s.inputs.size())
    return {};
  for (const auto& [name, value] : object.items())
    if (std::none_of(s.inputs.begin(), s.inputs.end(), [&name = name](const component& c) { return c.name == name; }))
      return refused(where + " has an unknown input " + troupe::quoted(printable(name)) + ": the inputs are " + names_of(s.inputs));
  return {};
}

expected<void> check_rows(int64_t rows, int64_t rows_max) {
  if (rows == 0)
    return refused("there are no rows");
  if (rows > rows_max)
    return refused("there are " + std::to_string(rows) + " rows, and a request takes at most " + std::to_string(rows_max));
  return {};
}

expected<void> read_rows(const json& instances, const served_signature& s, const limits& most, predict_request& into) {
  if (!instances.is_array())
    return refused("'instances' is " + shown(instances) + ", and should be a list of rows");
  into.rows = static_cast<int64_t>(instances.size());
  if (auto right = check_rows(into.rows, most.rows); !right)
    return right;
  const bool named = instances[0].is_object();
  if (!named && s.inputs.size() != 1)
    return refused("instances[0] is " + shown(instances[0]) + ", and should be an object with " + names_of(s.inputs));
  for (size_t i = 0; i < instances.size(); ++i) {
    const std::string where = "instances[" + std::to_string(i) + "]";
    if (instances[i].is_object() != named)
      return refused(where + " is " + shown(instances[i]) + ", and instances[0] is " + (named ? "an object" : "none"));
    if (named)
      if (auto right = check_names(instances[i], s, where); !right)
        return right;
  }
  for (const auto& c : s.inputs) {
    auto read = read_input(
      c, into.rows, most, [&](int64_t i) -> const json& { return named ? instances[static_cast<size_t>(i)].at(c.name) : instances[static_cast<size_t>(i)]; },
      [&](int64_t i) { return "instances[" + std::to_string(i) + "]" + (named ? "." + c.name : ""); });
    if (!read)
      return fail(std::move(read.error()));
    into.inputs.push_back(std::move(*read));
  }
  return {};
}

expected<void> read_columns(const json& inputs, const served_signature& s, const limits& most, predict_request& into) {
  const bool named = inputs.is_object();
  if (!named && (!inputs.is_array() || s.inputs.size() != 1))
    return refused("'inputs' is " + shown(inputs) + ", and should be an object with " + names_of(s.inputs));
  if (named)
    if (auto right = check_names(inputs, s, "'inputs'"); !right)
      return right;
  for (const auto& c : s.inputs) {
    const json& column = named ? inputs.at(c.name) : inputs;
    const std::string where = named ? "inputs." + c.name : "inputs";
    if (!column.is_array())
      return refused(where + " is " + shown(column) + ", and should be a list of rows");
    const auto rows = static_cast<int64_t>(column.size());
    if (!into.inputs.empty() && rows != into.rows)
      return refused(where + " has " + std::to_string(rows) + " rows, and inputs." + s.inputs[0].name + " has " + std::to_string(into.rows));
    into.rows = rows;
    if (auto right = check_rows(rows, most.rows); !right)
      return right;
    auto read = read_input(
      c, rows, most, [&](int64_t i) -> const json& { return column[static_cast<size_t>(i)]; },
      [&](int64_t i) { return where + "[" + std::to_string(i) + "]"; });
    if (!read)
      return fail(std::move(read.error()));
    into.inputs.push_back(std::move(*read));
  }
  return {};
}

expected<predict_request> read_request(const json& body, const served_signatures& signatures, const limits& most) {
  if (!body.is_object())
    return refused("the body is " + shown(body) + ", and should be an object with 'instances' or 'inputs'");
  predict_request request{.signature = std::string{default_signature}};
  if (const auto name = body.find("signature_name"); name != body.end()) {
    if (!name->is_string())
      return refused("'signature_name' is " + shown(*name) + ", and should be a text");
    request.signature = name->get<std::string>().empty() ? request.signature : name->get<std::string>();
  }
  const auto signature = signatures.find(request.signature);
  if (signature == signatures.end())
    return refused("there is no signature " + troupe::quoted(printable(request.signature)) + "; there are "
                   + joined(signatures, ", ", [](const auto& s) { return s.first; }));
  const auto rows = body.find("instances"), columns = body.find("inputs");
  if ((rows == body.end()) == (columns == body.end()))
    return refused(std::string{"the body has "} + (rows == body.end() ? "neither" : "both") + " 'instances' (rows) and 'inputs' (columns)"
                   + (rows == body.end() ? ", and needs one of them" : ", and may have one of them"));
  request.by_rows = rows != body.end();
  auto read = request.by_rows ? read_rows(*rows, signature->second, most, request) : read_columns(*columns, signature->second, most, request);
  return read ? expected<predict_request>{std::move(request)} : fail(std::move(read.error()));
}

}  // namespace

expected<predict_request> parse_predict_request(std::string_view body, const served_signatures& signatures, int64_t rows_max) {
  if (const auto deep = too_deep_at(body))
    return refused("the body " + too_deep_text(*deep));
  try {
    return read_request(json::parse(body), signatures, {rows_max, static_cast<int64_t>(body.size())});
  } catch (const json::parse_error& e) {
    return refused("the body is no JSON at byte " + std::to_string(e.byte));
  } catch (const json::exception& e) {
    return refused(std::string{"the body cannot be read: "} + e.what());
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, "no memory for a body of " + std::to_string(body.size()) + " bytes");
  }
}

}  // namespace troupe
