// The search: what happened goes in, what is to be done comes out. It knows no actor, no file and no clock.
//
//             committed, the iteration is over
//   begin ──► training ────────────────────► scoring ──► reporting ──► growing ──► begin, with the grown books
//                │                              └─────────────┴───────────┤
//                │ committed, at a limit or at the end of the input       │ stop
//                └──────────────────────── or stopped ────────────────────┴─────► ended
//
//   state       wanted()           until
//   training    train_until        `committed` of its last state
//   scoring     score_candidates   `scored`; left out if the choice needs no evaluation
//   reporting   report_specs       `reported`; left out without reports
//   growing     grow_into          `begin` with its books; then the first state is committed, at the same tick
//   ended       end_search
//
// What is wanted stays the same until an event changes it. Each state that is saved takes three calls: `measured` once
// the averages are known, `books_at` for what is stored with it, `committed` after its commit.
//
// A start, a restart and a recovery begin in the same way: with the books of the newest commit and the specs of the
// plan that was made from them. The rest depends on nothing else, so a search that is killed at any time makes the same
// choices again. Books of a complete iteration lead to its choice without another tick. A choice is final once the
// grown books are committed. The files that follow from books (`derived_files`) are written after the commit of these
// books, and again when an attempt begins with them.
#pragma once

#include "ensemble/search_books.hpp"

#include <troupe/checkpoint_id.hpp>
#include <troupe/results.hpp>

namespace troupe {

struct search_rules {
  search_limits limits = {};
  choice_rules choice = {};
  bool makes_reports = false;  ///< Evaluates a report of each subnetwork before the next iteration.
};
/// Error: invalid_argument as for the parts.
expected<void> validate(const search_rules& rules);

// -- what is to be done ------------------------------------------------------------------

/// Train up to the state `until`, save it, and say `committed`. A later event may change `until`, to a larger or
/// smaller tick, but never to one before the last that was `reached`.
struct train_until {
  int64_t iteration = 0;
  int64_t begins_at = 0;
  std::optional<int64_t> until = {};  ///< Absent: until the input ends or a stop is requested.
  friend bool operator==(const train_until&, const train_until&) = default;
};
/// Evaluate all candidates of this commit that have not left, and say `scored`.
struct score_candidates {
  checkpoint_id commit;
  friend bool operator==(const score_candidates&, const score_candidates&) = default;
};
/// Evaluate the reports of this commit, and say `reported`.
struct report_specs {
  checkpoint_id commit;
  friend bool operator==(const report_specs&, const report_specs&) = default;
};
/// Plan the next iteration from `books`, begin it, and commit its first state.
struct grow_into {
  choice chosen = {};
  search_books books = {};
  friend bool operator==(const grow_into&, const grow_into&) = default;
};
struct end_search {
  enum class cause : uint8_t { max_steps, max_iterations, input_ended, stopped };
  cause why = cause::stopped;
  std::string text = {};     ///< "max_steps: the global step is 300 in iteration 2"
  std::string warning = {};  ///< Empty if there is none.
  friend bool operator==(const end_search&, const end_search&) = default;
};
using search_command = std::variant<train_until, score_candidates, report_specs, grow_into, end_search>;

// -- the search --------------------------------------------------------------------------

class search {
 public:
  explicit search(search_rules rules) : rules_(std::move(rules)) {}

  /// An attempt begins at a commit with these books; a search that begins has empty ones. `steps` of the limits is
  /// counted from the first call. Errors: those of `enter_specs` and of the combiner; those of a choice, where the
  /// books lead to one.
  expected<void> begin(search_books books, iteration_specs specs);

  // Events of training. Repeating one changes nothing.

