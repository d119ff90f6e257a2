// The end of a follower: when the job that it follows has ended, when it is stopped, and when it fails.
#include "actors/follower/follower.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/checkpoint_books.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

/// The books of the newest checkpoint say so.
bool follower_state::job_has_ended() const {
  if (!seen || !seen->found)
    return false;
  const auto books = read_books(seen->properties);
  return books.finished.value_or(false) || books.ended.has_value();
}

bool follower_state::any_at_work() const {
  return std::any_of(evaluations.begin(), evaluations.end(),
                     [](const followed& e) { return e.schedule.running() || e.schedule.exports(); });
}

bool follower_state::all_done() const {
  return std::all_of(evaluations.begin(), evaluations.end(),
                     [this](const followed& e) { return e.lost || (e.schedule.idle() && e.is_done_with(seen->id)); });
}

void follower_state::end_when_done() {
  if (now == phase::following && !stopped && job_has_ended() && all_done())
    export_last();
  if (now == phase::following && stopped && !any_at_work())
    close();
  if (now == phase::exporting && !any_at_work())
    adopt();
  if (now == phase::closing && std::none_of(nodes.members().begin(), nodes.members().end(), [](const member& m) {
        return m.what == role::eval_summary_writer && m.handle;
      }))
    finish(result());
}

/// As in one process: once max_steps is reached, or a rule has ended the job.
void follower_state::export_last() {
  now = phase::exporting;
  const auto books = read_books(seen->properties);
  const bool is_due = books.ended || options.ends_by_epochs
                      || (options.max_steps && seen->id.step >= *options.max_steps);
  const auto id = judgements.uses_best() ? *judgements.best() : seen->id;
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (is_due && settings(i).exports_at_end && !evaluations[i].lost)
      export_at(i, id, true);
}

void follower_state::stop(std::string by) {
  if (std::exchange(stopped, true) || now >= phase::closing)
    return;
  stopped_by = std::move(by);
  for (size_t i = 0; i < evaluations.size(); ++i) {
    evaluations[i].schedule.drop_waiting();
    if (evaluations[i].schedule.running() && evaluator(i) && stopped_by.empty())
      self->send(evaluator(i), request{});
  }
  advance();
}

/// The chief has ended without the last verdict, so that nobody else writes it into the books.
bool follower_state::lacks_best() const {
  const auto books = read_books(seen->properties);
  return options.judged.best && written.best && (!books.best || books.best->id != written.best->at.id);
}

/// The chief may still own the directory while it ends, and a disk may be away for a moment.
void follower_state::adopt() {
  constexpr std::chrono::milliseconds again{100};
  if (std::exchange(now, phase::adopting) != phase::adopting)
    waiting.arm(follower_wait::stop, options.deadlines.stop);
  if (!lacks_best())
    return close();
  const auto adopted = adopt_best();
  const bool may_pass = !adopted
                        && (adopted.error().category == errc::failed_precondition
                            || adopted.error().category == errc::unavailable);
  if (may_pass && waiting.armed(follower_wait::stop))
    return waiting.arm(follower_wait::due, again);
  if (!adopted)
    warn("the best checkpoint is in " + std::string{judged_file} + " only: " + adopted.error().message);
  close();
}

expected<void> follower_state::adopt_best() {
  auto store = checkpoint_store::open(options.files, options.directory, {.keep_checkpoint_max = 0});
  if (!store)
    return fail(store.error());
  checkpoint_books verdict;
  judgements.enter(verdict, false);
  const auto properties = write_books(verdict);
  for (const auto id : {written.best->at.id, seen->id})
    if (auto added = (*store)->add_verdict(id, properties); !added)
      return added;
  return (*store)->keep(written.best->at.id);
}

void follower_state::close() {
  now = phase::closing;
  waiting.disarm_all();
  waiting.arm(follower_wait::stop, options.deadlines.stop);
  for (const auto& writer : nodes.all<role::eval_summary_writer>())
    self->send(writer, finish_log{});
}

train_result follower_state::result() const {
  train_result r;
  r.global_step = seen && seen->found ? seen->id.step : 0;
  r.seconds = seconds();
  r.stopped = stopped;
  r.checkpoint = seen ? seen->prefix : "";
  if (!options.evaluations.empty())
    if (const auto first = results.metrics.find(settings(0).name); first != results.metrics.end())
      r.metrics = first->second;
  r.arrays = results.arrays;
  r.evaluations = results.metrics;
  r.exports = results.exports;
  if (judgements.best())
    r.best_checkpoint = prefix_of(*judgements.best());
  if (stopped)
    r.remark = stopped_by.empty() ? "" : "an evaluation_listener ended the evaluations, in " + stopped_by;
  else if (const auto books = read_books(seen->properties); books.ended)
    r.remark = "the job ended " + books.ended->why;
  if (superseded > 0)
    r.remark += (r.remark.empty() ? "" : "; ") + std::to_string(superseded)
                + (superseded == 1 ? " checkpoint was" : " checkpoints were")
                + " superseded before an evaluation began";
  return r;
}

void follower_state::finish(expected<train_result> result) {
  if (std::exchange(now, phase::ended) == phase::ended)
    return;
  waiting.disarm_all();
  job_event last{.step = seen ? seen->id.step : 0};
  last.what = !result ? job_event::kind::failed : stopped ? job_event::kind::stopped : job_event::kind::finished;
  if (result) {
    last.metrics = result->metrics;
    last.text = result->remark;
  } else {
    last.failure = result.error();
  }
  publish(std::move(last));
  locks.clear();
  failed = !result;
  show_status();
  options.board->finished(std::move(result));
  self->quit();
}

}  // namespace troupe
