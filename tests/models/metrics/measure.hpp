// Measures a metric over columns of numbers, in batches and in several parts, and compares it with a direct computation
// over all rows.
#pragma once

#include "compute/engine/metric_totals.hpp"
#include "compute/parameters/parameter_store.hpp"
#include "compute/program/program.hpp"
#include "tests/support/has.hpp"

#include <troupe/metrics.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace troupe::test {

/// Rows of labels, predictions and weights. All of them are exact in float32.
struct columns {
  std::vector<float> label, prediction, weight;
  size_t rows() const { return label.size(); }
};

/// Pseudo-random multiples of 2^-16 in [0, 1).
class draws {
 public:
  explicit draws(uint64_t seed) : state_(seed * 2 + 1) {}
  float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state_ >> 48) / 65536.0f;
  }
  int next_below(int n) { return static_cast<int>(next() * static_cast<float>(n)); }

 private:
  uint64_t state_;
};

/// Labels are 0 or 1. Predictions are in [0, 1] and correlate with the labels; some are 0, 1 or equal to a threshold.
/// Weights are in [0, 4), and some are 0.
inline columns binary_rows(size_t rows = 300) {
  draws d{3};
  columns c;
  for (size_t i = 0; i < rows; ++i) {
    const bool positive = d.next() < 0.4f;
    const float p = i % 17 == 0   ? 0.0f
                    : i % 19 == 0 ? 1.0f
                    : i % 11 == 0 ? 0.5f
                                  : 0.6f * d.next() + (positive ? 0.35f : 0.0f);
    c.label.push_back(positive ? 1.0f : 0.0f);
    c.prediction.push_back(std::round(p * 4096) / 4096);
    c.weight.push_back(i % 7 == 0 ? 0.0f : std::floor(d.next() * 64) / 16);
  }
  return c;
}

/// Classes in [0, 5): 3 is never a label, and 4 is neither a label nor a prediction.
inline columns class_rows(size_t rows = 300) {
  draws d{5};
  columns c;
  for (size_t i = 0; i < rows; ++i) {
    const int label = d.next_below(3), other = d.next_below(4);
    c.label.push_back(static_cast<float>(label));
    c.prediction.push_back(static_cast<float>(d.next() < 0.6f ? label : other));
    c.weight.push_back(i % 7 == 0 ? 0.0f : std::floor(d.next() * 64) / 16);
  }
  return c;
}

/// Numbers in [-1, 7] with predictions near them; in some rows both are 0.
inline columns number_rows(size_t rows = 300) {
  draws d{7};
  columns c;
  for (size_t i = 0; i < rows; ++i) {
    const float label = i % 13 == 0 ? 0.0f : std::round((d.next() * 8 - 1) * 1024) / 1024;
    c.label.push_back(label);
    c.prediction.push_back(i % 23 == 0 ? 0.0f : label + std::round((d.next() - 0.5f) * 1024) / 1024);
    c.weight.push_back(i % 7 == 0 ? 0.0f : std::floor(d.next() * 64) / 16);
  }
  return c;
}

/// Makes a metric from three symbols, float32 [batch]. The last one is invalid if the metric has no weights.
using metric_builder = std::function<metric(symbol labels, symbol predictions, symbol weights)>;
/// Computes the value or values of the metric directly, in float64. If the metric has no weights, the columns hold 1
/// for each.
using direct_value = std::function<std::vector<double>(const columns&)>;

inline symbol whole(symbol x) { return cast(x, dtype::int64); }

/// One metric, with a program for each number of rows.
class measured {
 public:
  measured(const metric_builder& build, bool weighted) : build_(build), weighted_(weighted) {}

  /// The totals over rows [first, last) in batches of `batch` rows; the last batch may be short.
  metric_totals totals(const columns& data, size_t first, size_t last, size_t batch) {
    auto& one = program_of(static_cast<int64_t>(std::min(batch, std::max<size_t>(last - first, 1))));
    metric_totals all{{one.p->outputs().begin(), one.p->outputs().end()}, functions_of(one.spec.metrics)};
    for (size_t at = first; at < last; at += batch) {
      const size_t rows = std::min(batch, last - at);
      auto& bound = program_of(static_cast<int64_t>(rows));
      REQUIRE_MESSAGE(run(bound, data, at, rows) == step_status::ok, bound.p->last_error().message);
      std::vector<tensor> values;
      for (size_t i = 0; i < bound.p->outputs().size(); ++i)
        values.push_back(bound.p->output(static_cast<int32_t>(i)));
      all.add(values);
    }
    return all;
  }
  /// The error of a step over all rows, which must fail.
  std::string error_of(const columns& data) {
    auto& bound = program_of(static_cast<int64_t>(data.rows()));
    CHECK(run(bound, data, 0, data.rows()) == step_status::bad_input);
    return bound.p->last_error().message;
  }

