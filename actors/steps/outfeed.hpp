// The outfeed: joins the reports of the replicas and passes them on in step order.
#pragma once

#include "messages/early_messages.hpp"
#include "compute/engine/loss_meter.hpp"
#include "compute/engine/step_engine.hpp"
#include "messages/interfaces.hpp"

#include <caf/actor_clock.hpp>

#include <deque>

namespace troupe {

struct outfeed_options {
  std::string name = "outfeed";
  struct source {
    node_id id{};
    std::string name;
  };
  struct group {
    std::string name;                ///< Prefix of the tags of its summaries; empty in a job with one group.
    std::vector<source> replicas;    ///< In replica order, in which their losses are added by a tree.
    std::vector<program_output> outputs = {};  ///< In training: the program's outputs, with the mean loss over all replicas.
    summary_recipes summaries = {};  ///< How recorded tensors become summary values.
    std::vector<program_output> measured = {};  ///< In training: the sums of metrics that its replicas add up,
    metric_functions metrics = {};              ///<   and the functions of these metrics.
    std::vector<observable> observables = {};  ///< In training: what its replicas observe for hooks.
  };
  std::vector<group> groups;         ///< The first one has the job's loss; hooks see the losses of all.
  int64_t log_every = 100;           ///< Steps between loss points in the log; 0: none.
  int64_t records_ahead = record_window;  ///< Credit of the summary writer at the beginning.
};

/// Holds entries until all replicas of all groups have sent theirs, then passes them on in step order. A step whose
/// record the summary writer has no room for is held back, with all later ones: the horizon waits while the disk is
/// slow.
struct outfeed_state {
  static inline const char* name = "outfeed";
  outfeed_actor::stateful_pointer<outfeed_state> self = nullptr;
  outfeed_options options;
  progress_sink_actor sink;
  summary_writer_actor writer;              ///< None: nothing is recorded.

  int32_t attempt = 0;
  int64_t step = 0;                         ///< All replicas reached this state.
  struct lane {
    node_id from{};
    size_t group = 0;
    std::deque<double> losses;              ///< Losses of steps `step`, step + 1, …
    std::deque<step_values> watched;
    std::deque<recorded_step> recorded;
    std::deque<measured_steps> measured;
    int64_t next_watched = 0;               ///< No values of an earlier state will follow.
    double seconds_per_step = 0;
    std::optional<stream_end> end;
    bool left = false;                      ///< Its group has left: nothing is awaited of it.
  };
  std::vector<lane> lanes;                  ///< The replicas of the first group, then those of the next.
  struct loss_meters {
    loss_meter since_progress, since_log;
  };
  std::vector<loss_meters> meters;               ///< One for each group.
  std::vector<double> last_losses;          ///< Of the step that led to `step`; empty: none in this attempt.
  int64_t records = 0, room_until = 0;      ///< Records sent in this attempt, and their credit.
  std::map<int64_t, double> rates;          ///< Factors of the learning rate, by the first step that they are for.
  bool texts_sent = false;                  ///< In this attempt: they are kept once, with the first summaries.
  std::optional<std::pair<int64_t, caf::actor_clock::time_point>> last_record;
  bool end_passed = false;
  early_messages<step_report, stream_end> early;  ///< Of replicas that have begun the next attempt already.

  void on_begin(const begin& x);
  void on_report(const step_report& x);
  void on_end(const stream_end& x);
  void on_record_credit(const record_credit& x);
  void on_departed(const departed& x);
  double rate_factor();                     ///< Of the step that led to `step`.
  void pass_on(bool whatever_there_is = false);
  bool record_due() const;                  ///< Whether the step to state `step + 1` recorded.
  bool metrics_due() const;                 ///< Whether replicas measured up to state `step + 1`.
  metric_results take_metrics();            ///< Of all groups, at state `step`. Throws where a function of the model's fails: the job ends.
  void send_record(const std::vector<double>& losses, bool recorded, const metric_results& metrics);
  void record_group(size_t group, double loss, record& into);
  lane* lane_of(node_id replica);
  bool has_left(size_t group) const;
  std::vector<double> take_losses();        ///< Losses of the next step, one for each group; 0 for one that has left.
  loss_point point(loss_meter loss_meters::*meter) const;
  void show_losses(const std::vector<double>& losses, std::vector<tensor>& values) const;
  step_values take_watched();               ///< Of the whole step: the next one that the first lane has.
  void pass_end(bool whatever_there_is);
};

outfeed_actor::behavior_type outfeed(outfeed_actor::stateful_pointer<outfeed_state> self, outfeed_options options,
                                     progress_sink_actor sink, summary_writer_actor writer);

}  // namespace troupe
