// Optimizer updates: one fused pass over a run of the flat vectors.
#pragma once

#include <troupe/optimizer.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace troupe {

/// The slots that each variable has: "Momentum"; "Adam", "Adam_1".
std::vector<std::string_view> slot_names(const optimizer& o);

/// n elements of variables and slots, read from one place and written to another, or to the same.
template <class T>
struct update_range {
  int64_t n;
  const T* g;
  const T* v;
  T* v_to;
  const T* slot[2];
  T* slot_to[2];
};

// t is the step being made, counted from 1.
template <class T> void update(const gradient_descent& o, int64_t t, const update_range<T>& x);
template <class T> void update(const momentum& o, int64_t t, const update_range<T>& x);
template <class T> void update(const adam& o, int64_t t, const update_range<T>& x);

}  // namespace troupe
