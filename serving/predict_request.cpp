#include "serving/predict_request.hpp"

#include "storage/encodings/json_cursor.hpp"
#include "words/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

namespace troupe {

namespace {

constexpr std::string_view default_signature = "serving_default";
constexpr size_t shown_bytes_max = 40;  // How much of a wrong value an error shows.

tl::unexpected<error> refused(std::string message) { return fail(errc::invalid_argument, std::move(message)); }

/// A text in quotes, at most `shown_bytes_max` bytes of it: "'x'".
std::string shown_text(std::string_view token) {
  return troupe::quoted(printable(text_of_json(token, shown_bytes_max)));
}

/// A wrong value as errors show it: "a list of 3", "the text 'x'", "2.5".
std::string shown(json_cursor value) {
  if (value.is_list())
    return "a list of " + std::to_string(value.count());
  if (value.is_object())
    return "an object";
  const auto token = value.token();
  double x = 0;
  if (value.is_number() && token.find_first_of(".eE") != std::string_view::npos && value.read(x))
    return nlohmann::json(x).dump();
  return token.size() <= shown_bytes_max ? std::string{token} : std::string{token.substr(0, shown_bytes_max)} + "...";
}

/// The indices of a wrong value and the reason. Made only for an error, from the innermost index outwards.
struct trouble {
  std::vector<int64_t> at = {};
  std::string why = {};
};

std::string indices(const std::vector<int64_t>& at) {
  return joined(at, "", [](int64_t i) { return "[" + std::to_string(i) + "]"; });
}

// -- values ------------------------------------------------------------------------

std::string wanted_text(dtype type) {
  switch (type) {
    case dtype::float32:
    case dtype::float64: return "a finite number that " + std::string{to_string(type)} + " holds";
    case dtype::boolean: return "true or false";
    default: return "a whole number that " + std::string{to_string(type)} + " holds";
  }
}

/// Reads the rows of one input, in order.
class input_reader {
 public:
  input_reader(const component& c, std::byte* to) : c_(c), to_(to) {}

  /// Reads one row and moves past it. Returns false and sets `found` if the row does not fit.
  bool read_row(json_cursor& from, trouble& found) {
    switch (c_.type) {
      case dtype::float64: return read_as<double>(from, found);
      case dtype::int32: return read_as<int32_t>(from, found);
      case dtype::int64: return read_as<int64_t>(from, found);
      case dtype::boolean: return read_as<bool>(from, found);
      case dtype::uint8: return read_as<uint8_t>(from, found);
      case dtype::float32: break;
    }
    return read_as<float>(from, found);
  }

 private:
  template <class T>
  bool read_as(json_cursor& from, trouble& found) {
    T nowhere{};
    auto* to = to_ ? reinterpret_cast<T*>(to_) : &nowhere;
    if (!read_axis(from, 0, to, to_ ? 1 : 0, found))
      return false;
    to_ = to_ ? reinterpret_cast<std::byte*>(to) : nullptr;
    return true;
  }
  /// Reads nested lists, one level for each axis from `axis` on.
  template <class T>
  bool read_axis(json_cursor& from, int axis, T*& to, int64_t step, trouble& found) {
    if (axis == c_.dims.rank()) {
      if (from.read(*to))
        return to += step, true;
      found.why = shown(from) + " where " + wanted_text(c_.type) + " is wanted";
      return false;
    }
    const auto begin = from;
    int64_t i = 0;
    bool more = from.is_list() && from.enter();
    for (; more && i < c_.dims[axis]; more = from.next(), ++i)
      if (!read_axis(from, axis + 1, to, step, found)) {
        found.at.insert(found.at.begin(), i);
        break;
      }
    if (begin.is_list() && !more && i == c_.dims[axis])
      return true;
    // A wrong length of this list is reported rather than what is wrong inside it.
    if (!begin.is_list() || begin.count() != c_.dims[axis])
      found = {.why = shown(begin) + " where a list of " + std::to_string(c_.dims[axis]) + " is wanted: a row of "
                      + c_.name + " is " + type_text(c_.type, c_.dims)};
    return false;
  }

  const component& c_;
  std::byte* to_;  ///< Null: rows are only checked.
};

/// The inputs of a signature while they are read: their memory, and the reader of each.
class inputs_reader {
 public:
  inputs_reader(const served_signature& s, predict_request& into) : signature_(s), into_(into) {}

