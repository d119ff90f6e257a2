// Faults that are planted in the actors (words/planted.hpp), and the seeds of random faults that find them.
//
//   TROUPE_PLANT=lost_halted ./dev test 'planted fault'    searches from seed 1 on for a story that shows this fault
//   TROUPE_PLANT=all ./dev test 'planted fault'            searches for each fault, at most 60 s long
#include "pipeline/random_faults/checks.hpp"
#include "pipeline/random_faults/growth_faults.hpp"
#include "words/planted.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace troupe::test::random_faults {

namespace {

struct planted_row {
  planted_fault fault;
  const char* name;
  uint64_t seed;  ///< The first seed whose story shows the fault.
  std::vector<finding> (*play_seed)(uint64_t seed) = [](uint64_t of) { return judge(play(draw_recipe(of))); };
};

std::vector<finding> group_story(uint64_t seed) { return judge(play(draw_group_recipe(seed))); }
std::vector<finding> growth_story(uint64_t seed) {
  std::vector<finding> all;
  for (auto& text : findings_of(draw_growth(seed)))
    all.push_back({"growth", std::move(text)});
  return all;
}

constexpr planted_row rows[] = {
    {planted_fault::lost_halted, "lost_halted", 2},
    {planted_fault::old_block_accepted, "old_block_accepted", 58},
    {planted_fault::old_block_kept, "old_block_kept", 58},
    {planted_fault::old_positions, "old_positions", 2},
    {planted_fault::budget_never_reset, "budget_never_reset", 58},
    {planted_fault::late_news_ignored, "late_news_ignored", 2056},
    {planted_fault::credit_granted_twice, "credit_granted_twice", 58},
    {planted_fault::part_skipped, "part_skipped", 14},
    {planted_fault::timer_survives, "timer_survives", 89},
    {planted_fault::engine_handed_on, "engine_handed_on", 10},
    {planted_fault::lease_forgotten, "lease_forgotten", 5},
    {planted_fault::step_beyond_horizon, "step_beyond_horizon", 1},
    {planted_fault::gradient_ahead, "gradient_ahead", 1},
    {planted_fault::sum_as_arrived, "sum_as_arrived", 23},
    {planted_fault::status_ignored, "status_ignored", 30},
    {planted_fault::retired_alone, "retired_alone", 36, group_story},
    {planted_fault::loop_off_by_one, "loop_off_by_one", 1},
    {planted_fault::state_reset_late, "state_reset_late", 1},
    {planted_fault::rows_of_another_shard, "rows_of_another_shard", 1},
    {planted_fault::carried_unapplied, "carried_unapplied", 102},
    {planted_fault::called_unapplied, "called_unapplied", 1},
    {planted_fault::call_of_wrong_replica, "call_of_wrong_replica", 1},
    {planted_fault::phase_without_wake, "phase_without_wake", 2},
    {planted_fault::end_of_data_lost, "end_of_data_lost", 1},
    {planted_fault::report_overtakes, "report_overtakes", 1},
    {planted_fault::part_in_mid_step, "part_in_mid_step", 24},
    {planted_fault::stop_lost_while_saving, "stop_lost_while_saving", 40},
    {planted_fault::monitor_forgotten, "monitor_forgotten", 26},
    {planted_fault::rewound_too_far, "rewound_too_far", 4},
    {planted_fault::saves_unbounded, "saves_unbounded", 156},
    {planted_fault::record_without_room, "record_without_room", 660},
    {planted_fault::event_forgotten, "event_forgotten", 2},
    {planted_fault::zeros_after_fall, "zeros_after_fall", 1, group_story},
    {planted_fault::begin_before_connect, "begin_before_connect", 30},
    {planted_fault::old_iteration_accepted, "old_iteration_accepted", 14, growth_story},
    {planted_fault::planned_end_is_death, "planned_end_is_death", 2, growth_story},
    {planted_fault::plan_of_before, "plan_of_before", 2, growth_story},
    {planted_fault::growth_spends_budget, "growth_spends_budget", 40, growth_story},
};

/// Plants a fault while it exists.
struct plant {
  explicit plant(planted_fault f) { chosen_fault = f; }
  plant(const plant&) = delete;
  ~plant() { chosen_fault = planted_fault::none; }
};

/// Plays a story with fault `f`. The end states of undisturbed jobs are cached for all stories, so they are computed
/// before the fault is planted.
std::vector<finding> findings(const planted_row& row, uint64_t seed, planted_fault f) {
  learn_undisturbed_growth(draw_growth(seed));
  reference_of(draw_recipe(seed));
  reference_of(draw_group_recipe(seed));
  const plant it{f};
  return row.play_seed(seed);
}

std::string to_text(const std::vector<finding>& all) {
  std::string text;
  for (const auto& f : all)
    text += "\n  " + f.rule + ": " + f.text;
  return text;
}

/// Prints the first seed that shows the fault, and the time that it took to find it.
bool look_for(const planted_row& row, double limit_s) {
  const auto began = std::clock();  // Processor time, since the machine may have other work.
  const auto seconds = [&] { return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC; };
  uint64_t seed = 0;
  while (seconds() < limit_s)
    if (const auto all = findings(row, ++seed, row.fault); !all.empty()) {
      std::printf("%s: seed %llu after %.1f s%s\n", row.name, static_cast<unsigned long long>(seed), seconds(),
                  to_text(all).c_str());
      return true;
    }
  std::printf("%s: not found by %llu seeds in %.1f s\n", row.name, static_cast<unsigned long long>(seed), seconds());
  return false;
}

}  // namespace

TEST_CASE("each planted fault is found by the story of a seed, which goes well without it") {
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.seed);
    CHECK_FALSE(findings(row, row.seed, row.fault).empty());
    const auto without = findings(row, row.seed, planted_fault::none);
    CHECK_MESSAGE(without.empty(), to_text(without));
  }
}

TEST_CASE("planted faults are found from the first seed on, within a minute each"
          * doctest::skip(std::getenv("TROUPE_PLANT") == nullptr)) {
  const std::string name = std::getenv("TROUPE_PLANT");
  bool known = false;
  for (const auto& row : rows)
    if (name == row.name || name == "all") {
      known = true;
      CHECK_MESSAGE(look_for(row, 60), row.name);
    }
  CHECK_MESSAGE(known, "there is no fault " << name);
}

}  // namespace troupe::test::random_faults
