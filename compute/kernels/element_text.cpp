#include "compute/kernels/element_text.hpp"

#include <cmath>
#include <cstdio>

namespace troupe {

namespace {

/// Calls `f` with a typed pointer to the elements.
template <class F>
auto with_elements(dtype type, const std::byte* at, F&& f) {
  switch (type) {
    case dtype::float32: return f(reinterpret_cast<const float*>(at));
    case dtype::float64: return f(reinterpret_cast<const double*>(at));
    case dtype::int32: return f(reinterpret_cast<const int32_t*>(at));
    case dtype::int64: return f(reinterpret_cast<const int64_t*>(at));
    default: return f(reinterpret_cast<const uint8_t*>(at));
  }
}

template <class T>
std::string number_text(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x))
      return "nan";  // Without a sign, which means nothing for NaN.
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", static_cast<double>(x));
    return digits;
  } else {
    return std::to_string(x);
  }
}

}  // namespace

not_finite_elements count_not_finite(dtype type, const std::byte* at, int64_t elements) {
  return with_elements(type, at, [elements]<class T>(const T* x) {
    not_finite_elements found;
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t i = 0; i < elements; ++i)
        if (!std::isfinite(x[i]) && found.count++ == 0)
          found.first = i;
    return found;
  });
}

std::string element_text(dtype type, const std::byte* at, int64_t index) {
  return with_elements(type, at, [index](const auto* x) { return number_text(x[index]); });
}

std::string index_text(const shape& dims, int64_t index) {
  std::string text;
  for (int axis = dims.rank(); axis-- > 0; index /= dims[axis])
    text = std::to_string(index % dims[axis]) + (text.empty() ? "" : ", ") + text;
  return text.empty() ? text : " at [" + text + "]";
}

std::string range_text(dtype type, const shape& dims, const std::byte* at) {
  const std::string what = std::string{to_string(type)} + " " + to_text(dims);
  return with_elements(type, at, [&]<class T>(const T* x) {
    const T* least = nullptr;
    const T* greatest = nullptr;
    int64_t others = 0;
    for (int64_t i = 0; i < dims.elements(); ++i) {
      if (!std::isfinite(static_cast<double>(x[i]))) {
        ++others;
        continue;
      }
      if (!least || x[i] < *least)
        least = x + i;
      if (!greatest || x[i] > *greatest)
        greatest = x + i;
    }
    return what + (least ? ", from " + number_text(*least) + " to " + number_text(*greatest) : "")
           + (others > 0 ? ", " + std::to_string(others) + " of " + std::to_string(dims.elements()) + " not finite"
                         : "");
  });
}

}  // namespace troupe
