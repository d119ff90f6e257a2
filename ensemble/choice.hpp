// The choice of the winner of an iteration. Pure functions; the reasons are part of the result.
#pragma once

#include "ensemble/loss_average.hpp"

#include <troupe/search/options.hpp>

#include <map>
#include <vector>

namespace troupe {

/// Which metric of an evaluation of all candidates decides.
struct metric_rule {
  std::string metric = "adanet_loss";
  objective goal = objective::minimize;
};

struct choice_rules {
  /// The index of the winner of each iteration, for a search that repeats another one. Later iterations are decided by
  /// the other rules.
  std::vector<int64_t> replay = {};
  bool force_grow = false;                    ///< The previous ensemble may not win.
  std::optional<metric_rule> evaluator = {};  ///< Absent: the moving averages of the AdaNet loss decide.
};
/// Error: invalid_argument for a negative index, or for a metric without a name.
expected<void> validate(const choice_rules& rules);

/// A candidate ensemble at the end of an iteration. From iteration 1 on the first one is the previous ensemble.
struct contender {
  std::string spec = {};
  loss_average average = {};
  std::optional<double> complexity = {};    ///< See `candidate_spec`.
  std::optional<std::string> dropped = {};  ///< Why it has left the search.
};
/// The metrics of each candidate, in the order of the candidates; empty for those that have left.
using candidate_scores = std::vector<std::map<std::string, double>>;

/// The parts of an AdaNet loss: the loss of the head, and the regularization that is added to it (Cortes et al. 2017,
/// equation 4).
struct objective_terms {
  double loss = 0, penalty = 0;
  friend bool operator==(const objective_terms&, const objective_terms&) = default;
};
std::optional<objective_terms> terms_of(const loss_average& average);  ///< Absent before its first update.

struct choice {
  size_t winner = 0;     ///< Index of the candidate.
  std::string why = {};  ///< "the least adanet_loss of the evaluation, 0.25"
  struct entry {
    std::string spec = {};
    std::optional<double> score = {};  ///< Absent: none was compared, or the candidate has none.
    std::string lost = {};             ///< Why it did not win; empty for the winner.
    /// Of the averages, or of the evaluation that decided, if that has both "loss" and "adanet_loss".
    std::optional<objective_terms> terms = {};
    std::optional<double> complexity = {};
    friend bool operator==(const entry&, const entry&) = default;
  };
  std::vector<entry> candidates = {};  ///< All of them, in order.
  friend bool operator==(const choice&, const choice&) = default;
};

/// Error: invalid_argument if the replay has an index for the iteration that none of so many candidates has. The plan
/// of an iteration checks it, so that a wrong index does not wait for the end of the training.
expected<void> check_replay(const choice_rules& rules, int64_t iteration, size_t candidates);

/// Whether `choose` needs the scores of an evaluation.
bool wants_scores(const choice_rules& rules, int64_t iteration, const std::vector<contender>& all);

/// The winner by the first rule that applies:
///
///   1  replay has an index for the iteration: that one
///   2  only one candidate has not left: that one
///   3  force_grow, and only the previous ensemble and one other candidate have not left: the other
///   4  an evaluator: the best score, NaN ignored
///   5  the least moving average, NaN ignored; those that were never updated count only if none was
///
/// Rules 4 and 5 pass over the previous ensemble under force_grow. The lowest index wins among equals. Errors:
/// invalid_argument for an index of the replay that no candidate has, or whose candidate has left; key_missing for
/// scores without the metric, naming those that there are; nan_loss if all candidates are NaN or have left.
expected<choice> choose(const choice_rules& rules, int64_t iteration, const std::vector<contender>& all,
                        const candidate_scores& scores = {});

}  // namespace troupe
