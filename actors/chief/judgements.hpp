// Judgements of a job's evaluations: the rules that end the job early, and the best checkpoint so far. Plain data.
#pragma once

#include "words/checkpoint_books.hpp"

#include <troupe/early_stopping.hpp>
#include <troupe/tensor.hpp>

namespace troupe {

/// An evaluation whose results are judged, with its results of earlier runs.
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

  /// An attempt begins at a checkpoint with these books; evaluations of later states are made again. Returns the best
  /// checkpoint that the books name. This process may know a better one, whose verdict came after the books were read.
  std::optional<checkpoint_id> begin(int64_t step, const checkpoint_books& books);

  /// A predicate that must be asked elsewhere, because it is user code. The rules after it are applied once it has
  /// answered.
  struct question {
    size_t evaluation = 0, rule = 0;  ///< Indices in the settings.
    bool of_all = false;              ///< Rules of the later evaluations are applied afterwards.
  };
  struct ruling {
    std::optional<std::string> ends = {};  ///< Why the job ends.
    std::optional<question> asks = {};     ///< A predicate that must be asked first.
  };
  /// The consequences of a result.
  struct verdict : ruling {
    bool is_best = false;  ///< The checkpoint is the best so far.
  };
  /// Called at the beginning of an attempt: applies the rules to the evaluations up to the state where it begins. A
  /// rule may end the job at that state. Error: key_missing.
  expected<ruling> rule_at_start() { return apply_rules({0, 0, true}); }
  /// Judges a result. `saved`: the state has a checkpoint, which can be the best. Error: key_missing.
  expected<verdict> judge(const std::string& evaluation, checkpoint_id id, const evaluation_values& values,
                          bool saved = true);

  /// The predicate has answered; `why`: the reason to end the job, if there is one.
  expected<ruling> answered(question asked, const std::optional<std::string>& why);
  /// Whether a checkpoint is the best so far, by results that were judged before it was saved. Error: key_missing.
  expected<bool> consider(const std::string& evaluation, checkpoint_id id, const evaluation_values& values);
  const evaluation_history& history(size_t evaluation) const { return settings_.evaluations[evaluation].history; }
  const stop_rule& rule(size_t number) const { return settings_.rules[number]; }
  /// The best checkpoint has gone: the best is again the one before it.
  void take_back_best();
  /// The results that earlier runs have left for this state, as float32, with its step.
  std::optional<std::map<std::string, double>> known_results(const std::string& evaluation, checkpoint_id id) const;

  /// An evaluator in another process has found this checkpoint the best. False: this process knows a better one, or it
  /// is no news.
  bool take_best(checkpoint_id id, double value);
  /// A rule, given as text, has ended the job in another process. False: the job does not have it, or has ended.
  bool take_end(const std::string& rule, std::string why);

  /// Enters the best checkpoint so far into the books of a checkpoint. `ends_here`: the job ends at this checkpoint by
  /// a rule.
  void enter(checkpoint_books& books, bool ends_here) const;
  bool has_ended() const noexcept { return !ended_.empty(); }
  const std::string& why_ended() const noexcept { return ended_; }
  const std::string& rule_that_ended() const noexcept { return ended_by_; }
  /// Why an earlier run ended at the state where the attempt begins, if the job still has the rule that ended it.
  const std::optional<std::string>& ended_before() const noexcept { return ended_before_; }
  std::optional<checkpoint_id> best() const noexcept { return best_; }
  double best_value() const noexcept { return best_value_; }
  /// The results of the best checkpoint if this process has evaluated it; otherwise its metrics in an event file, as
  /// float32, or nothing.
  const evaluation_values& best_results() const noexcept { return best_results_; }
  /// The known metrics of a state: those of a best checkpoint, or those in event files, as float32; at least its step.
  std::map<std::string, double> results_of(const std::string& evaluation, checkpoint_id id) const;
  bool uses_best() const noexcept { return settings_.best && settings_.best->restore_best && best_; }

 private:
  bool improves(double value) const;
  bool has_rule(const std::string& text) const;
  std::optional<std::string> end_in(const checkpoint_books& books) const;
  expected<ruling> apply_rules(question from);
  ruling end_by(const stop_rule& rule, std::string why);

  judgement_settings settings_;
  int64_t began_at_ = 0;
  std::string ended_, ended_by_;
  std::optional<std::string> ended_before_;
  std::optional<checkpoint_id> best_;
  double best_value_ = 0;
  std::optional<std::pair<checkpoint_id, double>> second_best_;  ///< The best before that, and its value.
  evaluation_values best_results_;
  /// The results of each checkpoint that was the best when this process evaluated it.
  std::map<checkpoint_id, evaluation_values> bests_;
};

}  // namespace troupe
