// Judgements: what follows from the evaluations of a job. The rules that end it early, and the best checkpoint so far. Plain data.
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/early_stopping.hpp>
#include <troupe/tensor.hpp>

namespace troupe {

/// An evaluation whose results are judged, and those of earlier runs.
struct judged_evaluation {
  std::string name;
  evaluation_history history = {};
};

struct judgement_settings {
  std::vector<stop_rule> rules = {};
  std::optional<keep_best> best = {};
  std::vector<judged_evaluation> evaluations = {};
};

/// The results of one evaluation.
struct evaluation_values {
  std::map<std::string, double> metrics = {};
  std::map<std::string, tensor> arrays = {};
};

class judgements {
 public:
  using properties = std::map<std::string, std::string>;
  judgements() = default;
  explicit judgements(judgement_settings settings);

  /// An attempt begins at a checkpoint with these properties: later evaluations are made again. Returns the best one that they name; this
  /// process may know of a better one, whose verdict came after they were read.
  std::optional<checkpoint_id> begin(int64_t step, const properties& of_checkpoint);
  /// Whether a rule ends the job at the state of the newest evaluation, with which the attempt begins.
  bool end_again();

  /// What a result leads to.
  struct verdict {
    bool is_best = false;                   ///< The checkpoint is the best so far.
    std::optional<std::string> ends = {};   ///< Why the job ends.
  };
  /// key_missing, or the error of a predicate.
  /// `saved`: there is a checkpoint of that state, which can be the best.
  expected<verdict> judge(const std::string& evaluation, checkpoint_id id, const evaluation_values& values, bool saved = true);

  /// For the books of every checkpoint: the best one so far. `ends_here`: it is the one at which the job ends by a rule.
  properties books(bool ends_here) const;
  bool has_ended() const noexcept { return !ended_.empty(); }
  const std::string& why_ended() const noexcept { return ended_; }
  /// Why a job that would begin at a checkpoint with these properties has ended there: by one of the rules that it has still.
  std::optional<std::string> ended_before(const properties& of_checkpoint) const;
  std::optional<checkpoint_id> best() const noexcept { return best_; }
  /// Those of the best checkpoint, where this process has evaluated it; else the metrics that an event file has, as float32, or nothing.
  const evaluation_values& best_results() const noexcept { return best_results_; }
  /// The metrics of a state as far as they are known: those of a best one, or what event files have, as float32; at least the step.
  std::map<std::string, double> results_of(const std::string& evaluation, checkpoint_id id) const;
  bool uses_best() const noexcept { return settings_.best && settings_.best->restore_best && best_; }

 private:
  bool improves(double value) const;
  expected<std::optional<std::string>> apply_rules(const judged_evaluation& e);

  judgement_settings settings_;
  int64_t began_at_ = 0;
  std::string ended_, ended_by_;
  std::optional<checkpoint_id> best_;
  double best_value_ = 0;
  evaluation_values best_results_;
  std::map<checkpoint_id, evaluation_values> bests_;  ///< Of each checkpoint that was the best when this process evaluated it.
};

}  // namespace troupe