  /// Takes the memory for `into.rows` rows of each input. If the body has fewer bytes than that would be elements, it
  /// cannot be right: no memory is taken, and reading the body finds the error.
  expected<void> begin(size_t body_bytes) {
    int64_t elements = 0, bytes = 0;
    bool possible = true;
    for (const auto& c : signature_.inputs) {
      int64_t of_input = 0;
      possible = possible && !__builtin_mul_overflow(c.dims.elements(), into_.rows, &of_input)
                 && of_input <= static_cast<int64_t>(body_bytes);
      elements += possible ? of_input : 0;
      bytes += possible ? of_input * size_of(c.type) : 0;
    }
    possible = possible && elements <= static_cast<int64_t>(body_bytes);
    if (possible && !into_.memory.set(bytes))
      return no_memory();
    for (const auto& c : signature_.inputs) {
      const auto dims = c.dims.prepend(into_.rows);
      auto buffer = possible ? allocate_buffer(std::max<int64_t>(1, dims.elements() * size_of(c.type))) : nullptr;
      if (possible && !buffer)
        return no_memory();
      readers_.emplace_back(c, buffer.get());
      into_.inputs.emplace_back(c.type, dims, std::move(buffer));
    }
    return {};
  }
  input_reader& operator[](size_t i) { return readers_[i]; }

 private:
  tl::unexpected<error> no_memory() const {
    return fail(errc::resource_exhausted, "there is no memory now for " + std::to_string(into_.rows) + " rows");
  }

  const served_signature& signature_;
  predict_request& into_;
  std::vector<input_reader> readers_;
};

// -- names -------------------------------------------------------------------------

std::string names_of(const served_signature& s) {
  return joined(s.inputs, ", ", [](const component& c) { return c.name; });
}

/// The input that a member names; `likely` is tried first. Absent if there is no such input.
std::optional<size_t> input_of(std::string_view name, const served_signature& s, size_t likely) {
  const size_t n = s.inputs.size();
  for (size_t i = 0; i < n; ++i)
    if (const size_t at = (likely + i) % n; is_json_of(name, s.inputs[at].name))
      return at;
  return {};
}

/// Why the members of an object are not exactly the inputs of the signature.
error wrong_names(json_cursor object, const served_signature& s, const std::string& where) {
  std::vector<int> times(s.inputs.size());
  std::string_view unknown;
  for (bool more = object.enter(); more; more = object.next()) {
    const auto name = object.name();
    object.skip();
    if (const auto i = input_of(name, s, 0))
      ++times[*i];
    else if (unknown.empty())
      unknown = name;
  }
  const auto telling = [&](const std::string& what) {
    return error{errc::invalid_argument, where + what + ": the inputs are " + names_of(s)};
  };
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i] == 0)
      return telling(" has no '" + s.inputs[i].name + "'");
  if (!unknown.empty())
    return telling(" has an unknown input " + shown_text(unknown));
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i] > 1)
      return telling(" has '" + s.inputs[i].name + "' twice");
  return error{errc::invalid_argument, where + " has other members than the inputs"};
}

/// Calls f(input, value) for each member of an object that should have each input exactly once. `f` moves past the
/// value or returns false. The result is false if the members are wrong (`names_fit` is false) or `f` has returned
/// false (`names_fit` is true).
template <class F>
bool each_input(json_cursor& object, const served_signature& s, bool& names_fit, F f) {
  std::array<bool, 64> few{};
  std::vector<bool> many(s.inputs.size() > few.size() ? s.inputs.size() : 0);
  size_t found = 0;
  for (bool more = object.enter(); more; more = object.next(), ++found) {
    const auto i = input_of(object.name(), s, found);
    names_fit = i && !(many.empty() ? few[*i] : many[*i]);
    if (!names_fit)
      return false;
    if (many.empty())
      few[*i] = true;
    else
      many[*i] = true;
    if (!f(*i, object))
      return false;
  }
  names_fit = found == s.inputs.size();
  return names_fit;
}

// -- forms -------------------------------------------------------------------------

expected<void> check_rows(int64_t rows, int64_t rows_max) {
  if (rows == 0)
    return refused("there are no rows");
  if (rows > rows_max)
    return refused("there are " + std::to_string(rows) + " rows, and a request takes at most "
                   + std::to_string(rows_max));
  return {};
}

struct limits {
  int64_t rows = 0;
  size_t body_bytes = 0;
};

expected<void> read_rows(json_cursor instances, const served_signature& s, const limits& most, predict_request& into) {
  if (!instances.is_list())
    return refused("'instances' is " + shown(instances) + ", and should be a list of rows");
  into.rows = instances.count();
  if (auto right = check_rows(into.rows, most.rows); !right)
    return right;
  instances.enter();
  const bool named = instances.is_object();
  if (!named && s.inputs.size() != 1)
    return refused("instances[0] is " + shown(instances) + ", and should be an object with " + names_of(s));
  inputs_reader readers{s, into};
  if (auto begun = readers.begin(most.body_bytes); !begun)
    return begun;
  trouble found;
  for (int64_t i = 0; i < into.rows; ++i, instances.next()) {
    const auto where = [&] { return "instances[" + std::to_string(i) + "]"; };
    const auto row = instances;
    if (row.is_object() != named)
      return refused(where() + " is " + shown(row) + ", and instances[0] is " + (named ? "an object" : "none"));
    size_t input = 0;
    bool names_fit = true;
    const auto read_value = [&](size_t k, json_cursor& value) {
      input = k;
      return readers[k].read_row(value, found);
    };
    if (named ? each_input(instances, s, names_fit, read_value) : read_value(0, instances))
      continue;
    if (!names_fit)
      return fail(wrong_names(row, s, where()));
    return refused(where() + (named ? "." + s.inputs[input].name : "") + indices(found.at) + ": " + found.why);
  }
  return {};
}

