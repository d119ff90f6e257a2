// Measures several ways to do the same work: each round runs all of them and begins with another one.
#pragma once

#include "tests/bench/bench.hpp"

namespace troupe::bench {

struct contestant {
  std::string name;
  work run;
};

struct contest_result {
  std::vector<double> rates;                       ///< Medians in units of work a second, by contestant.
  size_t best_other = 0;                           ///< The index of the fastest other contestant; 0 if there is none.
  double ratio = 0, ratio_min = 0, ratio_max = 0;  ///< Median and range, over the rounds, of rates: first / best other.
  double probe = 0, first_per_probe = 0;           ///< Medians: the probe's rate, and first / probe.
};

/// Uses the rounds, seconds, clock, granule and probe of the options. The first contestant is ours.
inline contest_result contest(const case_options& o, const std::vector<contestant>& all) {
  const size_t n = all.size();
  std::vector<int64_t> units;
  for (const auto& each : all)
    units.push_back(units_for(each.run, o.seconds, o.clock, o.granule));
  std::vector<std::vector<double>> rates(n);
  std::vector<double> probes, per_probe;
  for (int round = 0; round < o.rounds; ++round) {
    for (size_t i = 0; i < n; ++i) {
      const size_t turn = (i + static_cast<size_t>(round)) % n;
      rates[turn].push_back(rate(all[turn].run, units[turn], o.clock));
    }
    probes.push_back(rate(o.probe, o.probe_units, o.clock));
    per_probe.push_back(rates[0].back() / probes.back());
  }
  contest_result r{.probe = median(probes), .first_per_probe = median(per_probe)};
  for (const auto& of_one : rates)
    r.rates.push_back(median(of_one));
  if (n == 1)
    return r;
  r.best_other = static_cast<size_t>(std::max_element(r.rates.begin() + 1, r.rates.end()) - r.rates.begin());
  std::vector<double> ratios;
  for (size_t i = 0; i < rates[0].size(); ++i)
    ratios.push_back(rates[0][i] / rates[r.best_other][i]);
  r.ratio = median(ratios), r.ratio_min = *std::min_element(ratios.begin(), ratios.end()),
  r.ratio_max = *std::max_element(ratios.begin(), ratios.end());
  return r;
}

}  // namespace troupe::bench
