// The data of the examples: orders that came in, and whether they were paid late. Their own, small and always the same.
#pragma once

#include <troupe/dataset.hpp>

#include <cmath>
#include <vector>

/// 512 orders: "amount", "hour" and "visits" in [0, 1); "late" is 1 where a large amount meets few visits.
inline troupe::dataset recent_orders() {
  constexpr int64_t count = 512;
  std::vector<float> amount, hour, visits;
  std::vector<int32_t> late;
  for (int i = 0; i < count; ++i) {
    const auto spread = [i](double by) { return static_cast<float>(std::fmod(i * by, 1.0)); };
    amount.push_back(spread(0.6180339887));
    hour.push_back(spread(0.4142135624));
    visits.push_back(spread(0.7320508076));
    late.push_back(amount.back() > visits.back() ? 1 : 0);
  }
  const auto column = [](const std::vector<float>& values) { return troupe::tensor::of<float>({count}, values); };
  // Counts agree, so there is nothing that could fail.
  return *troupe::dataset::from_tensors(
      {{"amount", column(amount)}, {"hour", column(hour)}, {"visits", column(visits)}},
      {{"late", troupe::tensor::of<int32_t>({count}, late)}});
}