  /// All groups have made the ticks below `tick`. Error: `state` if the global step has fallen.
  expected<void> reached(int64_t tick);
  /// A subnetwork or an ensemble stops after `stop.step` own steps, which may lie ahead. Not for drops.
  expected<void> stopped(std::string_view spec, spec_stop stop);
  /// A subnetwork or an ensemble has left at the state `tick`, because its numbers were not finite. The ensembles that
  /// read a subnetwork leave with it. Error: nan_loss if no candidate is left, with the first cause.
  expected<void> dropped(std::string_view spec, int64_t tick, std::string why);
  /// The input of all specs has ended: no state after `tick` will be reached.
  expected<void> input_ended(int64_t tick);
  /// Training shall end at the state `tick`, and the iteration stays open. Between two iterations it ends at once.
  expected<void> stop(int64_t tick, std::string why);
  /// The averages of the candidates at a state that is saved, by spec. Those that have left may be absent. Errors:
  /// those of the combiner, and `state` if the global step has fallen.
  expected<void> measured(int64_t tick, std::map<std::string, loss_average> averages);
  /// The books for the commit of a state, which is where an attempt began or was `measured`. A drop at a later state is
  /// not in them: an attempt that begins with them drops the spec again at its tick.
  search_books books_at(int64_t tick) const;
  /// The state is committed. Errors: those of `choose`.
  expected<void> committed(int64_t tick);

  // Answers.

  /// The metrics of the candidates, of the commit that `score_candidates` or `scores_at_end` names. Errors: those of
  /// `choose`.
  expected<void> scored(const candidate_scores& scores);
  void reported(std::vector<materialized_report> reports);

  const search_command& wanted() const noexcept { return wanted_; }
  /// The commit at which the search has ended, if its result needs scores that are not known yet.
  std::optional<checkpoint_id> scores_at_end() const;
  /// Whether a winner is chosen and another iteration follows if training ends at the state `tick`, as far as it is
  /// known. The first error of the combiner makes it false.
  bool goes_on_after(int64_t tick) const;
  int64_t iteration() const noexcept { return now_.iteration(); }
  /// The tick at which the iteration is over, as far as that is known.
  std::optional<int64_t> over_at() const { return troupe::over_at(progress()); }
  /// The known end of a subnetwork or new candidate of the iteration; absent: none, or there is no such spec.
  std::optional<spec_stop> stop_of(std::string_view spec) const;
  /// Whether a subnetwork or candidate of the iteration has been dropped at that state or before.
  bool has_left(std::string_view spec, int64_t tick) const;
  /// The candidate that wins by the averages of the newest commit, or by the scores at the end; absent if none does.
  std::optional<std::string> leader() const;
  /// Whether the rules compare these candidates of the iteration by an evaluation.
  bool wants_scores_of(const std::vector<contender>& all) const {
    return wants_scores(rules_.choice, iteration(), all);
  }
  /// The candidate that leads among these by their scores. Errors: those of `choose`.
  expected<std::string> leader_of(const std::vector<contender>& all, const candidate_scores& scores) const;
  /// The candidates at the newest commit.
  std::vector<contender> standing() const { return contenders_of(books_at(last_commit_)); }
  /// How far the search has come at the newest commit, with the leader. Absent while there is no candidate.
  std::optional<search_result> result() const;
  int64_t last_commit() const noexcept { return last_commit_; }  ///< Or the state at which the attempt began.
  /// Error: that of the combiner.
  expected<int64_t> global_step_at(int64_t tick) const;

 private:
  struct saved_state {
    std::map<std::string, loss_average> averages = {};
    int64_t global_step = 0;
  };
  struct stop_request {
    int64_t tick = 0;
    std::string why = {};
  };
  iteration_progress progress() const { return progress_of(now_, specs_, rules_.limits); }
  expected<std::optional<int64_t>> horizon() const;
  expected<void> settle();
  expected<next_phase> phase_at(int64_t tick) const;
  bool was_stopped_by(int64_t tick) const { return stop_ && stop_->tick <= tick; }
  expected<void> end_stretch();
  expected<void> end(end_search::cause why);
  expected<void> choose_winner(const candidate_scores& scores);
  void grow(std::vector<materialized_report> reports);
  std::optional<spec_stop>& entry_of(std::string_view spec);
  expected<void> check_candidates() const;

  search_rules rules_;
  search_books now_;  ///< As the attempt began, with the stops since then.
  iteration_specs specs_;
  std::map<int64_t, saved_state> saved_;  ///< By tick, from the last commit on.
  reached_state last_reached_;            ///< The last state that was reached.
  int64_t last_commit_ = 0;
  std::optional<int64_t> goal_, input_end_;
  bool has_goal_ = false;  ///< Whether `goal_` is known; it may be known that there is none.
  std::optional<stop_request> stop_;
  std::optional<choice> chosen_;
  std::optional<candidate_scores> scores_at_end_ = {};
  search_command wanted_;
};

}  // namespace troupe
