#include "actors/chief/ending.hpp"

namespace troupe {

drain_next next_of_draining(const ending& how, const horizon& ahead, const saves& saving, const evaluations& evaluating,
                            const gates& closed, const drain_situation& s) {
  const bool silent = ahead.idle() && !s.facts_expected;  // No further report follows.
  if (how.failing() == failing::replacing)
    return drain_next::wait;
  if (s.flushing)
    return drain_next::wait;  // A node has died: the decision about that comes first.
  if (how.fails()) {          // Awaits only the saves and the reports of finished steps.
    if (saving.any() || s.halting)
      return drain_next::wait;
    return s.outfeed && (!silent || s.may_recover) ? drain_next::flush : drain_next::end;
  }
  if (ahead.reached() < *ahead.end() || saving.any() || saving.any_held() || !evaluating.idle()
      || closed.held_by_hooks() || s.facts_expected)
    return drain_next::wait;
  const auto newest = saving.last_commit();
  const bool is_new = newest && newest->step == *ahead.end() && !evaluating.have_ended(*newest)
                      && newest->step > s.start_step;
  if (s.evaluates && how.cause() != end_cause::signal && is_new)
    return drain_next::evaluate;
  const bool is_last = newest && newest->step == *ahead.end();
  if (s.end_unsaid && is_last)
    return drain_next::judge;
  if (s.exports && how.state() < end_state::exported && how.cause() != end_cause::signal && is_last)
    return drain_next::export_last;
  return s.verdicts ? drain_next::keep_verdicts : drain_next::end;
}

}  // namespace troupe
