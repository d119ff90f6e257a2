// A harness for side-by-side measurements: in each round both variants run, and the medians of the rounds are compared.
//
//   bench::suite s{"step_rate", argc, argv};
//   s.compare({.name = "784-128-10/adam", .reference_name = "eigen"}, ours, reference);   // each runs n units of work
//
// By default time is the processor time of the calling thread, so that other programs on the machine disturb little.
// Work on more than one thread must be timed by the wall clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

enum class clock_kind { thread, wall };

inline double now(clock_kind kind) {
  timespec t{};
  clock_gettime(kind == clock_kind::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const size_t n = x.size();
  return n == 0 ? 0 : n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/// Does `n` units of work.
using work = std::function<void(int64_t n)>;

struct case_options {
  std::string name;
  std::string unit = "steps/s";
  std::string reference_name;
  int rounds = 15;
  double seconds = 0.05;  ///< Time for each variant in each round.
  clock_kind clock = clock_kind::thread;
  work probe = {};  ///< Also measured in each round: the machine's speed at that time.
  int64_t probe_units = 1000;
  int64_t granule = 1;  ///< The number of units is a multiple of this.
};

struct result {
  double ours = 0, reference = 0;  ///< Medians, in units of work a second.
  double ratio = 0, ratio_min = 0, ratio_max = 0;
  double probe = 0, ours_per_probe = 0, reference_per_probe = 0;  ///< Medians of the rates and of the ratios.
};

/// The rate of `w` in units of work a second, measured over `n` units.
inline double rate(const work& w, int64_t n, clock_kind clock) {
  const double start = now(clock);
  w(n);
  return static_cast<double>(n) / std::max(1e-9, now(clock) - start);
}

/// The number of units that take about `seconds`.
inline int64_t units_for(const work& w, double seconds, clock_kind clock, int64_t granule = 1) {
  int64_t n = granule;
  for (;; n *= 2)
    if (const double r = rate(w, n, clock); static_cast<double>(n) / r > seconds / 8)
      return std::max<int64_t>(1, static_cast<int64_t>(r * seconds / static_cast<double>(granule))) * granule;
}

/// Whether --json is among the arguments. At --help or an unknown flag it prints the usage and ends the process, since
/// a benchmark takes minutes. `parts`, if given, receives the other arguments, which choose among the rows.
inline bool json_wanted(const std::string& name, int argc, char** argv, std::vector<std::string>* parts = nullptr) {
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (parts && !argument.starts_with("-")) {
      parts->emplace_back(argument);
    } else {
      const bool help = argument == "--help" || argument == "-h";
      if (!help)
        std::fprintf(stderr, "bench_%s: there is no %s\n", name.c_str(), argv[i]);
      std::fprintf(help ? stdout : stderr, "usage: bench_%s [--json]%s\n", name.c_str(),
                   parts ? " [PART OF A ROW'S NAME...]" : "");
      std::exit(help ? 0 : 2);
    }
  }
  return json;
}

class suite {
 public:
  suite(std::string name, int argc, char** argv) : name_(std::move(name)), json_(json_wanted(name_, argc, argv)) {
    if (!json_)
      std::printf("%-28s %-8s %12s %12s  %6s (min, max)\n", name_.c_str(), "", "ours", "reference", "ratio");
  }

  result compare(const case_options& o, const work& ours, const work& reference) {
    const int64_t n = units_for(ours, o.seconds, o.clock, o.granule),
                  m = units_for(reference, o.seconds, o.clock, o.granule);
    std::vector<double> a, b, ratios, probes, ours_per_probe, reference_per_probe;
    for (int round = 0; round < o.rounds; ++round) {
      const bool first = round % 2 == 0;
      if (first)
        a.push_back(rate(ours, n, o.clock));
      b.push_back(rate(reference, m, o.clock));
      if (!first)
        a.push_back(rate(ours, n, o.clock));
      ratios.push_back(a.back() / b.back());
      if (o.probe) {
        probes.push_back(rate(o.probe, o.probe_units, o.clock));
        ours_per_probe.push_back(a.back() / probes.back());
        reference_per_probe.push_back(b.back() / probes.back());
      }
    }
    result r = summary(a, b, std::move(ratios));
    r.probe = median(probes), r.ours_per_probe = median(ours_per_probe),
    r.reference_per_probe = median(reference_per_probe);
    print(o, r, o.rounds);
    return r;
  }
  /// Compares values that were measured elsewhere, one of each in every round. With `less_is_better`, as for times, the
  /// ratio is reference / ours, so that a greater ratio is always better.
  result compare(const case_options& o, const std::vector<double>& ours, const std::vector<double>& reference,
                 bool less_is_better) {
    std::vector<double> ratios;
    for (size_t i = 0; i < ours.size(); ++i)
      ratios.push_back(less_is_better ? reference[i] / ours[i] : ours[i] / reference[i]);
    const result r = summary(ours, reference, std::move(ratios));
    print(o, r, static_cast<int>(ours.size()));
    return r;
  }
  /// Prints a line of explanation, which the JSON does not have.
  void note(const std::string& text) const {
    if (!json_)
      std::printf("  %s\n", text.c_str());
  }

 private:
  static result summary(const std::vector<double>& ours, const std::vector<double>& reference,
                        std::vector<double> ratios) {
    return {median(ours), median(reference), median(ratios), *std::min_element(ratios.begin(), ratios.end()),
            *std::max_element(ratios.begin(), ratios.end())};
  }
  void print(const case_options& o, const result& r, int rounds) const {
    const int digits = std::min(r.ours, r.reference) < 100 ? 3 : 1;
    if (json_)
      std::printf(
          "{\"bench\":\"%s\",\"case\":\"%s\",\"unit\":\"%s\",\"ours\":%.6g,\"reference\":%.6g,\"reference_name\":\"%"
          "s\","
          "\"ratio\":%.4f,\"ratio_min\":%.4f,\"ratio_max\":%.4f,\"rounds\":%d}\n",
          name_.c_str(), o.name.c_str(), o.unit.c_str(), r.ours, r.reference, o.reference_name.c_str(), r.ratio,
          r.ratio_min, r.ratio_max, rounds);
    else
      std::printf("%-28s %-8s %12.*f %12.*f  %6.3f (%.3f, %.3f)  against %s\n", o.name.c_str(), o.unit.c_str(), digits,
                  r.ours, digits, r.reference, r.ratio, r.ratio_min, r.ratio_max, o.reference_name.c_str());
    std::fflush(stdout);
  }

  const std::string name_;
  const bool json_;
};

}  // namespace troupe::bench
