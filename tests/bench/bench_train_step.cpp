// Training steps a second of the measured models: our program on one thread in a bare loop, compared with loops written
// by hand on Eigen and, where it is installed, on oneDNN; and the share of the core's multiply-add peak. A hand-written
// loop is measured only after its loss has agreed with ours. Then our program on two threads compared with itself on
// one, by the wall clock.
//
//   bench_train_step [--json] [PART OF A ROW'S NAME]...
#include "tests/bench/bench.hpp"
#include "tests/bench/contest.hpp"
#include "tests/bench/fma_peak.hpp"
#include "tests/bench/hand_written_lenet.hpp"
#include "tests/bench/hand_written_mlp.hpp"
#include "tests/bench/our_step.hpp"

#include <cmath>
#include <memory>

namespace troupe::bench {
namespace {

constexpr int64_t compared_steps = 10;
constexpr double loss_tolerance = 5e-4;

struct rule {
  std::string name;
  optimizer ours;
  hand_optimizer theirs;
};

/// The layer widths at the begin of a dense row's name; empty for other rows.
std::vector<int64_t> widths_of(const std::string& name) {
  std::vector<int64_t> widths;
  for (size_t at = 0; at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0; ++at) {
    size_t digits = 0;
    widths.push_back(std::stoll(name.substr(at), &digits));
    at += digits;
  }
  return widths;
}

/// Wraps a hand-written loop: it starts from our initial values and must reach our loss.
template <class Loop>
contestant by_hand(std::string name, std::shared_ptr<Loop> loop, const measured_model& m, const rule& r,
                   const our_step& ours, double loss) {
  size_t at = 0;
  for (const tensor& value : our_step{m, r.ours}.values())
    loop->start(at++, value.as<float>());
  int64_t step = 0;
  const auto run = [loop, step, &ours](int64_t n) mutable {
    float last = 0;
    for (const int64_t end = step + n; step < end; ++step)
      last = loop->step(ours.data().pixels(step), ours.data().labels(step));
    return last;
  };
  auto checked = run;
  if (const double theirs = checked(compared_steps); !(std::abs(theirs - loss) <= loss_tolerance * std::abs(loss))) {
    std::fprintf(stderr, "%s, %s: after %lld steps the loss is %.7g by hand on %s and %.7g ours\n", m.name.c_str(),
                 r.name.c_str(), static_cast<long long>(compared_steps), theirs, name.c_str(), loss);
    std::exit(1);
  }
  return {std::move(name), [checked](int64_t n) mutable {
            if (!std::isfinite(checked(n)))
              std::abort();
          }};
}

class table {
 public:
  explicit table(bool json) : json_(json) {}
  void begin_one_thread() const {
    if (!json_)
      std::printf("%-30s %-9s %10s %10s %10s %6s  %6s (min, max)\n", "train_step, steps/s", "", "ours", "Eigen",
                  "oneDNN", "share", "ratio");
  }
  void begin_two_threads() const {
    if (!json_)
      std::printf("%-30s %-9s %10s %10s  %6s (min, max)\n", "two threads, steps/s", "", "two", "one", "ratio");
  }
  void add_two_threads(const measured_model& m, const rule& r, const contest_result& c) const {
    if (json_)
      std::printf(
          "{\"bench\":\"train_step\",\"case\":\"%s\",\"optimizer\":\"%s\",\"threads\":2,\"unit\":\"steps/"
          "s\",\"ours\":%.6g,\"reference\":%.6g,"
          "\"reference_name\":\"one thread\",\"ratio\":%.4f,\"ratio_min\":%.4f,\"ratio_max\":%.4f}\n",
          m.name.c_str(), r.name.c_str(), c.rates[0], c.rates[1], c.ratio, c.ratio_min, c.ratio_max);
    else
      std::printf("%-30s %-9s %10s %10s  %6.3f (%.3f, %.3f)\n", m.name.c_str(), r.name.c_str(),
                  text(c.rates[0]).c_str(), text(c.rates[1]).c_str(), c.ratio, c.ratio_min, c.ratio_max);
    std::fflush(stdout);
  }
  void add(const measured_model& m, const rule& r, const std::vector<contestant>& all, const contest_result& c,
           int64_t flops) const {
    const double share = c.first_per_probe * static_cast<double>(flops) / flops_of_peak_unit();
    const auto rate_of = [&](std::string_view name) {
      const auto found = std::ranges::find(all, name, &contestant::name);
      return found == all.end() ? 0.0 : c.rates[static_cast<size_t>(found - all.begin())];
    };
    if (json_) {
      std::printf("{\"bench\":\"train_step\",\"case\":\"%s\",\"optimizer\":\"%s\",\"threads\":1,\"unit\":\"steps/s\"",
                  m.name.c_str(), r.name.c_str());
      for (size_t i = 0; i < all.size(); ++i)
        std::printf(",\"%s\":%.6g", all[i].name.c_str(), c.rates[i]);
      std::printf(",\"flops\":%lld,\"peak\":%.6g,\"share\":%.4f", static_cast<long long>(flops),
                  c.probe * flops_of_peak_unit(), share);
      if (c.best_other != 0)
        std::printf(",\"reference_name\":\"%s\",\"ratio\":%.4f,\"ratio_min\":%.4f,\"ratio_max\":%.4f",
                    all[c.best_other].name.c_str(), c.ratio, c.ratio_min, c.ratio_max);
      std::printf("}\n");
    } else {
      std::printf("%-30s %-9s %10s %10s %10s %6.2f ", m.name.c_str(), r.name.c_str(), text(rate_of("ours")).c_str(),
                  text(rate_of("eigen")).c_str(), text(rate_of("onednn")).c_str(), share);
      c.best_other == 0 ? std::printf("      -\n")
                        : std::printf(" %6.3f (%.3f, %.3f)\n", c.ratio, c.ratio_min, c.ratio_max);
    }
    std::fflush(stdout);
  }

