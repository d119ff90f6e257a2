// The chief at the end of a job: event files are closed, hooks see the end, and the nodes are ended.
#include "actors/chief/chief_subjects.hpp"
#include "words/text.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static std::map<std::string, double> last_metrics(const chief_state& c);

/// Ends the job. While nodes are being started, only notes that, and ends the job once they are there: they hold files,
/// and one of them may call hooks, which must see the end.
void end(chief_state& c) {
  if (c.ends())
    return;
  if (c.agents.awaited()) {
    c.ending.awaits_nodes = true;
    return;
  }
  go_on(c);
  publish_commits(c);
  c.saves.count_held();
  c.now = chief_phase::closing;
  c.waiting.disarm_all();
  if (c.ending.causes.empty())
    c.tell_progress();
  c.tell_all<role::summary_writer>(finish_log{});  // Summary writers end by themselves once all records are written.
  c.tell_all<role::eval_summary_writer>(finish_log{});
  c.arm(chief_wait::logs, c.options.deadlines.stop);
}

bool end_with_nodes(chief_state& c) {
  if (c.ends() || !c.ending.awaits_nodes || c.agents.awaited())
    return false;
  end(c);
  return true;
}

/// Whether the end of such a node is a failure of the ending job. While event files are closed, a writer that dies has
/// not written everything. The callbacks' end is a failure until the hooks have seen the end.
bool is_heard_at_the_end(const chief_state& c, role who, const caf::error& reason) {
  if (who == role::callbacks)
    return c.now < chief_phase::leaving;
  return row_of(who).is_log() && c.waiting.armed(chief_wait::logs) && reason
         && reason != caf::exit_reason::user_shutdown;
}

/// Everything that can fail happens before the end is told: event files are closed, and hooks have answered all earlier
/// facts.
bool tell_end_when_closed(chief_state& c) {
  if (c.now != chief_phase::closing)
    return false;
  const auto& all = c.nodes.members();
  if (std::none_of(all.begin(), all.end(), [](const member& m) { return m.handle && row_of(m.what).is_log(); }))
    c.disarm(chief_wait::logs);
  const bool hooks_may_fail = c.ending.causes.empty() && c.callbacks() && c.facts.unanswered() > 0;
  if (c.waiting.armed(chief_wait::logs) || hooks_may_fail)
    return false;
  tell_end(c, end_listeners::all);
  return true;
}

void tell_end(chief_state& c, end_listeners to) {
  c.now = chief_phase::ending;
  const auto reached = c.horizon.reached();
  job_event last{.what = job_event::kind::finished,
                 .step = reached,
                 .max_steps = c.shown_end(),
                 .loss = c.results.losses.mean,
                 .metrics = last_metrics(c),
                 .arrays = c.results.arrays,
                 .text = c.remark()};
  if (!c.ending.causes.empty()) {
    for (const auto& earlier : c.next.recovery.earlier())
      c.ending.causes.note(earlier);
    if (auto of_groups = c.groups.text(); !of_groups.empty())
      c.ending.causes.note(std::move(of_groups));
    last.what = job_event::kind::failed;
    last.failure = c.ending.causes.root();
  } else if (c.was_stopped()) {
    last.what = job_event::kind::stopped;
  }
  last.seconds = c.seconds();
  c.options.board->event(last);
  if (!c.callbacks() || to == end_listeners::but_hooks)
    return end_job_nodes(c);
  if (!last.failure)
    tell_loop(c, std::exchange(c.results.open_loop, {}));
  fact f;
  f.what = fact::end_at;
  f.at = reached;
  f.news = std::move(last);
  c.disarm(chief_wait::hooks);
  c.tell(std::move(f));
}

static std::map<std::string, double> last_metrics(const chief_state& c) {
  if (c.evaluations.size() > 0)
    if (const auto found = c.results.metrics.find(c.evaluations.settings(0).name); found != c.results.metrics.end())
      return found->second;
  if (c.horizon.reached() <= c.origin.start_step)
    return {};
  return c.results.last_losses();
}

void end_job_nodes(chief_state& c) {
  if (c.now >= chief_phase::leaving)
    return;
  c.now = chief_phase::leaving;
  std::vector<node_id> all;
  for (const auto what : ending_order())
    for (const auto& m : c.nodes.members())
      if (m.what == what)
        all.push_back(m.id);
  c.agents.end(all);
  // The results of long steps and of reads in progress are not needed.
  c.agents.interrupt(cancel::all);
  c.waiting.disarm_all();
  c.arm(chief_wait::gone, c.options.deadlines.stop);
}

/// Does not wait again for writers of event files that did not end in time.
bool finish_when_gone(chief_state& c) {
  const auto& all = c.nodes.members();
  if (c.now != chief_phase::leaving
      || std::any_of(all.begin(), all.end(), [](const member& m) { return m.handle && !row_of(m.what).is_log(); }))
    return false;
  finish(c);
  return true;
}

void finish(chief_state& c) {
  c.now = c.ending.causes.empty() ? chief_phase::finished : chief_phase::failed;
  c.show_status();
  if (c.ending.causes.empty()) {
    const auto reached = c.horizon.reached();
    train_result result{
        reached,   reached - c.origin.start_step, last_metrics(c), c.seconds(), c.was_stopped(), c.saves.prefix(),
        c.remark()};
    if (c.searching.on()) {
      result.global_step = c.searching.global_step_at(reached);
      result.search = c.searching.result();
    }
    result.arrays = c.results.arrays;
    result.evaluations = c.results.metrics;
    result.exports = c.results.exports;
    if (const auto best = c.judgements.best())
      result.best_checkpoint = c.prefix_of(*best);
    if (c.judgements.uses_best()) {
      result.checkpoint = result.best_checkpoint;
      if (const auto& best = c.judgements.best_results(); !best.metrics.empty()) {
        result.metrics = best.metrics;
        result.arrays = best.arrays;
      }
    }
    if (c.nodes.any_alive()) {
      std::string names;
      for (const auto& who : c.nodes.members())
        if (who.handle)
          names += (names.empty() ? "" : ", ") + who.name;
      result.remark += (result.remark.empty() ? "" : "; ") + names + " did not end in time";
    }
    c.options.board->finished(std::move(result));
  } else {
    auto cause = c.ending.causes.root();
    for (const auto& who : c.nodes.members())
      if (who.handle)
        cause.notes.push_back(who.name + " did not end in time");
    c.options.board->finished(tl::unexpected<error>(std::move(cause)));
  }
  c.self->quit();
}

}  // namespace troupe
