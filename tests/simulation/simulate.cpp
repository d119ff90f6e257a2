// ./dev simulate: plays simulated jobs with their troubles, one story for each seed, and checks that none breaks a
// rule.
#include "tests/simulation/scenario.hpp"
#include "tests/simulation/smaller.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace troupe::test::random_faults {

namespace {

struct wishes {
  std::vector<std::string> scenarios;
  std::optional<uint64_t> seed;
  uint64_t first = 1, seeds = 300;
  std::string messages, smaller_to = "build";
  bool shrinks = true;
};

struct totals {
  uint64_t played = 0, failed = 0;
  int64_t turns = 0;
  double virtual_seconds = 0;
  uint64_t hash = 0;

  void add(const story& s) {
    ++played;
    const auto one = [this](const observation& o) {
      turns += o.turns;
      virtual_seconds += std::chrono::duration<double>(o.ended).count();
      hash = hash * 0x100000001b3u ^ o.trace_hash;
    };
    for (const auto& o : s.disturbed)
      one(o);
    if (s.undisturbed)
      one(*s.undisturbed);
  }
};

std::string to_text(const std::vector<finding>& findings) {
  std::string text;
  for (const auto& f : findings)
    text += "  " + f.rule + ": " + f.text + "\n";
  return text;
}

/// Makes the recipe smaller, writes it as a scenario, and prints how to repeat it.
void tell_smaller(const wishes& w, const recipe& r, const std::string& rule) {
  const auto less = make_smaller(r, rule);
  if (less.findings.empty())
    return;
  const auto path = w.smaller_to + "/failing-" + std::to_string(r.seed) + ".toml";
  std::ofstream out{path};
  out << to_toml(less.what, "breaks: " + rule);
  std::cout << "smaller, after " << less.plays << " plays:\n" << to_text(less.findings) << to_text(less.what) << "\n";
  if (out.flush())
    std::cout << "again: ./dev simulate --scenario " << path << " --seed " << r.seed << "\n";
  else
    std::cout << "the smaller recipe cannot be written to " << path << "\n";
}

/// Plays the story of one seed. True: it breaks no rule.
bool passes(const wishes& w, const scenario& of, const std::string& path, uint64_t seed, totals& all) {
  const auto r = of.draw(seed);
  std::string messages;
  const auto s = play(r, w.messages.empty() ? nullptr : &messages);
  all.add(s);
  if (!w.messages.empty()) {
    std::ofstream out{w.messages};
    if (out << messages; !out.flush())
      throw std::runtime_error("the messages cannot be written to " + w.messages);
  }
  const auto findings = judge(s);
  if (w.seed)
    std::cout << to_text(s);
  if (findings.empty())
    return true;
  std::cout << "seed " << seed << " of " << of.title() << " breaks rules\n" << to_text(findings);
  if (!w.seed)
    std::cout << to_text(r) << "\n";
  std::cout << "again: ./dev simulate" << (path.empty() ? "" : " --scenario " + path) << " --seed " << seed << "\n";
  if (w.shrinks)
    tell_smaller(w, r, findings.front().rule);
  return false;
}

int run(const wishes& w) {
  std::vector<std::pair<std::string, scenario>> scenarios;
  for (const auto& path : w.scenarios) {
    auto read = scenario::read(path);
    if (!read) {
      std::cerr << "simulate: " << to_text(read.error()) << "\n";
      return 2;
    }
    scenarios.emplace_back(path, std::move(*read));
  }
  if (scenarios.empty())
    scenarios.emplace_back("", scenario{});
  const auto began = std::chrono::steady_clock::now();
  totals all;
  for (const auto& [path, s] : scenarios) {
    const auto before = all.failed;
    const uint64_t first = w.seed.value_or(w.first), count = w.seed ? 1 : w.seeds;
    for (uint64_t seed = first; seed < first + count; ++seed)
      all.failed += passes(w, s, path, seed, all) ? 0 : 1;
    std::cout << s.title() << ": " << all.failed - before << " of " << count << " seeds break rules\n" << std::flush;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%llu stories, %lld messages, %.0f virtual seconds in %.1f s; trace %016llx\n",
              static_cast<unsigned long long>(all.played), static_cast<long long>(all.turns), all.virtual_seconds,
              seconds, static_cast<unsigned long long>(all.hash));
  return all.failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace troupe::test::random_faults

int main(int argc, char** argv) {
  using namespace troupe::test::random_faults;
  wishes w;
  CLI::App app{
      "Plays simulated training jobs with drawn troubles, and checks that nothing goes wrong. Each seed is one story: "
      "processes\n"
      "one after another on one disk, in a world where turns and messages take time. Exits with 1 if a rule is "
      "broken."};
  app.name("./dev simulate");
  app.add_option("--seed", w.seed, "Play this seed alone, and tell its story");
  app.add_option("--seeds", w.seeds, "How many seeds to play of each scenario")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app.add_option("--first", w.first, "The first of them")->capture_default_str();
  app.add_option("--scenario", w.scenarios,
                 "A recipe as TOML (tests/scenarios); what it leaves out is drawn by the seed. May be repeated");
  app.add_option("--messages", w.messages,
                 "Write every message to this file: turn, time in nanoseconds, sender, receiver, content");
  app.add_option("--smaller-to", w.smaller_to,
                 "The folder for recipes that still fail after everything was dropped that could be")
      ->capture_default_str();
  app.add_flag("!--as-it-is", w.shrinks, "Do not look for a smaller recipe when a seed fails");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(w);
  } catch (const std::exception& e) {
    std::cerr << "simulate: " << e.what() << "\n";
    return 2;
  }
}
