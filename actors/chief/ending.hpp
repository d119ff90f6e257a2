// The ending: why a job ends, and what a draining chief still waits for. Plain data.
#pragma once

#include "actors/chief/evaluations.hpp"
#include "actors/chief/horizon.hpp"
#include "actors/chief/saves.hpp"

namespace troupe {

/// The response to a failure that is under way.
enum class failing : uint8_t {
  no,
  saving,    ///< The model is healthy: its state at the horizon is saved, then the job ends.
  settling,  ///< No later step can be made: saves that the checkpoint writer can still complete are awaited.
};

struct ending {
  bool stopping = false;      ///< A stop was requested.
  bool by_signal = false;
  bool cut = false;           ///< The horizon was cut: replicas end at the step at hand.
  bool stream_ended = false;
  bool flushing = false;      ///< The outfeed's answer to `flush` is awaited.
  bool sent_home = false, hooks_done = false;
  bool not_finite = false;    ///< The job stops before a step that is not finite: an evaluation of its last state may not be finite either.
  bool early = false;         ///< A rule has ended the job: the checkpoint of its end says so.
  bool early_kept = false;    ///< That is durable.
  bool exported = false;      ///< The exporters of the end have been asked.
  troupe::failing failing = troupe::failing::no;
  std::optional<error> announced = {};  ///< An infeed's failure at a step that has not been reached.
  std::string remark = {};              ///< Why the job ended, if it ended otherwise than requested.

  bool fails() const noexcept { return failing != troupe::failing::no; }
};

/// The other inputs of a draining chief's decision.
struct drain_situation {
  int64_t start_step = 0;         ///< The step where this process started the job.
  bool evaluates = false;         ///< The job has an evaluator that is alive.
  bool outfeed = true;
  bool facts_expected = false;    ///< A watch was marked whose fact has not been sent.
  bool halting = false;           ///< A new attempt may follow, and nodes have not answered `halt`.
  bool exports = false;           ///< An evaluation has exporters for the end, and the job has reached its goal or was ended by a rule.
  bool verdicts = false;          ///< Verdicts are on their way to the disk.
  bool may_recover = false;       ///< A new attempt may follow: all that is known of the failure counts.
};

enum class drain_next : uint8_t {
  wait,
  flush,     ///< The outfeed is flushed before the attempt ends as failed.
  judge,     ///< The last checkpoint is told that the job has ended there by a rule.
  export_last,  ///< The exporters of the end run on the last checkpoint.
  keep_verdicts,  ///< All is done but for verdicts on their way to the disk.
  evaluate,  ///< The last checkpoint is evaluated, regardless of the throttle.
  end,
};
/// The next action once the end is known and granted.
drain_next next_of_draining(const ending& how, const horizon& ahead, const saves& saving, const evaluations& evaluating, const gates& closed,
                            const drain_situation& s);

}  // namespace troupe
