// The reports of one group's replicas, joined step by step. Plain data.
#pragma once

#include "compute/engine/loss_meter.hpp"
#include "compute/engine/step_engine.hpp"
#include "messages/block.hpp"
#include "messages/report.hpp"
#include "plan/plan_group.hpp"
#include "words/batch_share.hpp"

#include <deque>

namespace troupe {

/// A node that reports steps.
struct report_source {
  node_id id{};
  std::string name;
  std::optional<edge_id> calls = {};  ///< What it sends for host calls.
  batch_share share = {};             ///< In an evaluation or a prediction: the batches that it computes.
};

struct reported_group {
  group_id id{};                        ///< In training.
  std::string name;                     ///< Prefix of the group's values; empty in a job with one group.
  std::vector<report_source> replicas;  ///< In replica order, the order of the tree that adds their losses.
  /// In training: the program's outputs, with the mean loss over all replicas.
  std::vector<program_output> outputs = {};
  summary_recipes summaries = {};               ///< How recorded tensors become summary values.
  group_summaries where = {};                   ///< What becomes of these; their scope is cut off already.
  std::optional<int64_t> retires_at = {};       ///< In training: see plan_group.
  std::vector<program_output> measured = {};    ///< In training: sums of metrics, made by the replicas.
  metric_functions metrics = {};                ///< The functions of these metrics.
  std::vector<std::string> told_at_saves = {};  ///< In training: see plan_group.
  std::vector<observable> observables = {};     ///< In training: values that the replicas observe for hooks.
  troupe::mode mode = mode::train;
  host_call_forms calls = {};  ///< The host calls of its program.

  /// The name of a value of the group: for "loss" it is "mixture/loss", or "loss" in a job with one group.
  std::string prefixed(const std::string& value) const { return name.empty() ? value : name + "/" + value; }
};

/// Holds what each replica has reported beyond `step`, the state that all replicas of all groups have reached. In an
/// evaluation or a prediction a step is one batch, which is dealt to one of the replicas.
class group_reports {
 public:
  explicit group_reports(const reported_group& of);

  bool has(node_id replica) const;
  /// Adds a report or an end of one of the group's replicas. A report that does not begin at that replica's next step
  /// is a repeated one and is ignored.
  void add(const step_report& x, int64_t step);
  void add(const stream_end& x);
  /// What a replica of the group gives to host calls in one step. Returns false for an edge of another group.
  bool add(const block& x);
  /// The group has left: nothing more is awaited of it.
  void leave();
  bool has_left() const noexcept { return left_; }

  /// The number of steps beyond `step` that all replicas have reported; below, the number that one replica has
  /// reported.
  size_t ready() const;
  size_t reported_by(size_t replica) const { return lanes_[replica].losses.size(); }
  double seconds_per_step() const;  ///< Of the slowest replica, from its newest report.
  /// Takes the mean loss over the replicas of the next step, adds it to the meters and keeps it as the last loss.
  double take_loss();
  std::optional<double> last_loss() const noexcept { return last_; }
  double last_loss_of_first() const { return of_step_.front(); }  ///< The same on the first replica alone.
  /// The losses of all steps since each meter was cleared.
  struct meters {
    loss_meter since_progress, since_log;
  };
  meters& losses() noexcept { return meters_; }

  /// Whether the oldest recorded summaries, or the oldest measured metrics, are those of state `step`.
  bool records(int64_t step) const;
  bool measures(int64_t step) const;
  /// Takes the oldest recorded summaries of each replica, if they are of state `step` or an earlier one.
  recorded_sets take_recorded(int64_t step);
  /// Takes the metrics up to that state; without numbers if there are none. An error comes from a function of the
  /// model.
  expected<metric_results> take_metrics(int64_t step);

  /// The host calls that are due in step `step`, which is number `step_of_loop` of its loop.
  call_set calls_due(int64_t step, int64_t step_of_loop) const;
  /// Takes the entries of that step, one for each replica; they came before its reports.
  std::vector<call_entry> take_called(int64_t step);
  /// The edges of the group's replicas to the outfeed, the entries that were taken of each, and the bytes of the
  /// largest one that came along it.
  struct called_entries {
    edge_id edge{};
    int64_t taken = 0, bytes_max = 0;
  };
  std::vector<called_entries> called() const;

  /// The first state whose values the first replica has reported and that were not taken.
  std::optional<int64_t> watched() const;
  /// Takes the values of the first replica, with the mean loss.
  std::vector<tensor> take_watched();
  /// Takes what all replicas observed of that state, and removes everything watched up to there.
  std::vector<std::vector<tensor>> take_observed(int64_t step);

  /// The earliest end that a replica of the group has reported; null while none has.
  const stream_end* first_end() const;
  /// The same once all replicas of the group have reported an end; null before. In an evaluation or a prediction the
  /// earliest end is that of all.
  const stream_end* common_end() const;

 private:
  struct lane {
    node_id from{};
    std::deque<double> losses;  ///< Of steps `step`, step + 1, …
    std::deque<step_values> watched;
    std::deque<recorded_step> recorded;
    std::deque<measured_steps> measured;
    std::optional<edge_id> calls;
    std::deque<block> called;
    int64_t called_taken = 0, called_bytes_max = 0;
    batch_share share;
    int64_t taken = 0;         ///< Its steps whose losses were taken.
    int64_t next_watched = 0;  ///< Values of earlier states are repeated ones.
    double seconds_per_step = 0;
    std::optional<stream_end> end;
  };

  /// In an evaluation or a prediction: the replica that computes that batch. Else the first one, which shows values.
  lane& lane_of(int64_t batch);
  const lane& lane_of(int64_t batch) const { return const_cast<group_reports*>(this)->lane_of(batch); }

  const reported_group& of_;
  bool dealt_ = false;
  int64_t taken_ = 0;       ///< Steps whose losses were taken.
  int64_t next_shown_ = 0;  ///< In an evaluation or a prediction: the next batch whose values are taken.
  std::vector<lane> lanes_;
  std::vector<double> of_step_;  ///< The losses of one step, by replica.
  meters meters_;
  std::optional<double> last_;
  bool left_ = false;
};

}  // namespace troupe
