// Checks the facts that the job's board and a hook receive, and their order.
#include "pipeline/random_faults/checks.hpp"

#include <algorithm>

namespace troupe::test::random_faults {

namespace {

using kind = job_event::kind;

bool is_last(kind k) { return k == kind::finished || k == kind::stopped || k == kind::failed; }

std::string text_of(const job_event& e) {
  return std::string{to_string(e.what)} + " of step " + std::to_string(e.step);
}

bool wants(const need& n, int64_t step) {
  return step >= n.first && (n.every > 0 ? (step - n.first) % n.every == 0 : step == n.first);
}

bool wanted(const observation& o, int64_t step, bool gates_only) {
  return std::any_of(o.needs.begin(), o.needs.end(),
                     [&](const need& n) { return (n.gate || !gates_only) && wants(n, step); });
}

struct rules {
  const recipe& of;
  const observation& seen;
  std::vector<finding>& to;
  int64_t start = 0;
  bool reports_lost = false;  ///< The outfeed died, and with it the reports that it held.
  bool recovered = false;     ///< The job had more than one attempt.

  void fault(const std::string& text) { to.push_back({"facts in order", text}); }
  void ran_past(const std::string& text) { to.push_back({"nothing runs past what a hook holds", text}); }

  /// Checks that progress was told up to the last log point at or below the state of the event. A log point at or below
  /// `from`, the state where the attempt began, is not checked, because an evaluation may be of an earlier state.
  void logged_before(const job_event& e, int64_t progress, int64_t from) {
    const int64_t point = e.step / of.log_steps * of.log_steps;
    if (point > from && progress < point && !reports_lost)
      fault(text_of(e) + " before the progress of step " + std::to_string(point));
  }

  void board() {
    int64_t progress = start, saved = -1, from = start;
    std::vector<int64_t> evaluated;  // Must be in step order.
    bool started = false;
    double seconds = 0;
    for (size_t i = 0; i < seen.events.size(); ++i) {
      const auto& e = seen.events[i];
      if (e.seconds < seconds)
        fault(text_of(e) + " is of an earlier time than the event before");
      seconds = e.seconds;
      // An attempt may end before training starts.
      const bool early = e.what == kind::failed || e.what == kind::recovering || e.what == kind::recovered;
      if (started == (e.what == kind::started) && !(!started && early))
        fault("event " + std::to_string(i) + " is " + text_of(e));
      started = started || e.what == kind::started;
      if (e.what == kind::recovered) {  // Steps since the commit are repeated, and damaged states saved again.
        progress = from = e.step;
        saved = std::min(saved, e.step);
        std::erase_if(evaluated, [&](int64_t step) { return step > e.step; });  // Only shown ones are evaluated again.
      }
      if (is_last(e.what) != (i + 1 == seen.events.size()) && (seen.result || is_last(e.what)))
        fault(text_of(e) + " is event " + std::to_string(i) + " of " + std::to_string(seen.events.size()));
      if (e.what == kind::progress) {
        if (e.step <= progress)
          fault(text_of(e) + " after that of step " + std::to_string(progress));
        progress = e.step;
      } else if (e.what == kind::saved) {
        if (e.step <= saved)
          fault(text_of(e) + " after that of step " + std::to_string(saved));
        saved = e.step;
        logged_before(e, progress, from);
      } else if (e.what == kind::evaluated) {
        if (!evaluated.empty() && e.step <= evaluated.back())
          fault(text_of(e) + " after that of step " + std::to_string(evaluated.back()));
        const bool shown = !e.checkpoint && of.eval_every > 0 && e.step % of.eval_every == 0;
        if (e.step != seen.stood_at && !shown && !was_saved(i, e.step))
          fault(text_of(e) + ", which was not told to be saved");
        if (of.when == evaluation_mode::waits && progress > e.step && !recovered)
          fault(text_of(e) + " after the progress of step " + std::to_string(progress) + ", though training waits");
        evaluated.push_back(e.step);
        logged_before(e, progress, from);
      } else if (is_last(e.what)) {
        logged_before(e, progress, from);
      }
    }
  }

  bool was_saved(size_t before, int64_t step) const {
    return std::any_of(seen.events.begin(), seen.events.begin() + static_cast<std::ptrdiff_t>(before),
                       [&](const auto& e) { return e.what == kind::saved && e.step == step; });
  }

