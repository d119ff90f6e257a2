// Constant folding of values with the same number in every element (mostly the start of a gradient).
#include "compute/planner/program_draft.hpp"

#include <cmath>
#include <limits>

namespace troupe {
namespace {

template <class T>
std::optional<double> same_everywhere(const tensor& t) {
  const auto x = t.as<T>();
  for (T v : x)
    if (v != x[0] || std::signbit(v) != std::signbit(x[0]))
      return {};
  return x.empty() ? std::optional<double>{} : static_cast<double>(x[0]);
}

std::optional<double> splat_of(const tensor& t) {
  switch (t.type()) {
    case dtype::float32: return same_everywhere<float>(t);
    case dtype::float64: return same_everywhere<double>(t);
    default: return {};
  }
}

/// The number with which a program would compute for x: rounded to the dtype, denormals as 0.
template <class T>
double held(double x) {
  const T rounded = static_cast<T>(x);
  return std::abs(rounded) < std::numeric_limits<T>::min() ? std::copysign(0.0, x) : static_cast<double>(rounded);
}
double held(dtype type, double x) { return type == dtype::float32 ? held<float>(x) : held<double>(x); }

/// The number in every element of the call's result, if its operands are known; else nothing.
std::optional<double> evaluate(const program_draft& p, const planned_call& c) {
  std::vector<double> x;
  for (int32_t i : c.in) {
    const auto& v = p.value(p.root(i)).splat;
    if (!v)
      return {};
    x.push_back(held(p.value(i).type, *v));
  }
  const auto is = [&](const operation& op) { return c.op == &op; };
  const dtype type = p.value(c.out[0]).type;
  if (x.empty() || !is_floating(type))
    return {};
  if (is(ops::broadcast_to))
    return x[0];
  if (is(ops::scale))
    return held(type, x[0] * held(type, c.attr.number)) / c.divisor;
  if (is(ops::neg))
    return -x[0];
  if (is(ops::square))
    return x[0] * x[0];
  if (is(ops::add))
    return x[0] + x[1];
  if (is(ops::sub))
    return x[0] - x[1];
  if (is(ops::mul))
    return x[0] * x[1];
  if (is(ops::div))
    return x[0] / x[1];
  return {};
}

/// Makes a division by a power of two a multiplication, if the factor is a normal number in every dtype.
void multiply_if_exact(planned_call& c) {
  int exponent = 0;
  if (std::abs(std::frexp(c.divisor, &exponent)) != 0.5 || std::abs(exponent) > 126)
    return;
  const double factor = c.attr.number / c.divisor;
  if (std::abs(factor) >= static_cast<double>(std::numeric_limits<float>::min()) && std::abs(factor) <= 0x1p126) {
    c.attr.number = factor;
    c.divisor = 1;
  }
}

/// x·c and x/c with a known c become a scale.
void simplify_product(program_draft& p, planned_call& c) {
  const bool division = c.op == &ops::div;
  if (c.op != &ops::mul && !division)
    return;
  const shape& dims = p.value(c.out[0]).dims;
  for (size_t known : {size_t{1}, size_t{0}}) {
    const auto& number = p.value(p.root(c.in[known])).splat;
    const int32_t other = c.in[1 - known];
    if (!number || (division && known == 0) || p.value(other).dims != dims)
      continue;
    c.op = &ops::scale;
    c.attr.number = division ? 1 : *number;
    c.divisor = division ? *number : 1;  // A factor of 1/c would be rounded itself.
    c.in = {other};
    return;
  }
}

}  // namespace

void fold_constants(program_draft& p) {
  for (auto& v : p.values)
    if (v.constant.elements() > 0)
      v.splat = splat_of(v.constant);
  for (auto& c : p.calls) {
    if (const auto number = evaluate(p, c)) {
      c.attr.number = held(p.value(c.out[0]).type, *number);
      p.value(c.out[0]).splat = c.attr.number;
      c.op = &ops::fill_value;
      c.in.clear();
      continue;
    }
    simplify_product(p, c);
    if (c.op == &ops::scale)
      multiply_if_exact(c);
    if (c.op == &ops::scale && c.attr.number == 1 && c.divisor == 1 && !p.value(c.out[0]).keep
        && !p.value(c.in[0]).read_only) {
      p.value(c.out[0]).view_of = c.in[0];
      c.removed = true;
    }
  }
}

void remove_dead_code(program_draft& p) {
  std::vector<bool> needed(p.values.size());
  const auto need = [&](int32_t value) { needed[static_cast<size_t>(p.root(value))] = true; };
  for (size_t v = 0; v < p.values.size(); ++v)
    if (p.values[v].keep)
      need(static_cast<int32_t>(v));
  // Backwards: the readers of a value come after the call that yields it.
  for (size_t i = p.calls.size(); i-- > 0;) {
    auto& c = p.calls[i];
    c.removed = c.removed || std::none_of(c.out.begin(), c.out.end(), [&](int32_t out) {
                  return needed[static_cast<size_t>(out)];
                });
    if (!c.removed)
      std::for_each(c.in.begin(), c.in.end(), need);
  }
  std::erase_if(p.calls, [](const planned_call& c) { return c.removed; });
}

void mark_recording(program_draft& p, std::span<const int32_t> roots, std::span<const recorded_values> recorded) {
  constexpr recording_set always = recording_set{1} << 31;
  std::vector<recording_set> needed(p.values.size());
  const auto need = [&](int32_t value, recording_set what) { needed[static_cast<size_t>(p.root(value))] |= what; };
  for (int32_t r : roots)
    need(r, always);
  for (const auto& r : recorded)
    for (int32_t value : r.values)
      need(value, r.what);
  for (size_t i = p.calls.size(); i-- > 0;) {
    auto& c = p.calls[i];
    recording_set by = 0;
    for (int32_t out : c.out)
      by |= needed[static_cast<size_t>(p.root(out))];
    c.recording = (by & always) != 0 ? 0 : by == 0 ? record_values : by;
    for (int32_t in : c.in)
      need(in, by);
  }
}

}  // namespace troupe