 private:
  static std::string text(double rate) {
    char line[32] = "-";
    if (rate > 0)
      std::snprintf(line, sizeof line, "%.*f", rate < 100 ? 2 : 0, rate);
    return line;
  }
  bool json_;
};

void measure(const table& to, const measured_model& m, const rule& r) {
  our_step ours{m, r.ours};
  ours.run(compared_steps);
  std::vector<contestant> all{{"ours", [&](int64_t n) { ours.run(n); }}};
  if (const auto widths = widths_of(m.name); !widths.empty()) {
    all.push_back(by_hand("eigen", std::make_shared<hand_written_mlp<eigen_products>>(widths, m.batch, r.theirs), m, r,
                          ours, ours.loss()));
#ifdef TROUPE_BENCH_ONEDNN
    all.push_back(by_hand("onednn", std::make_shared<hand_written_mlp<onednn_products>>(widths, m.batch, r.theirs), m,
                          r, ours, ours.loss()));
#endif
  }
#ifdef TROUPE_BENCH_ONEDNN
  if (m.name.starts_with("LeNet"))
    all.push_back(by_hand("onednn", std::make_shared<hand_written_lenet>(m.batch, r.theirs), m, r, ours, ours.loss()));
#endif
  to.add(m, r, all, contest({.rounds = 11, .seconds = 0.08, .probe = fma_peak, .probe_units = 400}, all), ours.flops());
}

void measure_two_threads(const table& to, const measured_model& m, const rule& r) {
  our_step two{m, r.ours, 2}, one{m, r.ours};
  const std::vector<contestant> both{{"two", [&](int64_t n) { two.run(n); }}, {"one", [&](int64_t n) { one.run(n); }}};
  to.add_two_threads(
      m, r,
      contest({.rounds = 11, .seconds = 0.05, .clock = clock_kind::wall, .probe = fma_peak, .probe_units = 10}, both));
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  const flush_denormals for_the_loops_by_hand_too;
  std::vector<std::string> parts;
  const bench::table to{bench::json_wanted("train_step", argc, argv, &parts)};
  const auto for_each = [&](auto measure) {
    for (const auto& m : bench::models())
      for (const bench::rule& r : {bench::rule{"momentum", momentum{}, bench::hand_optimizer::momentum},
                                   bench::rule{"adam", adam{}, bench::hand_optimizer::adam}})
        if (parts.empty()
            || std::ranges::any_of(parts, [&](const auto& part) { return m.name.find(part) != std::string::npos; }))
          measure(to, m, r);
  };
  to.begin_one_thread();
  for_each(bench::measure);
  to.begin_two_threads();
  for_each(bench::measure_two_threads);
}
