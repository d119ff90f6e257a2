// The reports of one group's replicas, joined step by step. Plain data.
#pragma once

#include "compute/engine/loss_meter.hpp"
#include "compute/engine/step_engine.hpp"
#include "messages/report.hpp"

#include <deque>

namespace troupe {

/// A node that reports steps.
struct report_source {
  node_id id{};
  std::string name;
};

struct reported_group {
  std::string name;                   ///< Prefix of its values; empty in a job with one group.
  std::vector<report_source> replicas;  ///< In replica order, in which their losses are added by a tree.
  std::vector<program_output> outputs = {};  ///< In training: the program's outputs, with the mean loss over all replicas.
  summary_recipes summaries = {};     ///< How recorded tensors become summary values.
  std::vector<program_output> measured = {};  ///< In training: the sums of metrics that its replicas add up,
  metric_functions metrics = {};              ///<   and the functions of these metrics.
  std::vector<observable> observables = {};  ///< In training: what its replicas observe for hooks.

  /// "loss" as the name of a value of the group: "mixture/loss", or "loss" in a job with one group.
  std::string prefixed(const std::string& value) const { return name.empty() ? value : name + "/" + value; }
};

/// Holds what each replica has reported beyond `step`, the state that all replicas of all groups have reached.
class group_reports {
 public:
  explicit group_reports(const reported_group& of);

  bool has(node_id replica) const;
  /// A report or an end of one of its replicas. A report that begins at another step than the next one of that replica is a repeated one.
  void add(const step_report& x, int64_t step);
  void add(const stream_end& x);
  /// Nothing is awaited of it any more.
  void leave();
  bool has_left() const noexcept { return left_; }

  /// The steps beyond `step` that all of its replicas have made, and how many a replica has.
  size_t ready() const;
  size_t reported_by(size_t replica) const { return lanes_[replica].losses.size(); }
  double seconds_per_step() const;  ///< The slowest replica's in its newest report.
  /// The mean loss of the next step over the replicas, which is counted and is the last one from then on.
  double take_loss();
  std::optional<double> last_loss() const noexcept { return last_; }
  /// Of all steps since they were cleared.
  struct meters {
    loss_meter since_progress, since_log;
  };
  meters& losses() noexcept { return meters_; }

  /// Whether its replicas recorded, or measured, up to that state.
  bool records(int64_t step) const;
  bool measures(int64_t step) const;
  /// What was recorded of it. Nothing of it, or of earlier states, is left.
  recorded_sets take_recorded(int64_t step);
  /// The metrics up to that state; without numbers where it has none. The error is of a function of the model's.
  expected<metric_results> take_metrics(int64_t step);

  /// The state whose values its first replica reported first, of those that were not taken.
  std::optional<int64_t> watched() const;
  /// The values of its first replica, with the mean loss.
  std::vector<tensor> take_watched();
  /// What all of its replicas observed of that state. Nothing that is watched up to there is left.
  std::vector<std::vector<tensor>> take_observed(int64_t step);

  /// The end that all of its replicas have said, or with `of_any` one of them: the earliest.
  const stream_end* end(bool of_any) const;

 private:
  struct lane {
    node_id from{};
    std::deque<double> losses;       ///< Of steps `step`, step + 1, …
    std::deque<step_values> watched;
    std::deque<recorded_step> recorded;
    std::deque<measured_steps> measured;
    int64_t next_watched = 0;        ///< No values of an earlier state will follow.
    double seconds_per_step = 0;
    std::optional<stream_end> end;
  };

  const reported_group& of_;
  std::vector<lane> lanes_;
  std::vector<double> of_step_;      ///< Losses of one step, by replica.
  meters meters_;
  std::optional<double> last_;
  bool left_ = false;
};

}  // namespace troupe
