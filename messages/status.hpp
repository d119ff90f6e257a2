// Status: facts from the chief to the callbacks, and their answers.
#pragma once

#include "messages/report.hpp"
#include "messages/session.hpp"
#include "plan/group_hooks.hpp"

#include <troupe/hook.hpp>

namespace troupe {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, need& x) {
  return f(caf::meta::type_name("need"), x.first, x.every, x.gate);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, trace_need& x) {
  return f(caf::meta::type_name("trace_need"), x.first, x.steps, x.every);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, job_event& x) {
  auto what = static_cast<uint8_t>(x.what);
  bool bounded = x.max_steps.has_value(), failed = x.failure.has_value(), of_checkpoint = x.checkpoint.has_value();
  int64_t max_steps = x.max_steps.value_or(0);
  checkpoint_id checkpoint = x.checkpoint.value_or(checkpoint_id{});
  error failure = x.failure.value_or(error{});
  auto load = [&]() -> caf::error {
    x.what = static_cast<job_event::kind>(what);
    x.max_steps = bounded ? std::optional<int64_t>{max_steps} : std::nullopt;
    x.checkpoint = of_checkpoint ? std::optional<checkpoint_id>{checkpoint} : std::nullopt;
    x.failure = failed ? std::optional<error>{failure} : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("job_event"), what, x.step, x.seconds, bounded, max_steps, x.loss, x.steps_per_second,
           x.metrics, x.arrays, x.text, of_checkpoint, checkpoint, failed, failure, x.attempt, x.evaluation,
           caf::meta::load_callback(load));
}

/// To the callbacks, before the facts of an attempt: names the values that these facts show. Every hook sees the
/// outputs; only hooks that ask for the observed values see those.
struct name_values {
  std::vector<std::string> outputs, observed;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, name_values& x) {
  return f(caf::meta::type_name("name_values"), x.outputs, x.observed);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, loop_facts& x) {
  bool shown = x.ppl.has_value();
  double ppl = x.ppl.value_or(0), bpc = x.bpc.value_or(0);
  auto load = [&]() -> caf::error {
    x.ppl = shown ? std::optional{ppl} : std::nullopt;
    x.bpc = shown ? std::optional{bpc} : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("loop_facts"), x.begins, x.first, x.end, x.last_loss, x.mean_loss, x.replica_0_loss,
           x.examples_per_second, shown, ppl, bpc, caf::meta::load_callback(load));
}

/// To the callbacks, in step order: an event, or the values of a step that a hook needs.
struct fact {
  /// saving: state `at` has been reached; its commit waits for the answer. Of a session: created, an attempt begins at
  /// `at`; before_run and after_run, a run from state `from` to state `at`.
  enum kind : uint8_t {
    begin_at = 1,
    event = 2,
    step = 3,
    end_at = 4,
    saving = 5,
    loop = 6,
    trace = 7,
    created = 8,
    before_run = 9,
    after_run = 10
  };
  uint8_t what = event;
  job_event news;           ///< For event; for end_at: finished, stopped or failed; for step: only its time; for
                            ///< after_run: the metrics.
  step_values values;       ///< For step; for after_run: what was fetched of its last step.
  int64_t at = 0;           ///< For begin_at, step, saving and end_at: the state.
  bool gate = false;        ///< For step: the horizon waits for `answered`.
  bool last = false;        ///< For step: the job ends there.
  uint64_t number = 0;      ///< Increasing, so that the sender can limit the unanswered facts; 0: not counted.
  loop_facts of_loop = {};  ///< For loop.
  int64_t from = 0;         ///< For trace, with `at`: the steps [from, at) were recorded; for a run: where it begins.
  std::vector<standing> recorded = {};  ///< For trace: of each actor.
  /// For begin_at: the hooks of the groups of another plan, in place of those before, which end there, or abort if
  /// `news` has a failure. Null: no other plan begins. Does not leave the process.
  std::shared_ptr<const group_hooks> of_plan = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, fact& x) {
  return f(caf::meta::type_name("fact"), x.what, x.news, x.values, x.at, x.gate, x.last, x.number, x.of_loop, x.from,
           x.recorded);
}

/// From the callbacks, the answer to fact `number`: all hooks have begun. If hooks threw, a `failure` with their
/// exceptions was sent before. `steps` are all needs of all hooks; they change only with the plan.
struct hooks_ready {
  uint64_t number = 0;
  std::vector<need> steps;
  held_facts holds;       ///< The events at which at least one hook holds the job.
  bool observes = false;  ///< Whether a hook wants values that the model observes.
  bool last = false;      ///< Whether a hook wants to see the last step.
  bool loops = false;     ///< Whether a hook wants to be told of loops.
  std::vector<trace_need> traces = {};
  bool listens = false;  ///< Saving listeners exist: each save waits for them before its commit, the job after it.
  bool runs = false;     ///< A hook wants to be told of the runs of a session.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, hooks_ready& x) {
  return f(caf::meta::type_name("hooks_ready"), x.number, x.steps, x.holds.saved, x.holds.evaluated, x.observes, x.last,
           x.loops, x.traces, x.listens, x.runs);
}

/// From the callbacks, for every event and every step, in order: the hooks have returned. If hooks threw, a `failure`
/// with their exceptions was sent before.
struct answered {
  uint64_t number = 0;      ///< The number of the fact.
  int64_t step = 0;         ///< The state `at` of the fact.
  bool gate = false;        ///< The fact was a gate.
  fetch_kinds fetches = 0;  ///< The fact was before_run: what the hooks fetch of the run's last step.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, answered& x) {
  return f(caf::meta::type_name("answered"), x.number, x.step, x.gate, x.fetches);
}

/// From the callbacks: the hooks have seen the end, which was fact `number`.
struct hooks_ended {
  uint64_t number = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, hooks_ended& x) {
  return f(caf::meta::type_name("hooks_ended"), x.number);
}

}  // namespace troupe
