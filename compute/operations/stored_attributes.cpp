// Attributes of nodes by name, as data.
#include "compute/operations/stored_forms.hpp"

#include <cmath>
#include <limits>

namespace troupe {
namespace {

/// The greatest number that a graph may hold. Sums of two such numbers do not overflow.
constexpr int64_t number_most = elements_max;

/// Stored as text, since JSON has no numbers for these.
constexpr std::pair<std::string_view, double> not_finite[] = {{"inf", std::numeric_limits<double>::infinity()},
                                                              {"-inf", -std::numeric_limits<double>::infinity()},
                                                              {"nan", std::numeric_limits<double>::quiet_NaN()}};

stored_value as_value(double x) {
  for (const auto& [text, number] : not_finite)
    if (std::isnan(number) ? std::isnan(x) : x == number)
      return std::string{text};
  return x;
}
stored_value as_value(bool x) { return x; }
stored_value as_value(int x) { return int64_t{x}; }
stored_value as_value(int64_t x) { return x; }
stored_value as_value(const std::string& x) { return x; }
stored_value as_value(const std::vector<int>& x) { return std::vector<int64_t>(x.begin(), x.end()); }
stored_value as_value(const std::vector<int64_t>& x) { return x; }
stored_value as_value(const symbol_shape& x) { return x; }

bool is_whole(int64_t x) { return x >= -number_most && x <= number_most; }

bool from_value(const stored_value& v, double& into) {
  if (const auto* whole = std::get_if<int64_t>(&v))
    return into = static_cast<double>(*whole), true;
  if (const auto* number = std::get_if<double>(&v))
    return into = *number, true;
  if (const auto* text = std::get_if<std::string>(&v))
    for (const auto& [name, number] : not_finite)
      if (name == *text)
        return into = number, true;
  return false;
}
bool from_value(const stored_value& v, bool& into) {
  const auto* x = std::get_if<bool>(&v);
  return x && (into = *x, true);
}
bool from_value(const stored_value& v, int64_t& into) {
  const auto* x = std::get_if<int64_t>(&v);
  return x && is_whole(*x) && (into = *x, true);
}
bool from_value(const stored_value& v, int& into) {
  int64_t wide = 0;
  if (!from_value(v, wide) || wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
    return false;
  return into = static_cast<int>(wide), true;
}
bool from_value(const stored_value& v, std::string& into) {
  const auto* x = std::get_if<std::string>(&v);
  return x && (into = *x, true);
}
template <class T>
bool from_value(const stored_value& v, std::vector<T>& into) {
  const auto* list = std::get_if<std::vector<int64_t>>(&v);
  if (!list)
    return false;
  into.clear();
  for (const int64_t x : *list) {
    T one{};
    if (!from_value(x, one))
      return false;
    into.push_back(one);
  }
  return true;
}
bool from_value(const stored_value& v, symbol_shape& into) {
  if (const auto* dims = std::get_if<symbol_shape>(&v))
    return into = *dims, true;
  const auto* list = std::get_if<std::vector<int64_t>>(&v);
  return list && (into.assign(list->begin(), list->end()), true);
}

/// Stores a field of both window axes as the pair {y, x}.
stored_value pair_of(const windows& w, int64_t windows::axis::*field) {
  return std::vector<int64_t>{w.y.*field, w.x.*field};
}
bool set_pair(const stored_value& v, windows& w, int64_t windows::axis::*field) {
  std::vector<int64_t> both;
  return from_value(v, both) && both.size() == 2 && (w.y.*field = both[0], w.x.*field = both[1], true);
}

/// Calls f(member) for the attribute called `name`, or pair(field) if it is a field of the window axes.
template <class Attributes, class F, class Pair>
auto with_field(Attributes& a, std::string_view name, F f, Pair pair) {
  if (name == "number")
    return f(a.number);
  if (name == "number2")
    return f(a.number2);
  if (name == "per")
    return f(a.per);
  if (name == "axes")
    return f(a.axes);
  if (name == "keep")
    return f(a.keep);
  if (name == "transpose_a")
    return f(a.transpose_a);
  if (name == "transpose_b")
    return f(a.transpose_b);
  if (name == "low")
    return f(a.low);
  if (name == "high")
    return f(a.high);
  if (name == "step")
    return f(a.step);
  if (name == "axis")
    return f(a.axis);
  if (name == "reverse")
    return f(a.reverse);
  if (name == "exclusive")
    return f(a.exclusive);
  if (name == "key")
    return f(a.key);
  if (name == "groups")
    return f(a.window.groups);
  if (name == "size")
    return pair(&windows::axis::size);
  if (name == "strides")
    return pair(&windows::axis::stride);
  if (name == "dilation")
    return pair(&windows::axis::dilation);
  assert(name == "padding");
  return pair(&windows::axis::pad);
}

}  // namespace

stored_value read_attribute(const attributes& from, std::string_view name) {
  return with_field(
      from, name, [](const auto& member) { return as_value(member); },
      [&](int64_t windows::axis::*field) { return pair_of(from.window, field); });
}

bool write_attribute(attributes& to, std::string_view name, const stored_value& value) {
  return with_field(
      to, name, [&](auto& member) { return from_value(value, member); },
      [&](int64_t windows::axis::*field) { return set_pair(value, to.window, field); });
}

}  // namespace troupe
