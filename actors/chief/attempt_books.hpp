// The books of an attempt: what the chief knows that is of no use to the next attempt, which begins with fresh ones.
#pragma once

#include "actors/chief/ending.hpp"
#include "actors/chief/failures.hpp"
#include "actors/chief/horizon.hpp"
#include "actors/chief/saves.hpp"
#include "messages/report.hpp"

#include <set>

namespace troupe {

struct attempt_books {
  int32_t attempt = 1;
  int64_t began_at = 0;                         ///< The state at which it began.
  troupe::horizon horizon = troupe::horizon{};
  troupe::saves saves = {};
  failure_log causes = {};
  troupe::ending ending = {};
  std::map<node_id, int64_t> lanes = {};        ///< Without an outfeed: the state that each replica has reached.
  std::optional<int64_t> show_at = {};          ///< A state that evaluators are shown without a save, and that is not evaluated yet,
  std::set<size_t> to_show = {};                ///<   the evaluations that have something else to do before,
  bool show_sent = false, has_state = false;    ///<   whether it is on its way to evaluators, and whether they have it.
  std::map<int64_t, double> rates = {};         ///< Factors of the learning rate, by the first step that they are for.
  std::optional<checkpoint_id> rates_of = {};   ///< A save whose books were sent before a factor that is for its state.
  std::map<int64_t, std::optional<checkpoint_id>> best_in_books = {};  ///< The best that the books of a save name which is not committed yet.
  int64_t verdicts_on_way = 0;                  ///< Verdicts that are not known to be durable,
  bool verdict_awaited = false;                 ///<   and whether nothing is granted until they are.
  std::map<uint64_t, int64_t> announced = {};   ///< Saves that listeners are hearing of, whose books wait for that, by the fact's number.
  std::map<uint64_t, committed> heard = {};     ///< Commits that listeners are hearing of, whose evaluation waits for that.
  std::set<node_id> halting = {};               ///< Nodes that were told to halt, and neither answered nor ended.
};

}  // namespace troupe
