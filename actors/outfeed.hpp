// The outfeed: drains what the replicas produce.
#pragma once

#include "compute/loss_meter.hpp"
#include "messages/interfaces.hpp"

#include <deque>

namespace troupe {

struct outfeed_options {
  std::string name = "outfeed";
  int32_t replicas = 1;
  int64_t log_every = 100;  ///< Steps between logged loss points; 0: none.
};

/// Holds entries until all R replicas have sent theirs, then passes them on in step order.
struct outfeed_state {
  static inline const char* name = "outfeed";
  outfeed_actor::stateful_pointer<outfeed_state> self = nullptr;
  outfeed_options options;
  progress_sink_actor sink;

  int32_t attempt = 0;
  int64_t step = 0;                         ///< All replicas reached this state.
  struct lane {
    std::deque<double> losses;              ///< Of steps `step`, step + 1, …
    std::deque<step_values> watched;
    int64_t next_watched = 0;               ///< Of no earlier state are values still to come.
    double seconds_per_step = 0;
    std::optional<stream_end> end;
  };
  std::vector<lane> lanes;
  loss_meter since_progress, since_log;

  void on_begin(const begin& x);
  void on_report(const step_report& x);
  void on_end(const stream_end& x);
  void pass_on();
  void pass_end(bool whatever_there_is);
};

outfeed_actor::behavior_type outfeed(outfeed_actor::stateful_pointer<outfeed_state> self, outfeed_options options,
                                     progress_sink_actor sink);

}  // namespace troupe
