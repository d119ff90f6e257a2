// The chief at the end of a job: event files are closed, hooks see the end, and everyone goes home.
#include "actors/chief/chief.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/files/file_system.hpp"
#include "words/text.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void chief_state::end() {
  if (ends())
    return;
  go_on();
  publish_commits();
  saves.count_held();
  now = phase::closing;
  waiting.disarm_all();
  if (ending.causes.empty())
    tell_progress();
  tell_all<role::summary_writer>(finish_log{});  // Summary writers end by themselves once all records are written.
  tell_all<role::eval_summary_writer>(finish_log{});
  arm(chief_wait::logs, options.deadlines.stop);
}

/// While event files are closed, their writers count: one that died has not written all. The end of the hooks counts until they have seen it.
bool chief_state::is_heard_at_the_end(role who, const caf::error& reason) const {
  if (who == role::callbacks)
    return now < phase::leaving;
  return row_of(who).is_log() && waiting.armed(chief_wait::logs) && reason && reason != caf::exit_reason::user_shutdown;
}

/// What can fail is done before anybody hears of the end: event files are closed, and hooks have returned from what they were told before.
bool chief_state::tell_end_when_closed() {
  if (now != phase::closing)
    return false;
  const auto& all = nodes.members();
  if (std::none_of(all.begin(), all.end(), [](const member& m) { return m.handle && row_of(m.what).is_log(); }))
    disarm(chief_wait::logs);
  const bool hooks_may_fail = ending.causes.empty() && callbacks() && facts.unanswered() > 0;
  if (waiting.armed(chief_wait::logs) || hooks_may_fail)
    return false;
  tell_end(true);
  return true;
}

void chief_state::tell_end(bool to_hooks) {
  now = phase::ending;
  const auto reached = horizon.reached();
  job_event last{.what = job_event::kind::finished, .step = reached, .max_steps = horizon.end(), .loss = results.losses.mean,
                 .metrics = last_metrics(), .arrays = results.arrays, .text = remark()};
  if (!ending.causes.empty()) {
    for (const auto& earlier : recovery.earlier())
      ending.causes.note(earlier);
    if (auto of_groups = groups.text(); !of_groups.empty())
      ending.causes.note(std::move(of_groups));
    last.what = job_event::kind::failed;
    last.failure = ending.causes.root();
  } else if (ending.stops() && !horizon.end_is_final()) {
    last.what = job_event::kind::stopped;
  }
  last.seconds = seconds();
  options.board->event(last);
  if (!callbacks() || !to_hooks)
    return send_home();
  fact f;
  f.what = fact::end_at;
  f.at = reached;
  f.news = std::move(last);
  disarm(chief_wait::hooks);
  tell(std::move(f));
}

std::map<std::string, double> chief_state::last_metrics() const {
  if (evaluations.size() > 0)
    if (const auto found = results.metrics.find(evaluations.settings(0).name); found != results.metrics.end())
      return found->second;
  if (horizon.reached() <= origin.start_step)
    return {};
  return results.last_losses();
}

void chief_state::send_home() {
  if (now >= phase::leaving)
    return;
  now = phase::leaving;
  for (const auto what : ending_order())
    for (const auto& m : nodes.members())
      if (m.what == what)
        options.nodes->end(m.id);
  options.nodes->cancel();  // The results of long steps and reads in progress are not needed.
  waiting.disarm_all();
  arm(chief_wait::gone, options.deadlines.stop);
}

/// Writers of event files that did not end in time are not waited for again.
bool chief_state::finish_when_gone() {
  const auto& all = nodes.members();
  if (now != phase::leaving || std::any_of(all.begin(), all.end(), [](const member& m) { return m.handle && !row_of(m.what).is_log(); }))
    return false;
  finish();
  return true;
}

void chief_state::finish() {
  now = ending.causes.empty() ? phase::finished : phase::failed;
  show_status();
  if (ending.causes.empty()) {
    const auto reached = horizon.reached();
    train_result result{reached, reached - origin.start_step, last_metrics(), seconds(), ending.stops() && !horizon.end_is_final(), saves.prefix(), remark()};
    result.arrays = results.arrays;
    result.evaluations = results.metrics;
    result.exports = results.exports;
    if (const auto best = judgements.best())
      result.best_checkpoint = join_path(parent_of(saves.prefix()), checkpoint_name(*best));
    if (judgements.uses_best()) {
      result.checkpoint = result.best_checkpoint;
      if (const auto& best = judgements.best_results(); !best.metrics.empty()) {
        result.metrics = best.metrics;
        result.arrays = best.arrays;
      }
    }
    if (nodes.any_alive()) {
      std::string names;
      for (const auto& who : nodes.members())
        if (who.handle)
          names += (names.empty() ? "" : ", ") + who.name;
      result.remark += (result.remark.empty() ? "" : "; ") + names + " did not end in time";
    }
    options.board->finished(std::move(result));
  } else {
    auto cause = ending.causes.root();
    for (const auto& who : nodes.members())
      if (who.handle)
        cause.notes.push_back(who.name + " did not end in time");
    options.board->finished(tl::unexpected<error>(std::move(cause)));
  }
  self->quit();
}

}  // namespace troupe
