// The outfeed: joins the reports of the replicas and passes them on in step order.
#pragma once

#include "actors/steps/told_states.hpp"
#include "messages/early_messages.hpp"
#include "messages/interfaces.hpp"

#include <caf/actor_clock.hpp>

namespace troupe {

struct outfeed_options {
  std::string name = "outfeed";
  /// In the order in which their values are shown. The first group that has not left gives the job's number, and
  /// determines which steps are watched and recorded.
  std::vector<reported_group> groups;
  /// The name of the group whose loss is that of the job in its event file, from what groups told for the newest save,
  /// and the names of those that have left. Null: the job has no loss of its own, or its only group's.
  std::function<std::optional<std::string>(const std::map<std::string, double>& told,
                                           const std::set<std::string>& left)>
      leader;
  std::map<std::string, double> constants = {};   ///< Recorded at every summary step, by tag.
  int64_t log_every = 100;                        ///< Steps between loss points in the log; 0: no log.
  int64_t rows = 0;                               ///< Examples of a step, for the record of the speed; 0: not known.
  bool loops = false;                             ///< In training: whether loops are counted.
  int64_t records_ahead = initial_record_credit;  ///< The summary writer's initial credit.
};

/// Holds entries until all replicas of all groups have sent theirs, then passes them on in step order. If the summary
/// writer has no room for the record of a step, that step and all later ones are held back, so the horizon waits while
/// the disk is slow.
struct outfeed_state {
  static inline const char* name = "outfeed";
  outfeed_actor::stateful_pointer<outfeed_state> self = nullptr;
  outfeed_options options;
  activity spent;  ///< See counted.hpp.
  progress_sink_actor sink;
  record_sink_actor writer;  ///< Null: nothing is recorded.

  int32_t attempt = 0;
  int64_t step = 0;                   ///< The state that all replicas have reached.
  std::vector<group_reports> groups;  ///< One for each group, in the order of the options.
  told_states told;
  /// What was told for the newest saves up to `step`, by state. An attempt may begin at one of these.
  std::map<int64_t, std::map<std::string, double>> told_before;
  int64_t next_shown = 0;  ///< Values of earlier states were passed on, or will not be.
  bool end_passed = false;
  loop_spans loops;
  loop_point open;                                          ///< The loop that state `step` is in.
  loss_meter of_open;                                       ///< The losses of its steps.
  std::optional<caf::actor_clock::time_point> last_passed;  ///< Until when time was divided among steps.
  early_messages<step_report, stream_end> early;            ///< From replicas that have already begun the next attempt.
  struct call_lane {
    credit_source_actor replica;
    int64_t granted = 0;  ///< Entries for which the replica was told that there is room.
  };
  std::map<edge_id, call_lane> call_lanes;

  int64_t records = 0, room_until = 0;  ///< Records sent in this attempt, and how many the writer has room for.
  std::map<int64_t, double> rates;      ///< Factors of the learning rate, by the first step to which each applies.
  bool texts_sent = false;              ///< In this attempt. Texts are recorded once, with the first summaries.
  std::optional<std::pair<int64_t, caf::actor_clock::time_point>> last_record;

  void on_begin(const begin& x);
  void on_report(const step_report& x);
  void on_end(const stream_end& x);
  void on_called(const block& x);
  void on_record_credit(const record_credit& x);
  void on_departed(const departed& x);
  void on_retire(const retire& x);
  void on_probe(const probe& x);
  wait_cause waits_for() const { return has_room() ? wait_cause::input : wait_cause::room; }

  group_reports* group_of(node_id replica);
  group_reports* lead();  ///< The first group that has not left; null if all have.
  enum class passing : uint8_t {
    /// Steps that all groups have reported and whose records have room; an end once all groups have reached it.
    complete,
    everything,  ///< All reports and ends that have arrived.
  };
  void pass_reports(passing what);
  void pass_end(passing what);
  /// Tries the end, too: another group may have failed at the step that has now been reached.
  void pass_on() { pass_reports(passing::complete), pass_end(passing::complete); }
  void flush() { pass_reports(passing::everything), pass_end(passing::everything); }
  std::vector<told_state> take_told();  ///< Up to state `step`, those that all groups have told.
  /// Counts the step that was just passed on, which took `seconds`, for its loop. Returns the loop if it ends with it.
  std::optional<loop_point> count_for_loop(const group_reports& lead, double seconds);
  bool metrics_due() const;  ///< Whether replicas measured up to state `step + 1`.
  bool has_room() const { return !writer || records < room_until; }
  loss_point point(loss_meter group_reports::meters::*meter);
  void take_watched(group_reports& first, std::vector<step_values>& into);  ///< Up to state `step`.

  // outfeed_calls.cpp: host calls
  std::vector<call_set> calls_due() const;  ///< In the step that leads to `step + 1`, by group; none: empty.
  /// Makes these calls. Returns what they recorded, by group, or nothing; an error if one threw.
  expected<std::vector<std::vector<summary_value>>> make_calls(const std::vector<call_set>& due);
  void give_room();  ///< Where there is more room for entries than was told.

  // outfeed_records.cpp: what a step writes to event files
  void forget_rates();   ///< Those that no step from `step` on needs.
  double rate_factor();  ///< Of the step that led to `step`.
  /// Of each group, at state `step`. Throws if a function of the model fails, which ends the job.
  std::vector<metric_results> take_metrics();
  metric_results joined(const std::vector<metric_results>& of_groups) const;  ///< With the names that users see.
  /// `called`: what host calls recorded, by group, or nothing.
  void send_record(bool recorded, const std::vector<metric_results>& metrics,
                   std::vector<std::vector<summary_value>> called);
  std::vector<summary_value> take_summaries(size_t group);
  /// Adds what the group records to the record, where it belongs.
  void record_group(size_t group, std::vector<summary_value> values, record& into) const;
  void record_speed(record& into);
  std::optional<std::string> shown_group() const;  ///< See outfeed_options::leader.
};

outfeed_actor::behavior_type outfeed(outfeed_actor::stateful_pointer<outfeed_state> self, outfeed_options options,
                                     progress_sink_actor sink);

}  // namespace troupe
