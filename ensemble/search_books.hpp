// The books of a search: all that it remembers, as stored with each checkpoint in the blob "search". Plain data.
#pragma once

#include "ensemble/choice.hpp"
#include "ensemble/iteration_specs.hpp"
#include "ensemble/progress.hpp"
#include "ensemble/reports.hpp"

#include <set>

namespace troupe {

inline constexpr std::string_view search_books_blob = "search";

struct search_books {
  int64_t begins_at = 0;  ///< The tick at which the iteration began.
  int64_t tick = 0;       ///< The state of the checkpoint.
  int64_t global_step = 0;

  struct subnetwork {
    std::string builder = {};
    int64_t step = 0;                    ///< Own steps.
    std::optional<spec_stop> stop = {};  ///< May lie ahead: a stop is decided before its tick is reached.
    friend bool operator==(const subnetwork&, const subnetwork&) = default;
  };
  struct candidate {
    candidate_spec what = {};
    loss_average average = {};
    std::optional<spec_stop> stop = {};
    friend bool operator==(const candidate&, const candidate&) = default;
  };
  /// Of the iteration, in their order. Both are empty until its specs are known: before the search, and in the books
  /// from which the plan of the next iteration is made.
  std::vector<subnetwork> subnetworks = {};
  std::vector<candidate> candidates = {};

  /// A winner of an earlier iteration. Its own average stays as it was when it was chosen.
  struct winner {
    std::string spec = {};
    int64_t made_in = 0;  ///< The iteration in which it was a new candidate.
    architecture recipe = {};
    loss_average average = {};
    std::string why = {};                        ///< As in `choice`.
    std::vector<choice::entry> candidates = {};  ///< All of that iteration, as in `choice`.
    friend bool operator==(const winner&, const winner&) = default;
  };
  std::vector<winner> winners = {};  ///< Of iteration 0 and so on.
  search_reports reports = {};

  int64_t iteration() const noexcept { return static_cast<int64_t>(winners.size()); }
  /// The global step at which the iteration began.
  int64_t base_step() const { return winners.empty() ? 0 : winners.back().recipe.global_step; }
  std::optional<previous_ensemble> previous() const;

  friend bool operator==(const search_books&, const search_books&) = default;
};

/// The subnetworks with their limits: the least of `max_iteration_steps`, what the builder wants and what the data of
/// its own have.
iteration_progress progress_of(const search_books& books, const iteration_specs& specs, const search_limits& limits);
/// The candidates, as `choose` takes them. It also finds the winner of an iteration that is open, by the same rules;
/// AdaNet 0.9 passes over force_grow there.
std::vector<contender> contenders_of(const search_books& books);
/// The moving averages of the candidates whose groups have told all three variables of theirs, by spec.
std::map<std::string, loss_average> told_averages(const search_books& books, const std::map<std::string, double>& told);
/// The spec of the candidate that leads by its average, whatever evaluator the rules have. In place of those of the
/// books, `told` are the averages of now, and the candidates in `left` have left. Absent: all are NaN or have left.
std::optional<std::string> leader_by_average(choice_rules rules, search_books books,
                                             const std::map<std::string, double>& told,
                                             const std::set<std::string>& left);
/// Enters the specs of the iteration, if its books have none. Otherwise they must be the same. Error:
/// failed_precondition naming both, which says that generator or strategies are not deterministic.
expected<void> enter_specs(search_books& books, const iteration_specs& specs);
/// The books with which the iteration after this one begins, at the same tick.
search_books grown(const search_books& books, const choice& chosen, std::vector<materialized_report> reports);

/// The books with which the iteration of these books began, without its specs: where the state of these is lost, it
/// begins there again.
search_books as_begun(const search_books& books);

/// What a checkpoint with these books has as tensors, as AdaNet's checkpoints do: the global step, the iteration, and
/// the steps of each subnetwork and new ensemble in it.
std::map<std::string, int64_t> numbers_of(const search_books& books);

/// A file that follows from the books, with its path in the model directory. It is written after their commit, and
/// nothing reads it.
struct derived_file {
  std::string path = {}, text = {};
  friend bool operator==(const derived_file&, const derived_file&) = default;
};
/// An architecture for each winner, the reports if there are any, and a mark for each spec that has stopped.
std::vector<derived_file> derived_files(const search_books& books);

// -- text ------------------------------------------------------------------------------

/// One JSON object in one line. Members and their order in lists are those of the struct:
///
///   {"format": "troupe search", "format_version": 1, "iteration": 1, "begins_at": 100, "tick": 150,
///    "global_step": 150,
///    "subnetworks": [{"builder": "dnn", "step": 50, "stop": {"cause": "hook", "step": 50, "detail": ""}}],
///    "candidates": [{"spec": "t1_dnn_grow_mean", "recipe": ARCHITECTURE, "average": AVERAGE, "stop": STOP}],
///    "winners": [{"spec": "t0_linear_grow_mean", "made_in": 0, "recipe": ARCHITECTURE, "average": AVERAGE,
///                 "why": "the only candidate", "candidates": [{"spec": "t0_linear_grow_mean", "score": 0.5,
///                 "loss": 0.4, "penalty": 0.1, "complexity": 1, "lost": ""}]}],
///    "reports": REPORTS}
///
/// A STOP that is a drop may have "otherwise", a stop: that at which the spec had stopped, or was to stop.
/// "stop", "score", "loss" with "penalty", and "complexity", which candidates have too, are absent where there is none.
/// ARCHITECTURE is the object of `architecture_text`, REPORTS the array of `reports_text`, AVERAGE {"value": 0.5,
/// "biased": 0.25, "count": 2, "penalty": 0.1}; numbers that are not finite are "nan", "inf" and "-inf". A stop's cause
/// is a text of `to_string(stop_cause)`.
std::string books_text(const search_books& books);
/// Reads such a text. `name` begins the messages. Errors: data_loss naming the key and the value; unimplemented for
/// another version.
expected<search_books> parse_books(std::string_view text, const std::string& name);

}  // namespace troupe