 private:
  struct bound_program {
    graph g;
    model_spec spec;
    std::unique_ptr<program> p;
  };

  bound_program& program_of(int64_t rows) {
    auto& one = programs_[rows];
    if (one)
      return *one;
    one = std::make_unique<bound_program>();
    const auto batch = one->g.unknown("batch");
    const auto column = [&](const std::string& name) { return one->g.placeholder(name, dtype::float32, {batch}); };
    const symbol label = column("label"), prediction = column("prediction"),
                 weight = weighted_ ? column("weight") : symbol{};
    one->spec.mode = mode::evaluate;
    one->spec.loss = one->g.constant(tensor::scalar(0.0f));
    one->spec.metrics = {{"metric", build_(label, prediction, weight)}};
    REQUIRE_MESSAGE(one->g.status(), (one->g.status() ? "" : one->g.status().error().message));
    auto planned = program::make(one->g, one->spec, *parameter_layout::of(one->g, std::nullopt), {.batch = rows});
    REQUIRE_MESSAGE(planned, (planned ? "" : planned.error().message));
    one->p = std::move(*planned);
    return *one;
  }

  step_status run(bound_program& bound, const columns& data, size_t first, size_t rows) {
    std::vector<tensor> fed;
    std::vector<const std::byte*> feeds;
    for (const auto& c : bound.p->inputs()) {
      const auto& column = c.name == "label" ? data.label : c.name == "prediction" ? data.prediction : data.weight;
      fed.push_back(
          tensor::of<float>({static_cast<int64_t>(rows)}, std::span<const float>{column}.subspan(first, rows)));
      feeds.push_back(fed.back().data());
    }
    return bound.p->run({.feeds = feeds});
  }

  metric_builder build_;
  bool weighted_;
  std::map<int64_t, std::unique_ptr<bound_program>> programs_;
};

/// The value of the metric: one number, or the elements of an array.
inline std::vector<double> values_of(const metric_totals& totals) {
  const auto results = totals.results();
  REQUIRE_MESSAGE(results, (results ? "" : results.error().message));
  if (const auto number = results->numbers.find("metric"); number != results->numbers.end())
    return {number->second};
  const auto elements = results->arrays.at("metric").as<double>();
  return {elements.begin(), elements.end()};
}

inline void check_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - wanted[i]) <= 1e-12 * std::max(1.0, std::abs(wanted[i])));
  }
}

/// Checks a metric with weights and without, in batches of 1, 7 and 128 rows and all rows, with the totals of 1, 2 and
/// 4 parts added. Without any row each value must be 0.
inline void check_metric(const columns& data, const metric_builder& build, const direct_value& direct) {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    columns given = data;
    if (!weighted)
      given.weight.assign(data.rows(), 1.0f);
    const auto wanted = direct(given);
    measured m{build, weighted};
    for (const size_t batch : {size_t{1}, size_t{7}, size_t{128}, data.rows()})
      for (const size_t parts : {size_t{1}, size_t{2}, size_t{4}}) {
        CAPTURE(batch);
        CAPTURE(parts);
        auto all = m.totals(given, 0, data.rows() / parts, batch);
        for (size_t p = 1; p < parts; ++p)
          all.add(m.totals(given, data.rows() * p / parts, data.rows() * (p + 1) / parts, batch));
        check_near(values_of(all), wanted);
      }
    check_near(values_of(m.totals(given, 0, 0, 7)), std::vector<double>(wanted.size(), 0.0));
    if (weighted) {
      given.weight.assign(data.rows(), 0.0f);
      check_near(values_of(m.totals(given, 0, data.rows(), 128)), std::vector<double>(wanted.size(), 0.0));
      given.weight[2] = -0.5f;
      CHECK(has(m.error_of(given), "weights: -0.5 at [2] is not in [0, inf): check_range"));
      given.weight[2] = std::numeric_limits<float>::quiet_NaN();
      CHECK(has(m.error_of(given), "weights: nan at [2] is not in [0, inf): check_range"));
    }
  }
}

/// Σ over rows of weight · f(row).
template <class F>
double sum_over(const columns& c, F f) {
  long double sum = 0;
  for (size_t i = 0; i < c.rows(); ++i)
    if (c.weight[i] != 0)
      sum += static_cast<long double>(c.weight[i]) * static_cast<long double>(f(i));
  return static_cast<double>(sum);
}
inline double weight_of(const columns& c) {
  return sum_over(c, [](size_t) { return 1.0; });
}
template <class F>
double mean_over(const columns& c, F f) {
  return sum_over(c, f) / weight_of(c);
}

}  // namespace troupe::test