expected<void> read_columns(json_cursor inputs, const served_signature& s, const limits& most, predict_request& into) {
  const bool named = inputs.is_object();
  if (!named && (!inputs.is_list() || s.inputs.size() != 1))
    return refused("'inputs' is " + shown(inputs) + ", and should be an object with " + names_of(s));
  std::vector<json_cursor> columns(s.inputs.size(), inputs);
  bool names_fit = true;
  auto members = inputs;
  if (named && !each_input(members, s, names_fit, [&](size_t k, json_cursor& value) {
        return columns[k] = value, value.skip(), true;
      }))
    return fail(wrong_names(inputs, s, "'inputs'"));
  const auto where = [&](size_t k) { return named ? "inputs." + s.inputs[k].name : std::string{"inputs"}; };
  for (size_t k = 0; k < columns.size(); ++k) {
    if (!columns[k].is_list())
      return refused(where(k) + " is " + shown(columns[k]) + ", and should be a list of rows");
    const auto rows = columns[k].count();
    if (k > 0 && rows != into.rows)
      return refused(where(k) + " has " + std::to_string(rows) + " rows, and inputs." + s.inputs[0].name + " has "
                     + std::to_string(into.rows));
    into.rows = rows;
    if (auto right = check_rows(rows, most.rows); !right)
      return right;
  }
  inputs_reader readers{s, into};
  if (auto begun = readers.begin(most.body_bytes); !begun)
    return begun;
  trouble found;
  for (size_t k = 0; k < columns.size(); ++k) {
    int64_t i = 0;
    for (bool more = columns[k].enter(); more; more = columns[k].next(), ++i)
      if (!readers[k].read_row(columns[k], found))
        return refused(where(k) + indices({i}) + indices(found.at) + ": " + found.why);
  }
  return {};
}

/// The members of the body that are read; others are ignored.
struct body_members {
  std::optional<json_cursor> signature_name = {}, instances = {}, inputs = {};
};

expected<body_members> members_of(json_cursor body) {
  if (!body.is_object())
    return refused("the body is " + shown(body) + ", and should be an object with 'instances' or 'inputs'");
  body_members found;
  for (bool more = body.enter(); more; more = body.next()) {
    const auto name = body.name();
    for (const auto& [wanted, place] : {std::pair{"signature_name", &found.signature_name},
                                        {"instances", &found.instances},
                                        {"inputs", &found.inputs}}) {
      if (!is_json_of(name, wanted))
        continue;
      if (*place)
        return refused("the body has '" + std::string{wanted} + "' twice");
      *place = body;
    }
    body.skip();
  }
  return found;
}

/// The signature with this name, or the default one.
expected<const served_signatures::value_type*> signature_of(const std::optional<json_cursor>& name,
                                                            const served_signatures& signatures) {
  if (name && !name->is_text())
    return refused("'signature_name' is " + shown(*name) + ", and should be a text");
  const bool given = name && !is_json_of(name->token(), "");
  for (const auto& s : signatures)
    if (given ? is_json_of(name->token(), s.first) : s.first == default_signature)
      return &s;
  return refused("there is no signature " + (given ? shown_text(name->token()) : troupe::quoted(default_signature))
                 + "; there are " + joined(signatures, ", ", [](const auto& s) { return s.first; }));
}

expected<predict_request> read_request(json_cursor body, const served_signatures& signatures, const limits& most,
                                       request_memory* all) {
  const auto members = members_of(body);
  if (!members)
    return fail(members.error());
  const auto signature = signature_of(members->signature_name, signatures);
  if (!signature)
    return fail(signature.error());
  const auto& [rows, columns] = std::pair{members->instances, members->inputs};
  if (rows.has_value() == columns.has_value())
    return refused(std::string{"the body has "} + (rows ? "both" : "neither")
                   + " 'instances' (rows) and 'inputs' (columns)"
                   + (rows ? ", and may have one of them" : ", and needs one of them"));
  predict_request request{.signature = (*signature)->first, .by_rows = rows.has_value(), .memory = memory_share{all}};
  const auto& s = (*signature)->second;
  auto read = rows ? read_rows(*rows, s, most, request) : read_columns(*columns, s, most, request);
  return read ? expected<predict_request>{std::move(request)} : fail(std::move(read.error()));
}

}  // namespace

expected<predict_request> parse_predict_request(std::string_view body, const served_signatures& signatures,
                                                int64_t rows_max, request_memory* all) {
  try {
    if (const auto flaw = find_flaw(body))
      return refused("the body " + to_text(*flaw));
    return read_request(json_cursor{body}, signatures, {rows_max, body.size()}, all);
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted,
                "there is no memory now for a body of " + std::to_string(body.size()) + " bytes");
  }
}

}  // namespace troupe
