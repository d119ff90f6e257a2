// The ending: why a job ends, how far an attempt has come with it, and what a draining chief still waits for. Plain
// data.
#pragma once

#include "actors/chief/evaluations.hpp"
#include "actors/chief/failures.hpp"
#include "actors/chief/horizon.hpp"
#include "actors/chief/saves.hpp"

namespace troupe {

/// The current response to a failure.
enum class failing : uint8_t {
  no,
  replacing,  ///< A new checkpoint writer is started for the last save: `saving` follows.
  saving,     ///< The model is healthy: its state at the horizon is saved, then the job ends.
  settling,   ///< No later step can be made: saves that the checkpoint writer can still complete are awaited.
};

/// Why a job ends before its goal and makes no other attempt. A later cause in this list replaces an earlier one.
enum class end_cause : uint8_t {
  none,
  stop,        ///< Requested.
  not_finite,  ///< A step is not finite: an evaluation of the state before it may not be finite either.
  signal,      ///< Requested by a signal: nothing more is evaluated.
};

/// How far the end has come; states follow one another only in this order.
enum class end_state : uint8_t {
  open,
  cut,       ///< Replicas end at the step at hand, and reads that block are cancelled.
  ended,     ///< All replicas have stopped, or will, at the horizon's end; nothing is read beyond it.
  exported,  ///< The exporters of the end were asked to run.
};

class ending {
 public:
  end_cause cause() const noexcept { return cause_; }
  end_state state() const noexcept { return state_; }
  troupe::failing failing() const noexcept { return failing_; }
  bool stops() const noexcept { return cause_ != end_cause::none; }
  bool fails() const noexcept { return failing_ != failing::no; }

  void because(end_cause why) { cause_ = std::max(cause_, why); }
  /// Returns false if the end was already at `s` or further.
  bool goes_to(end_state s) { return s > std::exchange(state_, std::max(state_, s)); }
  /// Returns false if this response is under way already, or one after which no other state is saved.
  bool fails_by(troupe::failing response) { return response > std::exchange(failing_, std::max(failing_, response)); }

  failure_log causes = {};
  std::optional<error> pending_failure = {};  ///< An infeed's failure at a step that has not been reached.
  std::string remark = {};                    ///< Why the job ended, if it ended otherwise than requested.
  bool data_ended = false;                    ///< The data have ended where the job does.
  std::set<node_id> halting = {};             ///< Nodes that were told to halt and have neither answered nor ended.
  bool awaits_nodes = false;                  ///< The end waits for nodes that are being started.
  uint32_t flushes = 0;                       ///< The number of `flush` messages to the outfeed in this attempt.

 private:
  end_cause cause_ = end_cause::none;
  end_state state_ = end_state::open;
  troupe::failing failing_ = failing::no;
};

/// The other inputs of a draining chief's decision.
struct drain_situation {
  int64_t start_step = 0;  ///< The step where this process started the job.
  bool evaluates = false;  ///< The job has a living evaluator.
  bool outfeed = true;
  bool facts_expected = false;  ///< A watch was marked, and its fact has not been sent.
  bool flushing = false;        ///< The outfeed's answer to `flush` is awaited.
  bool halting = false;         ///< A new attempt may follow, and some nodes have not answered `halt`.
  /// An evaluation has exporters for the end, and the job has reached its goal or was ended by a rule.
  bool exports = false;
  bool end_unsaid = false;   ///< The job has finished, or a rule has ended it, which its last checkpoint does not say
                             ///< yet.
  bool verdicts = false;     ///< Verdicts are on their way to the disk.
  bool may_recover = false;  ///< A new attempt may follow, so all that can be known of the failure counts.
};

enum class drain_next : uint8_t {
  wait,
  flush,          ///< The outfeed is flushed before the attempt ends as failed.
  judge,          ///< The last checkpoint gets the verdict that a rule has ended the job there.
  export_last,    ///< The exporters of the end run on the last checkpoint.
  keep_verdicts,  ///< Only verdicts on their way to the disk are awaited.
  evaluate,       ///< The last checkpoint is evaluated, regardless of the throttle.
  end,
};
/// The next action once the end is known and granted.
drain_next next_of_draining(const ending& how, const horizon& ahead, const saves& saving, const evaluations& evaluating,
                            const gates& closed, const drain_situation& s);

}  // namespace troupe
