#include "words/roles.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

using enum response;

constexpr role_set any_driver = set_of(role::chief, role::evaluator, role::predictor),
                   chief_alone = set_of(role::chief);
constexpr uint8_t by_itself = role_row::by_itself;

constexpr std::array rows{
    role_row{.what = role::infeed,
             .name = "infeed",
             .drivers = any_driver,
             .starts = 7,
             .ends = 1,
             .is_halted = true,
             .makes_part = true,
             .dies = recover_or_fail,
             .hangs = settle_and_fail,
             .throws = recover_or_fail},
    role_row{.what = role::replica,
             .name = "replica",
             .drivers = any_driver,
             .starts = 6,
             .ends = 2,
             .is_halted = true,
             .in_group = true,
             .makes_part = true,
             .dies = recover_or_fail,
             .hangs = settle_and_fail,
             .throws = recover_or_fail},
    role_row{.what = role::reducer,
             .name = "reducer",
             .drivers = chief_alone,
             .starts = 5,
             .ends = 3,
             .is_halted = true,
             .in_group = true,
             .dies = recover_or_fail,
             .hangs = settle_and_fail},
    role_row{.what = role::outfeed,
             .name = "outfeed",
             .drivers = any_driver,
             .starts = 4,
             .ends = 4,
             .dies = save_and_fail,
             .hangs = settle_and_fail},
    role_row{.what = role::checkpoint_writer,
             .name = "checkpoint_writer",
             .drivers = chief_alone,
             .starts = 1,
             .ends = 7,
             .outlives_iteration = true,
             .dies = replace_and_fail,
             .hangs = settle_and_fail,
             .throws = recover_or_fail},
    role_row{.what = role::summary_writer,
             .name = "summary_writer",
             .drivers = chief_alone,
             .starts = 2,
             .ends = by_itself,
             .outlives_iteration = true,
             .dies = save_and_fail,
             .hangs = settle_and_fail,
             .throws = save_and_fail},
    role_row{.what = role::eval_summary_writer,
             .name = "summary_writer",
             .drivers = chief_alone | launcher_alone,
             .starts = 3,
             .ends = by_itself,
             .outlives_iteration = true,
             .dies = save_and_fail,
             .hangs = save_and_fail,
             .throws = save_and_fail},
    role_row{.what = role::evaluator,
             .name = "evaluator",
             .drivers = chief_alone | launcher_alone,
             .starts = 8,
             .ends = 5,
             .dies = by_policy,
             .hangs = by_policy,
             .throws = by_policy},
    role_row{.what = role::predictor, .name = "predictor", .drivers = launcher_alone, .starts = 10, .ends = 8},
    role_row{.what = role::callbacks,
             .name = "callbacks",
             .drivers = chief_alone,
             .starts = 9,
             .ends = 6,
             .outlives_iteration = true,
             .dies = save_and_fail,
             .hangs = save_and_fail,
             .throws = save_and_fail},
    role_row{.what = role::chief,
             .name = "chief",
             .drivers = launcher_alone,
             .has_thread = false,
             .starts = 11,
             .ends = 9,
             .makes_part = true,
             .outlives_iteration = true},
    role_row{.what = role::checkpoint_watcher,
             .name = "checkpoint_watcher",
             .drivers = chief_alone | launcher_alone,
             .starts = 12,
             .ends = 10,
             .outlives_iteration = true,
             .dies = save_and_fail},  // One that hangs holds up nobody: verdicts come later.
};

static_assert(are_in_order(rows));

template <size_t N>
constexpr std::array<role, N> sorted_by(uint8_t role_row::*place) {
  std::array<role_row, rows.size()> all = rows;
  std::sort(all.begin(), all.end(), [place](const role_row& a, const role_row& b) { return a.*place < b.*place; });
  std::array<role, N> found{};
  for (size_t i = 0; i < N; ++i)
    found[i] = all[rows.size() - N + i].what;
  return found;
}

constexpr size_t logs = static_cast<size_t>(
    std::count_if(rows.begin(), rows.end(), [](const role_row& r) { return r.ends == by_itself; }));

}  // namespace

std::optional<response> role_row::to(trouble t) const noexcept {
  switch (t) {
    case trouble::dies: return dies;
    case trouble::hangs: return hangs;
    case trouble::throws: return throws;
  }
  return std::nullopt;
}

std::span<const role_row> role_rows() noexcept { return rows; }
const role_row& row_of(role r) noexcept { return rows[static_cast<size_t>(r)]; }

std::span<const role> starting_order() noexcept {
  static constexpr auto order = sorted_by<rows.size()>(&role_row::starts);
  return order;
}

std::span<const role> ending_order() noexcept {
  static constexpr auto order = sorted_by<rows.size() - logs>(&role_row::ends);
  return order;
}

std::string_view to_string(role r) noexcept {
  return static_cast<size_t>(r) < rows.size() ? row_of(r).name : "unknown";
}

std::string_view to_string(trouble t) noexcept {
  switch (t) {
    case trouble::dies: return "dies";
    case trouble::hangs: return "hangs";
    case trouble::throws: return "throws";
  }
  return "unknown";
}

std::string_view to_string(response r) noexcept {
  switch (r) {
    case response::save_and_fail: return "save_and_fail";
    case response::replace_and_fail: return "replace_and_fail";
    case response::settle_and_fail: return "settle_and_fail";
    case response::recover_or_fail: return "recover_or_fail";
    case response::by_policy: return "by_policy";
  }
  return "unknown";
}

}  // namespace troupe
