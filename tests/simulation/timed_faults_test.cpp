// Stories in worlds where turns and messages take time. ./dev simulate plays and repeats them.
//
//   TROUPE_TIMED_SEEDS=20000 ./dev test 'timed faults'    plays 20,000 seeds in place of 300
#include "pipeline/random_faults/checks.hpp"
#include "tests/golden/kept_lines.hpp"
#include "tests/simulation/scenario.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace troupe::test::random_faults {

namespace {

void play_all(const scenario& of, const std::string& how, uint64_t first, uint64_t seeds) {
  uint64_t failed = 0;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    const auto findings = judge(play(of.draw(seed)));
    std::string text;
    for (const auto& f : findings)
      text += "  " + f.rule + ": " + f.text + "\n";
    if (!findings.empty())
      MESSAGE("seed " << seed << " of " << of.title() << " breaks rules\n"
                      << text << "again: ./dev simulate " << how << "--seed " << seed);
    failed += findings.empty() ? 0 : 1;
  }
  CHECK_MESSAGE(failed == 0, failed << " of " << seeds << " seeds break rules");
}

}  // namespace

TEST_CASE("timed faults break no rule where turns and messages take time, links are cut and hosts die") {
  const char* seeds = std::getenv("TROUPE_TIMED_SEEDS");
  const char* first = std::getenv("TROUPE_TIMED_FIRST");
  play_all({}, "", first ? std::strtoull(first, nullptr, 10) : 1, seeds ? std::strtoull(seeds, nullptr, 10) : 300);
}

TEST_CASE("timed faults break no rule in any scenario of tests/scenarios") {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{TROUPE_SOURCE_DIR "/tests/scenarios"})
    if (entry.path().extension() == ".toml")
      files.insert(entry.path());
  REQUIRE(files.size() >= 8);
  for (const auto& file : files) {
    const auto read = scenario::read(file);
    REQUIRE_MESSAGE(read.has_value(), to_text(read.error()));
    play_all(*read, "--scenario tests/scenarios/" + file.filename().string() + " ", 1, 15);
  }
}

namespace {

std::string traces() {
  std::string text;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    uint64_t all = 0;
    for (const auto& o : play(draw_timed_recipe(seed)).disturbed)
      all = all * 0x100000001b3u ^ o.trace_hash;
    text += "seed " + std::to_string(seed) + " trace " + std::to_string(all) + "\n";
  }
  return text;
}

}  // namespace

// After an intended change of messages or recipes, write the file anew, from any build:
//   TROUPE_RENEW_GOLDEN=timed_traces.txt build/release/tests/simulation/test_simulation
TEST_CASE("timed faults take the same messages at the same times in every build") {
  check_kept(traces(), "timed_traces.txt");
}

}  // namespace troupe::test::random_faults
