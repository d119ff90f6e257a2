// The search of a job, as its chief drives it: what happens to groups becomes events of the pure search, and what that
// wants decides where training ends and what follows. Plain data.
#pragma once

#include "actors/evaluation_records.hpp"
#include "ensemble/search.hpp"
#include "messages/report.hpp"
#include "plan/plan_group.hpp"
#include "words/evaluation_purpose.hpp"

#include <troupe/progress.hpp>

#include <set>

namespace troupe {

/// The search of a job that is one. Specs of the search are groups of the plan with the same names, and its ticks are
/// the steps of the job. Functions may be called only where `on()` holds.
class searching {
 public:
  using blobs = std::map<std::string, std::string>;

  searching() = default;  ///< The job is no search.
  explicit searching(search_rules rules);

  bool on() const noexcept { return search_.has_value(); }

  /// Attempts are of this plan from here on: `of_plan` are the blobs of the books with which it begins.
  void use(const blobs& of_plan, const std::vector<plan_group>& groups);
  /// An attempt begins at this commit; absent: at the first state of the job. Errors: data_loss naming `prefix` for a
  /// commit of the plan's iteration without the books of a search; those of `search::begin`.
  expected<void> begin(const std::optional<checkpoint_id>& at, const blobs& of_commit, const std::string& prefix);

  // What happened. Errors are those of the search.

  expected<void> reached(int64_t step) { return search_->reached(step); }
  /// `values`: what groups told of themselves for the save of that state, by the names of their variables.
  expected<void> measured(int64_t step, const std::map<std::string, double>& values);
  expected<void> committed(int64_t step);
  expected<void> dropped(const std::string& group, int64_t step, const std::string& why);
  /// The group stops after `stop.step` own steps. Later attempts of the same iteration stop it there, too, also those
  /// that begin at an older commit.
  expected<void> stopped(const std::string& group, spec_stop stop);
  expected<void> input_ended(int64_t step) { return search_->input_ended(step); }
  /// The metrics of the evaluation that was demanded, of all candidates and subnetworks.
  expected<void> evaluated(const std::map<std::string, double>& metrics);
  /// The metrics of an evaluation for the choice, of a commit of this attempt in the middle of an iteration. From here
  /// on it is known who leads there.
  expected<void> scored(int64_t step, const std::map<std::string, double>& metrics);
  /// There was no such evaluation, or none of the candidates can lead by it: averages say who leads there.
  void cannot_score(int64_t step) { unscored_.insert(step); }
  /// Answers what is demanded by `scored` metrics of the same commit. Returns false if there are none.
  expected<bool> answer_by_scores();

  // What follows.

  /// The state at which the iteration is over, as far as that is known.
  std::optional<int64_t> over_at() const { return search_->over_at(); }
  /// The known end of a group of the iteration, which may lie ahead. Absent: none is known, or it has left.
  std::optional<spec_stop> stop_of(const std::string& group) const;

  /// The state at which training ends next; absent: that is not known.
  std::optional<int64_t> ends_at() const;
  /// Whether the next iteration follows if training ends at that state.
  bool goes_on_after(int64_t step) const { return begun_ && search_->goes_on_after(step); }
  int64_t iteration() const noexcept { return search_->iteration(); }
  /// The newest commit, or the state at which the attempt began.
  int64_t last_commit() const noexcept { return search_->last_commit(); }
  /// The blobs for the save of a state, which was `measured` or is the first one of the attempt.
  blobs blobs_at(int64_t step) const;
  /// What its checkpoint has as tensors.
  std::map<std::string, int64_t> numbers_at(int64_t step) const { return numbers_of(search_->books_at(step)); }
  /// Whether iterations end with evaluations.
  bool demands_any() const noexcept { return demands_any_; }
  struct demand {
    evaluation_purpose purpose = evaluation_purpose::choice;
    checkpoint_id commit;
  };
  /// The evaluation that the search waits for.
  std::optional<demand> demanded() const;
  /// Null unless the search wants that.
  const grow_into* grows() const noexcept { return std::get_if<grow_into>(&search_->wanted()); }
  const end_search* ends() const noexcept { return std::get_if<end_search>(&search_->wanted()); }
  /// Whether an evaluation for the choice would tell who leads at that commit, and none was made.
  bool lacks_scores(checkpoint_id commit) const;
  /// The blobs from which the next iteration is planned. The search must want to grow.
  blobs grown_blobs() const;
  /// The global step of a state; the state itself where the combiner fails, which has been an error before.
  int64_t global_step_at(int64_t step) const { return begun_ ? search_->global_step_at(step).value_or(step) : step; }
  /// The metrics of an evaluation of all candidates at a committed state, without those of candidates that have left,
  /// and those of the candidate that led there under their plain names; if none leads, "loss" is NaN. The evaluation
  /// may end after later commits.
  std::map<std::string, double> with_leader(int64_t step, std::map<std::string, double> metrics) const;
  /// The spec of the candidate that led at a commit of this attempt; absent: none, or the commit is of another one.
  std::optional<std::string> known_leader(checkpoint_id commit) const;
  /// The spec of the candidate that led at a committed state; absent: none.
  std::optional<std::string> leader_at(int64_t step) const;
  /// The candidates and subnetworks, for the records of an evaluation.
  std::vector<evaluated_part> evaluated_parts() const;
  std::string architecture_of(const std::optional<std::string>& spec) const;  ///< Empty for no candidate.
  /// The candidates that have not left. `losses`: the means of the steps that were reported last, by group.
  std::vector<candidate_progress> candidates(const std::map<std::string, group_loss>& losses) const;
  /// Absent before the first attempt.
  std::optional<search_result> result() const { return begun_ ? search_->result() : std::nullopt; }
  /// The metrics that are not of one candidate or subnetwork alone.
  std::map<std::string, double> without_candidates(std::map<std::string, double> metrics) const;

 private:
  std::optional<search> search_;
  search_books of_plan_;
  iteration_specs specs_;
  std::vector<std::string> specs_of_subnetworks() const;
  template <class Condition>
  void erase_metrics_of(std::map<std::string, double>& metrics, Condition erased) const;
  std::map<std::string, double> metrics_of_spec(const std::map<std::string, double>& all, const std::string& spec,
                                                int64_t step) const;

  std::vector<subnetwork_report> own_reports_;  ///< What builders say of the subnetworks, in order.
  bool demands_any_ = false;
  std::map<std::string, spec_stop> stops_ = {};  ///< Decided in this process, in this iteration; by group.
  expected<void> begin_search(const std::optional<checkpoint_id>& at, const blobs& of_commit,
                              const std::string& prefix);
  static constexpr size_t commits_max = 256;
  // By committed state of this attempt, the newest ones.
  std::map<int64_t, std::string> leaders_;
  std::map<int64_t, std::vector<contender>> contenders_;
  std::map<int64_t, candidate_scores> scores_;
  std::set<int64_t> unscored_;
  std::vector<contender> standing_ = {};    ///< At the newest commit.
  std::optional<std::string> leader_ = {};  ///< Then.
  void look_at_standing();
  candidate_scores scores_in(const std::map<std::string, double>& metrics, int64_t step) const;
  bool begun_ = false;  ///< An attempt has begun.
};

}  // namespace troupe