  /// Checks the calls of the hook: `begin`, then the steps that it requested and the events, then one last call. In a
  /// job that fails before `begin` there is only the last call.
  void hook() {
    const bool ends = seen.result && !killed(seen, "callbacks") && !came(seen, trouble_kind::hook_fault);
    int64_t at = start - 1, told = -1, progress = -1, from = start;
    for (size_t i = 0; i < seen.calls.size(); ++i) {
      const auto& c = seen.calls[i];
      const bool failed_before = i == 0 && c.where == hook_place::on_event && c.what == kind::failed;
      if ((i == 0) != (c.where == hook_place::begin) && !failed_before)
        fault("call " + std::to_string(i) + " of the hook is " + std::string{to_string(c.where)});
      const bool last = c.where == hook_place::end || c.where == hook_place::on_abort;
      if (c.where == hook_place::end && seen.result && !*seen.result && !fails_in_end())
        to.push_back({"no hook hears `end` of a job that fails", to_text(seen.result->error())});
      if (last && seen.calls.front().where != hook_place::begin)
        fault(std::string{to_string(c.where)} + " of a hook that had not begun");
      if (last && i + 1 != seen.calls.size())
        fault(std::string{to_string(c.where)} + " of the hook is not its last call");
      if (!last && ends && i + 1 == seen.calls.size() && begun())
        fault("the hook's last call is " + std::string{to_string(c.where)});
      if (c.where == hook_place::on_event && c.what == kind::recovered) {
        at = std::min(at, c.step);
        told = std::min(told, c.step - 1);
        progress = from = c.step;
      }
      if (c.where == hook_place::on_event && (c.what == kind::saved || c.what == kind::evaluated || is_last(c.what)))
        told = std::max(told, c.step == start ? told : c.step);
      if (c.where == hook_place::on_event && c.what == kind::progress)
        progress = std::max(progress, c.step);
      if (c.where == hook_place::on_event && holds(of, c.what) && progress > c.step)
        ran_past("the hook is told of " + std::string{to_string(c.what)} + " " + std::to_string(c.step)
                 + " after the progress of step " + std::to_string(progress));
      if (c.where != hook_place::at)
        continue;
      step_seen(at, c.step);
      if (c.observed != (of.hook_observes && c.step > from))  // An attempt makes no step to the state where it begins.
        fault("the hook sees step " + std::to_string(c.step) + (c.observed ? " with" : " without")
              + " the observed value");
      if (told >= c.step && !reports_lost)
        fault("the hook sees step " + std::to_string(c.step) + " after it was told of step " + std::to_string(told));
      if (wanted(seen, c.step, true) && progress > c.step)
        fault("the hook's gate sees step " + std::to_string(c.step) + " after the progress of step "
              + std::to_string(progress));
      at = c.step;
    }
    // Nothing may run past a held fact, whatever else stops or would end the job.
    if (seen.stopped_on && seen.result && *seen.result && (*seen.result)->global_step != *seen.stopped_on)
      ran_past("the hook stopped the job on a fact about step " + std::to_string(*seen.stopped_on)
               + ", and it ended at step " + std::to_string((*seen.result)->global_step));
    if (ends && *seen.result && begun() && start < of.max_steps)  // A job that does not train shows no step.
      step_seen(at, (*seen.result)->global_step + 1);
  }

  /// True: the job can fail after `end`, by an exception in `end` or the death of the callbacks.
  bool fails_in_end() const {
    return killed(seen, "callbacks") || std::any_of(seen.happened.begin(), seen.happened.end(), [](const happening& h) {
             return h.what.what == trouble_kind::hook_fault && h.what.hook == hook_place::end;
           });
  }

  bool begun() const {
    return std::any_of(seen.events.begin(), seen.events.end(),
                       [](const job_event& e) { return e.what == kind::started; });
  }

  /// Checks that the hook requested step `now`, and none between `before` and `now`.
  void step_seen(int64_t before, int64_t now) {
    if (now <= before)
      fault("the hook sees step " + std::to_string(now) + " after step " + std::to_string(before));
    const bool is_end = seen.result && *seen.result && now == (*seen.result)->global_step + 1;
    if (!is_end && !wanted(seen, now, false))
      fault("the hook sees step " + std::to_string(now) + " without having asked for it");
    for (int64_t s = before + 1; s < now; ++s)
      if (wanted(seen, s, false))
        fault("the hook does not see step " + std::to_string(s));
  }

  /// Checks that the hook receives all events but progress in the order of the board, except those that it had not seen
  /// when the job failed.
  void same_news() {
    std::vector<std::pair<kind, int64_t>> board, hook;
    for (const auto& e : seen.events)
      // Recoveries may precede `begin`.
      if (e.what != kind::progress && e.what != kind::recovering && e.what != kind::recovered)
        board.emplace_back(e.what, e.step);
    for (const auto& c : seen.calls)
      if (c.where == hook_place::on_event && c.what != kind::progress && c.what != kind::recovering
          && c.what != kind::recovered)
        hook.emplace_back(c.what, c.step);
    if (seen.result && !*seen.result && !hook.empty() && !board.empty() && hook.back() == board.back()) {
      hook.pop_back();
      board.pop_back();
    }
    if (hook.size() > board.size() || !std::equal(hook.begin(), hook.end(), board.begin()))
      fault("the hook hears of events in another order than the board");
  }
};

}  // namespace

void check_order(const recipe& r, const observation& o, std::vector<finding>& to) {
  if (o.events.empty())
    return;
  rules all{r, o, to};
  const auto started = std::find_if(o.events.begin(), o.events.end(),
                                    [](const job_event& e) { return e.what == kind::started; });
  all.start = (started == o.events.end() ? o.events.front() : *started).step;
  all.recovered = std::any_of(o.events.begin(), o.events.end(),
                              [](const job_event& e) { return e.what == kind::recovered; });
  all.reports_lost = killed(o, "outfeed");
  all.board();
  if (!r.hooks)
    return;
  all.hook();
  all.same_news();
}

}  // namespace troupe::test::random_faults
