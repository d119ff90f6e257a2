// Values for comparisons with the results of operations.
#pragma once

#include "tests/compute/evaluate.hpp"

#include <cmath>

namespace troupe::test {

inline tensor f64(const shape& dims, std::initializer_list<double> x) { return tensor::of<double>(dims, x); }
inline tensor f32(const shape& dims, std::initializer_list<float> x) { return tensor::of<float>(dims, x); }
inline tensor i32(const shape& dims, std::initializer_list<int32_t> x) { return tensor::of<int32_t>(dims, x); }
inline tensor i64(const shape& dims, std::initializer_list<int64_t> x) { return tensor::of<int64_t>(dims, x); }
inline tensor bools(const shape& dims, std::initializer_list<bool> x) { return tensor::of<bool>(dims, x); }

/// The value of an expression over constants.
template <class F>
tensor value(F build) {
  return evaluate([&](graph& g) { return build(g); });
}

/// The message of the error of an invalid expression.
template <class F>
std::string refusal(F build) {
  graph g;
  CHECK_FALSE(build(g).valid());
  return g.status() ? std::string{} : g.status().error().message;
}

inline std::vector<double> numbers(const tensor& t) {
  const auto widened = [](auto x) { return std::vector<double>(x.begin(), x.end()); };
  switch (t.type()) {
    case dtype::float32: return widened(t.as<float>());
    case dtype::float64: return widened(t.as<double>());
    case dtype::int32: return widened(t.as<int32_t>());
    case dtype::int64: return widened(t.as<int64_t>());
    case dtype::boolean: return widened(t.as<bool>());
    case dtype::uint8: return widened(t.as<uint8_t>());
  }
  return {};
}

/// Equal within `epsilon` times the larger of 1 and the number's magnitude. NaN equals NaN, and each infinity equals
/// itself.
inline void check_close(const tensor& got, const shape& dims, const std::vector<double>& want, double epsilon = 1e-6) {
  CHECK(to_text(got.dims()) == to_text(dims));
  REQUIRE(got.elements() == static_cast<int64_t>(want.size()));
  const auto x = numbers(got);
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("element ", i, ": ", x[i], " for ", want[i]);
    const bool right = std::isnan(want[i])
                           ? std::isnan(x[i])
                           : x[i] == want[i] || std::abs(x[i] - want[i]) <= epsilon * std::max(1.0, std::abs(want[i]));
    CHECK(right);
  }
}

}  // namespace troupe::test
