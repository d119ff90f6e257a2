// Judgements: what follows from the evaluations of a job. The rules that end it early, and the best checkpoint so far. Plain data.
#pragma once

#include "words/checkpoint_books.hpp"

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
  judgements() = default;
  explicit judgements(judgement_settings settings);

  /// An attempt begins at a checkpoint with these properties: later evaluations are made again. Returns the best one that they name; this
  /// process may know of a better one, whose verdict came after they were read.
  std::optional<checkpoint_id> begin(int64_t step, const checkpoint_books& books);

  /// A predicate is user code: it is not asked here. The rules after it are asked once it has answered.
  struct question {
    size_t evaluation = 0, rule = 0;        ///< Numbers in the settings.
    bool of_all = false;                    ///< The rules of later evaluations follow.
  };
  struct ruling {
    std::optional<std::string> ends = {};   ///< Why the job ends.
    std::optional<question> asks = {};      ///< This predicate has to be asked first.
  };
  /// What a result leads to.
  struct verdict : ruling {
    bool is_best = false;                   ///< The checkpoint is the best so far.
  };
  /// Whether a rule ends the job where an attempt begins, by the evaluations up to there. key_missing.
  expected<ruling> rule_at_start() { return apply_rules({0, 0, true}); }
  /// key_missing. `saved`: there is a checkpoint of that state, which can be the best.
  expected<verdict> judge(const std::string& evaluation, checkpoint_id id, const evaluation_values& values, bool saved = true);

  /// The predicate says why the job ends, or that it does not.
  expected<ruling> answered(question asked, const std::optional<std::string>& why);
  /// Whether a checkpoint is the best so far, by results that were judged before it was saved. key_missing.
  expected<bool> consider(const std::string& evaluation, checkpoint_id id, const evaluation_values& values);
  const evaluation_history& history(size_t evaluation) const { return settings_.evaluations[evaluation].history; }
  const stop_rule& rule(size_t number) const { return settings_.rules[number]; }
  /// What earlier runs have left of the evaluation of that state, as float32, with its step.
  std::optional<std::map<std::string, double>> known_results(const std::string& evaluation, checkpoint_id id) const;

  /// Enters into the books of a checkpoint the best one so far. `ends_here`: it is the one at which the job ends by a rule.
  void enter(checkpoint_books& books, bool ends_here) const;
  bool has_ended() const noexcept { return !ended_.empty(); }
  const std::string& why_ended() const noexcept { return ended_; }
  /// Why the job had ended where the attempt begins: by one of the rules that it has still.
  const std::optional<std::string>& ended_before() const noexcept { return ended_before_; }
  std::optional<checkpoint_id> best() const noexcept { return best_; }
  /// Those of the best checkpoint, where this process has evaluated it; else the metrics that an event file has, as float32, or nothing.
  const evaluation_values& best_results() const noexcept { return best_results_; }
  /// The metrics of a state as far as they are known: those of a best one, or what event files have, as float32; at least the step.
  std::map<std::string, double> results_of(const std::string& evaluation, checkpoint_id id) const;
  bool uses_best() const noexcept { return settings_.best && settings_.best->restore_best && best_; }

 private:
  bool improves(double value) const;
  std::optional<std::string> end_in(const checkpoint_books& books) const;
  expected<ruling> apply_rules(question from);
  ruling end_by(const stop_rule& rule, std::string why);

  judgement_settings settings_;
  int64_t began_at_ = 0;
  std::string ended_, ended_by_;
  std::optional<std::string> ended_before_;
  std::optional<checkpoint_id> best_;
  double best_value_ = 0;
  evaluation_values best_results_;
  std::map<checkpoint_id, evaluation_values> bests_;  ///< Of each checkpoint that was the best when this process evaluated it.
};

}  // namespace troupe
