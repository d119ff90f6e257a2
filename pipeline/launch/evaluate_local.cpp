// An evaluation alone: the evaluator and, for its results, the writer of an event file.
#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"
#include "pipeline/launch/job_crew.hpp"
#include "pipeline/launch/launch.hpp"
#include "pipeline/launch/local_system.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

/// The evaluator has a deadline for each batch itself; `deadlines` cover an evaluator that is inside a call that does not
/// return. A `writer` that could not be started is an error before the evaluation begins.
expected<evaluated> ask(caf::scoped_actor& me, const evaluator_actor& worker, const summary_writer_actor& writer, int64_t step,
                        const chief_deadlines& deadlines) {
  expected<evaluated> answer;
  me->monitor(worker);
  if (writer)
    me->monitor(writer);
  me->send(worker, evaluate_at{0, step, {}});
  me->receive(
    [&](const evaluated& x) {
      if (x.ok)
        answer = x;
      else
        answer = fail(x.cause);
    },
    [&](const caf::down_msg& x) {
      answer = fail(category_of(x.reason), (x.source == worker->address() ? "the evaluator ended: " : "the summary writer ended: ") + describe(x.reason));
    },
    caf::after(deadlines.evaluation) >> [&] {
      answer = fail(errc::deadline_exceeded, "the evaluation did not end within " + std::to_string(deadlines.evaluation.count() / 1000)
                                               + " s, waiting for the evaluator");
    });
  me->demonitor(worker->address());
  return answer;
}

/// Writes the event file. Returns failures as warnings: the result is valid without the file.
std::vector<std::string> write(caf::scoped_actor& me, const summary_writer_actor& writer, const evaluated& x, std::chrono::milliseconds deadline) {
  std::vector<std::string> warnings;
  for (auto& r : evaluation_records(x))
    me->send(writer, std::move(r));
  me->send(writer, finish_log{});
  bool ended = false;
  while (!ended)
    me->receive(
      [&](const failure& f) { warnings.push_back(to_string(f.what)); },
      [&](const caf::down_msg& down) {
        ended = down.source == writer->address();
        if (ended && down.reason)
          warnings.push_back("the event file was not written: the summary writer ended: " + describe(down.reason));
      },
      caf::after(deadline) >> [&] {
        warnings.push_back("the event file was not written within " + std::to_string(deadline.count() / 1000) + " s, waiting for the summary writer");
        ended = true;
      });
  return warnings;
}

}  // namespace

expected<evaluation_result> evaluate_local(std::shared_ptr<prepared_job> job) {
  tell_time_and_place(*job);
  auto own = local_system::make();
  if (!own)
    return fail(own.error());
  auto& system = **own;
  const auto nodes = std::make_shared<node_watch>();
  const auto& deadlines = job->basis().deadlines;
  const auto deadline = deadlines.stop;
  const auto step = std::get<evaluation_job>(job->job).step.value_or(-1);  // The evaluator takes -1 for the newest.
  expected<evaluation_result> result;
  {
    caf::scoped_actor me{*system};
    const auto myself = caf::actor_cast<caf::strong_actor_ptr>(me);
    const auto started = [nodes](const std::string&, const caf::strong_actor_ptr& node) { nodes->started(node); };
    const auto crew = make_crew(*system, job, no_node, true, started);
    const auto writer = start_head<summary_writer_actor>(*crew, role::eval_summary_writer, myself);
    const auto worker = start_head<evaluator_actor>(*crew, role::evaluator, myself);
    if (const auto x = ask(me, worker, writer, step, deadlines)) {
      result = evaluation_result{x->step, x->metrics, x->batches, x->seconds, x->checkpoint, {}};
      // Without a checkpoint the model directory may not exist, and an evaluation does not create it.
      if (writer && !x->checkpoint.empty())
        result->warnings = write(me, writer, *x, deadline);
    } else {
      result = fail(x.error());
    }
    // Cancels steps and reads in progress, whose results are no longer awaited.
    job->switch_of(role::evaluator).all();
    me->send_exit(worker, caf::exit_reason::user_shutdown);
    if (writer)
      me->send_exit(writer, caf::exit_reason::user_shutdown);
  }
  if (!nodes->all_ended(deadline))
    system.leave_behind();
  return result;
}

}  // namespace troupe
