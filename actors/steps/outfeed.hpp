// The outfeed: drains what the replicas produce.
#pragma once

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
    std::string name;                ///< Before the tags of what is recorded; empty where there is one.
    std::vector<source> replicas;    ///< In order: their losses are added up by a tree.
    std::vector<component> outputs = {};  ///< Of a program that trains, whose loss is shown as the mean over all replicas; else none.
    summary_recipes summaries = {};  ///< What becomes of what the replicas record.
  };
  std::vector<group> groups;         ///< The loss of the first is that of the job, and its first replica shows the values of a step.
  int64_t log_every = 100;           ///< Steps between logged loss points; 0: none.
  int64_t records_ahead = record_window;  ///< Credit that the summary writer gives before it is asked.
};

/// Holds entries until all replicas of all groups have sent theirs, then passes them on in step order. A step whose record the summary
/// writer has no room for is not passed on, nor is any after it: so the horizon stands still while the disk does.
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
    std::deque<double> losses;              ///< Of steps `step`, step + 1, …
    std::deque<step_values> watched;
    std::deque<recorded_step> recorded;
    int64_t next_watched = 0;               ///< Of no earlier state are values still to come.
    double seconds_per_step = 0;
    std::optional<stream_end> end;
  };
  std::vector<lane> lanes;                  ///< Group after group.
  struct loss_meters {
    loss_meter since_progress, since_log;
  };
  std::vector<loss_meters> meters;               ///< One a group.
  int64_t records = 0, room_until = 0;      ///< Of this attempt: sent, and paid for.
  std::optional<std::pair<int64_t, caf::actor_clock::time_point>> last_record;
  bool end_passed = false;

  void on_begin(const begin& x);
  void on_report(const step_report& x);
  void on_end(const stream_end& x);
  void on_room(const room& x);
  void pass_on(bool whatever_there_is = false);
  bool record_due() const;                  ///< Whether the step that leads to state `step + 1` recorded something.
  void send_record(const std::vector<double>& losses);
  void record_group(size_t group, double loss, record& into);
  lane* lane_of(node_id replica);
  std::vector<double> take_losses();        ///< Of the next step, one a group.
  loss_point point(loss_meter loss_meters::*meter) const;
  void pass_end(bool whatever_there_is);
};

outfeed_actor::behavior_type outfeed(outfeed_actor::stateful_pointer<outfeed_state> self, outfeed_options options,
                                     progress_sink_actor sink, summary_writer_actor writer);

}  // namespace troupe
