#include "tests/models/metrics/measure.hpp"
#include "tests/support/has.hpp"

#include <troupe/metrics.hpp>

namespace troupe::test {

namespace {

struct counts {
  double tp = 0, fp = 0, fn = 0, tn = 0;
};

/// The weighted counts over all rows, where positive means above the threshold. The threshold is rounded to float32
/// first.
counts at_threshold(const columns& c, double threshold) {
  const auto of = [&](bool positive, bool above) {
    return sum_over(c, [&](size_t i) {
      return (c.label[i] != 0) == positive && (c.prediction[i] > static_cast<float>(threshold)) == above;
    });
  };
  return {of(true, true), of(false, true), of(true, false), of(false, false)};
}

std::vector<counts> at_even_thresholds(const columns& c, int n) {
  std::vector<counts> all;
  for (int i = 0; i < n; ++i)
    all.push_back(at_threshold(c, i == 0 ? -1e-7 : i == n - 1 ? 1 + 1e-7 : static_cast<double>(i) / (n - 1)));
  return all;
}

/// The sum of of_interval(low, high), the area between neighbouring thresholds.
template <class F>
double area(const columns& c, int n, F of_interval) {
  const auto all = at_even_thresholds(c, n);
  double sum = 0;
  for (size_t i = 1; i < all.size(); ++i)
    sum += of_interval(all[i - 1], all[i]);
  return sum;
}

double recall_of(const counts& c) { return (c.tp + 1e-6) / (c.tp + c.fn + 1e-6); }
double precision_of(const counts& c) { return (c.tp + 1e-6) / (c.tp + c.fp + 1e-6); }
double false_rate_of(const counts& c) { return c.fp / (c.fp + c.tn + 1e-6); }

/// Rows whose predictions are 0 or 1.
columns decided_rows() {
  columns c = binary_rows();
  for (auto& p : c.prediction)
    p = p > 0.5f ? 1.0f : 0.0f;
  return c;
}

using metrics::curve, metrics::summation;

}  // namespace

TEST_CASE("[MET-8] precision is the share of what is predicted positive that is so, and 0 where nothing is") {
  const auto build = [](symbol l, symbol p, symbol w) { return metrics::precision(whole(l), p, {.weights = w}); };
  check_metric(decided_rows(), build, [](const columns& c) -> std::vector<double> {
    const auto n = at_threshold(c, 0.5);
    return {n.tp / (n.tp + n.fp)};
  });
  columns nothing = decided_rows();
  nothing.prediction.assign(nothing.rows(), 0.0f);
  check_metric(nothing, build, [](const columns&) -> std::vector<double> { return {0}; });
}

TEST_CASE("[MET-9] recall is the share of what is positive that is predicted so, and 0 where nothing is positive") {
  const auto build = [](symbol l, symbol p, symbol w) {
    return metrics::recall(l, greater(p, number_like(p, 0.5)), {.weights = w});
  };
  check_metric(binary_rows(), build, [](const columns& c) -> std::vector<double> {
    const auto n = at_threshold(c, 0.5);
    return {n.tp / (n.tp + n.fn)};
  });
  columns nothing = binary_rows();
  nothing.label.assign(nothing.rows(), 0.0f);
  check_metric(nothing, build, [](const columns&) -> std::vector<double> { return {0}; });
}

TEST_CASE("[MET-10] f1 is the harmonic mean of precision and recall, and 0 where nothing is or is predicted positive") {
  const auto build = [](symbol l, symbol p, symbol w) { return metrics::f1(l, p, {.weights = w}); };
  check_metric(decided_rows(), build, [](const columns& c) -> std::vector<double> {
    const auto n = at_threshold(c, 0.5);
    const double precision = n.tp / (n.tp + n.fp), recall = n.tp / (n.tp + n.fn);
    return {2 * precision * recall / (precision + recall)};
  });
  columns nothing = decided_rows();
  nothing.prediction.assign(nothing.rows(), 0.0f);
  nothing.label.assign(nothing.rows(), 0.0f);
  check_metric(nothing, build, [](const columns&) -> std::vector<double> { return {0}; });
}

TEST_CASE(
    "[MET-11, MET-12] precision and recall at thresholds are in the order of the thresholds, which need not ascend") {
  const std::vector<double> thresholds{0.5, 0, 0.3, 1, 0.75, 0.5};
  check_metric(
      binary_rows(),
      [&](symbol l, symbol p, symbol w) { return metrics::precision_at_thresholds(l, p, thresholds, {.weights = w}); },
      [&](const columns& c) {
        std::vector<double> all;
        for (const double t : thresholds) {
          const auto n = at_threshold(c, t);
          all.push_back(n.tp / (n.tp + n.fp + 1e-7));
        }
        return all;
      });
  check_metric(
      binary_rows(),
      [&](symbol l, symbol p, symbol w) { return metrics::recall_at_thresholds(l, p, thresholds, {.weights = w}); },
      [&](const columns& c) {
        std::vector<double> all;
        for (const double t : thresholds) {
          const auto n = at_threshold(c, t);
          all.push_back(n.tp / (n.tp + n.fn + 1e-7));
        }
        return all;
      });
}

TEST_CASE("[MET-37] true and false positives and negatives are the weights of elements by label and prediction") {
  using metric_of_pairs = metric (*)(symbol, symbol, metrics::options, std::source_location);
  using member = double counts::*;
  for (const auto& [of, which] : {std::pair<metric_of_pairs, member>{metrics::true_positives, &counts::tp},
                                  {metrics::false_positives, &counts::fp},
                                  {metrics::true_negatives, &counts::tn},
                                  {metrics::false_negatives, &counts::fn}}) {
    const auto build = [of = of](symbol l, symbol p, symbol w) {
      return of(l, p, {.weights = w}, std::source_location::current());
    };
    check_metric(decided_rows(), build,
                 [which = which](const columns& c) -> std::vector<double> { return {at_threshold(c, 0.5).*which}; });
  }
}

TEST_CASE(
    "[MET-38] true and false positives and negatives at thresholds are in the order of the thresholds, which need not "
    "ascend") {
  const std::vector<double> thresholds{0.5, 0, 0.3, 1, 0.75, 0.5};
  using metric_of_thresholds = metric (*)(symbol, symbol, std::vector<double>, metrics::options, std::source_location);
  using member = double counts::*;
  for (const auto& [of, which] :
       {std::pair<metric_of_thresholds, member>{metrics::true_positives_at_thresholds, &counts::tp},
        {metrics::false_positives_at_thresholds, &counts::fp},
        {metrics::true_negatives_at_thresholds, &counts::tn},
        {metrics::false_negatives_at_thresholds, &counts::fn}}) {
    const auto build = [&, of = of](symbol l, symbol p, symbol w) {
      return of(l, p, thresholds, {.weights = w}, std::source_location::current());
    };
    check_metric(binary_rows(), build, [&, which = which](const columns& c) {
      std::vector<double> all;
      for (const double t : thresholds)
        all.push_back(at_threshold(c, t).*which);
      return all;
    });
  }
}

TEST_CASE("[MET-39] recall_at_precision is the greatest recall of the thresholds with that precision") {
  for (const double precision : {0.0, 0.4, 0.8, 0.95, 1.0})
    for (const int n : {200, 11})
      check_metric(
          binary_rows(),
          [=](symbol l, symbol p, symbol w) {
            return metrics::recall_at_precision(l, p, precision, {.weights = w, .thresholds = n});
          },
          [=](const columns& c) -> std::vector<double> {
            double found = 0;
            for (const auto& x : at_even_thresholds(c, n))
              if ((x.tp + x.fp > 0 ? x.tp / (x.tp + x.fp) : 0) >= precision - 1e-12)
                found = std::max(found, x.tp / (x.tp + x.fn));
            return {found};
          });
}

TEST_CASE("[MET-40] specificity_at_sensitivity is the specificity at the last threshold with the nearest sensitivity") {
  for (const double sensitivity : {0.0, 0.3, 0.9, 1.0})
    for (const int n : {200, 11})
      check_metric(
          binary_rows(),
          [=](symbol l, symbol p, symbol w) {
            return metrics::specificity_at_sensitivity(l, p, sensitivity, {.weights = w, .thresholds = n});
          },
          [=](const columns& c) -> std::vector<double> {
            double found = 0, nearest = 2;
            for (const auto& x : at_even_thresholds(c, n))
              if (const double away = std::abs(x.tp / (x.tp + x.fn + 1e-7) - sensitivity); away <= nearest) {
                nearest = away;
                found = x.tn / (x.tn + x.fp + 1e-7);
              }
            return {found};
          });
}

TEST_CASE("[MET-13] precision_at_recall is the precision at the greatest threshold with that recall") {
  for (const double recall : {0.25, 0.8, 0.99, 1.0})
    for (const int n : {200, 11})
      check_metric(
          binary_rows(),
          [=](symbol l, symbol p, symbol w) {
            return metrics::precision_at_recall(l, p, recall, {.weights = w, .thresholds = n});
          },
          [=](const columns& c) -> std::vector<double> {
            double found = 0;
            for (const auto& x : at_even_thresholds(c, n))
              if (x.tp / (x.tp + x.fn) >= recall - 1e-12)
                found = (x.tp + 1e-7) / (x.tp + x.fp + 1e-7);
            return {found};
          });
}

TEST_CASE(
    "[MET-14] sensitivity_at_specificity is the sensitivity at the first threshold with the nearest specificity") {
  for (const double specificity : {0.0, 0.3, 0.9})
    for (const int n : {200, 11})
      check_metric(
          binary_rows(),
          [=](symbol l, symbol p, symbol w) {
            return metrics::sensitivity_at_specificity(l, p, specificity, {.weights = w, .thresholds = n});
          },
          [=](const columns& c) -> std::vector<double> {
            double found = 0, nearest = 2;
            for (const auto& x : at_even_thresholds(c, n))
              if (const double away = std::abs(x.tn / (x.tn + x.fp + 1e-7) - specificity); away < nearest) {
                nearest = away;
                found = x.tp / (x.tp + x.fn + 1e-7);
              }
            return {found};
          });
}

TEST_CASE(
    "[MET-15] auc is the area under recall over the rate of false positives at 200 thresholds by the trapezoidal "
    "rule") {
  const auto trapezoid = [](const counts& low, const counts& high) {
    return (false_rate_of(low) - false_rate_of(high)) * (recall_of(low) + recall_of(high)) / 2;
  };
  check_metric(
      binary_rows(), [](symbol l, symbol p, symbol w) { return metrics::auc(l, p, {.weights = w}); },
      [&](const columns& c) -> std::vector<double> { return {area(c, 200, trapezoid)}; });
  check_metric(
      binary_rows(),
      [](symbol l, symbol p, symbol w) {
        return metrics::auc(whole(l), cast(p, dtype::float64), {.weights = w, .thresholds = 2});
      },
      [&](const columns& c) -> std::vector<double> { return {area(c, 2, trapezoid)}; });
  // For the ROC curve, careful interpolation is the trapezoidal rule.
  check_metric(
      binary_rows(),
      [](symbol l, symbol p, symbol w) {
        return metrics::auc(l, p, {.weights = w, .summation = summation::careful_interpolation});
      },
      [&](const columns& c) -> std::vector<double> { return {area(c, 200, trapezoid)}; });
}

TEST_CASE("[MET-16] minoring and majoring take the lower and the upper end of each interval") {
  for (const auto of : {curve::roc, curve::pr})
    for (const auto how : {summation::minoring, summation::majoring})
      check_metric(
          binary_rows(),
          [=](symbol l, symbol p, symbol w) {
            return metrics::auc(l, p, {.weights = w, .curve = of, .summation = how, .thresholds = 50});
          },
          [=](const columns& c) -> std::vector<double> {
            return {area(c, 50, [=](const counts& low, const counts& high) {
              const auto x = [of](const counts& n) { return of == curve::roc ? false_rate_of(n) : recall_of(n); };
              const auto y = [of](const counts& n) { return of == curve::roc ? recall_of(n) : precision_of(n); };
              return (x(low) - x(high))
                     * (how == summation::minoring ? std::min(y(low), y(high)) : std::max(y(low), y(high)));
            })};
          });
}

TEST_CASE("[MET-17] the area under precision over recall by the trapezoidal rule") {
  check_metric(
      binary_rows(),
      [](symbol l, symbol p, symbol w) { return metrics::auc(l, p, {.weights = w, .curve = curve::pr}); },
      [](const columns& c) -> std::vector<double> {
        return {area(c, 200, [](const counts& low, const counts& high) {
          return (recall_of(low) - recall_of(high)) * (precision_of(low) + precision_of(high)) / 2;
        })};
      });
}

TEST_CASE("[MET-18] careful interpolation integrates precision while true and false positives grow together") {
  check_metric(
      binary_rows(),
      [](symbol l, symbol p, symbol w) {
        return metrics::auc(l, p, {.weights = w, .curve = curve::pr, .summation = summation::careful_interpolation});
      },
      [](const columns& c) -> std::vector<double> {
        return {area(c, 200, [](const counts& low, const counts& high) {
          const double gained = low.tp - high.tp, from = high.tp + high.fp, to = low.tp + low.fp,
                       positives = high.tp + high.fn;
          if (to - from <= 0)
            return 0.0;
          const double slope = gained / (to - from), start = high.tp - slope * from;
          return slope * (gained + (from > 0 ? start * std::log(to / from) : 0.0)) / positives;
        })};
      });
  // The classic example: linear interpolation between two distant points overestimates the area.
  columns far;
  far.label = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  far.prediction.assign(15, 0.25f);
  far.prediction[0] = 0.9f;
  far.weight.assign(15, 1.0f);
  const auto with = [&](summation how) {
    measured m{[=](symbol l, symbol p, symbol) { return metrics::auc(l, p, {.curve = curve::pr, .summation = how}); },
               false};
    return values_of(m.totals(far, 0, 15, 15)).front();
  };
  CHECK(with(summation::careful_interpolation) < with(summation::trapezoidal) - 0.1);
}

TEST_CASE("[MET-33] a probability outside of [0, 1] is an error of the step that names its place and value") {
  const metric_builder all[] = {
      [](symbol l, symbol p, symbol) { return metrics::auc(l, p); },
      [](symbol l, symbol p, symbol) { return metrics::precision_at_thresholds(l, p, {0.5}); },
      [](symbol l, symbol p, symbol) { return metrics::precision_at_recall(l, p, 0.5); },
      [](symbol l, symbol p, symbol) { return metrics::sensitivity_at_specificity(l, p, 0.5); },
      [](symbol l, symbol p, symbol) { return metrics::specificity_at_sensitivity(l, p, 0.5); },
      [](symbol l, symbol p, symbol) { return metrics::recall_at_precision(l, p, 0.5); },
      [](symbol l, symbol p, symbol) { return metrics::false_negatives_at_thresholds(l, p, {0.5}); },
      [](symbol l, symbol p, symbol) { return metrics::log_loss(l, p); }};
  for (const auto& build : all)
    for (const auto& [wrong, text] :
         {std::pair{1.5f, "1.5"}, {-0.25f, "-0.25"}, {std::numeric_limits<float>::quiet_NaN(), "nan"}}) {
      measured m{build, false};
      columns data = binary_rows(8);
      data.prediction[5] = wrong;
      CHECK(has(m.error_of(data), "predictions: " + std::string{text} + " at [5] is not in [0, 1]: check_range"));
    }
}

}  // namespace troupe::test
