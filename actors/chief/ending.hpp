// The ending: why a job stops growing, and what a draining chief still waits for. Plain data.
#pragma once

#include "actors/chief/evaluations.hpp"
#include "actors/chief/horizon.hpp"
#include "actors/chief/saves.hpp"

namespace troupe {

/// How far a failure has led.
enum class failing : uint8_t {
  no,
  saving,    ///< The model is well: its state at the horizon is saved, then the job ends.
  settling,  ///< Nothing more can be computed: what the checkpoint writer can still complete is awaited.
};

struct ending {
  bool stopping = false;      ///< The user asked for it.
  bool by_signal = false;
  bool cut = false;           ///< Replicas were told to end where they stand.
  bool stream_ended = false;
  bool flushing = false;      ///< What the outfeed holds is awaited.
  bool sent_home = false, hooks_done = false;
  troupe::failing failing = troupe::failing::no;
  std::optional<error> announced = {};  ///< An infeed's failure at a step that has not been reached.
  std::string remark = {};              ///< Why the job ended, where that is not what was asked for.

  bool fails() const noexcept { return failing != troupe::failing::no; }
};

/// What a draining chief knows beside its own books.
struct drain_situation {
  int64_t start_step = 0;         ///< Where this run of the job started.
  bool evaluates = false;         ///< There is an evaluator, and it is not left out.
  bool outfeed = true;
  bool facts_expected = false;    ///< A step was marked to be shown that has not been told.
};

enum class drain_next : uint8_t {
  wait,
  flush,     ///< The outfeed passes on what it has, before the job ends as failed.
  evaluate,  ///< The last checkpoint, whatever the throttle says.
  end,
};
/// While the end is known and nothing is granted beyond it.
drain_next next_of_draining(const ending& how, const horizon& ahead, const saves& saving, const evaluations& evaluating, const gates& closed,
                            const drain_situation& s);

}  // namespace troupe
