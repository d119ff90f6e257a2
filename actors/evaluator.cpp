#include "actors/evaluator.hpp"

#include "actors/exit_reason.hpp"
#include "actors/writers/start_values.hpp"
#include "compute/optimizers/update.hpp"
#include "compute/parameters/assign_range.hpp"
#include "messages/counted.hpp"
#include "words/expect.hpp"
#include "words/guarded.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// Limit on the steps that the sub-plan makes before this actor has handled them; it bounds the mailbox.
constexpr int64_t ahead_max = 4096;
/// The limit with hooks, which may end the evaluation at any batch.
constexpr int64_t ahead_of_hooks_max = 16;
/// Least time between two progress messages to the driver.
constexpr std::chrono::milliseconds told_every{100};

/// The requests that a hook may make of an evaluation: only a stop has an effect.
class evaluation_control final : public job_control {
 public:
  explicit evaluation_control(bool& stopped) : stopped_(stopped) {}
  void save() override {}
  void stop() override { stopped_ = true; }

 private:
  bool& stopped_;
};

}  // namespace

void evaluator_state::on_evaluate(const evaluate_at& x) {
  current = x;
  began = told = self->clock().now();
  totals.emplace(options.outputs, options.metrics);
  running = true;
  stopped = false;
  hooks = hook_roll{options.hooks, {{"loss"}, {}}};
  loss_at = static_cast<size_t>(
      std::find_if(options.outputs.begin(), options.outputs.end(),
                   [](const program_output& o) { return o.what == program_output::kind::loss; })
      - options.outputs.begin());
  at = {};
  passed_over.clear();
  auto reader = std::exchange(dropped_for, {});
  if (reader.empty())
    reader = nodes.straggler();
  if (!reader.empty())
    return finish(
        error{errc::unavailable, reader + " of an earlier evaluation has not stopped and may read the variables"});
  if (auto loaded = current.shown ? expected<void>{} : load(); !loaded)
    return finish(loaded.error());
  if (current.shown) {
    at = {current.which.step, current.which.iteration};
    global_step = at.step;
  }
  until = 0;
  nodes.start(++attempt);
  waiting.await_nodes();
}

void evaluator_state::on_started(const started& x) {
  if (!nodes.on(x) || !running)
    return;
  nodes.begin_attempt();
  if (calls_hooks() && !begin_hooks())
    return;
  if (stopped)
    return finish({});
  extend(0);
}

bool evaluator_state::begin_hooks() {
  fact first, news;
  first.what = fact::begin_at;
  news.news.what = job_event::kind::started;
  news.news.step = at.step;
  news.news.max_steps = limit();
  news.news.text = current.prefix;
  return show_hooks(std::move(first)) && show_hooks(std::move(news));
}

bool evaluator_state::show_batch(const step_values& batch) {
  fact x;
  x.what = fact::step;
  x.values = {batch.step, {batch.values[loss_at]}};
  x.at = totals->batches();
  x.last = limit() == x.at;
  return show_hooks(std::move(x));
}

bool evaluator_state::show_hooks(fact x) {
  evaluation_control control{stopped};
  x.news.seconds = std::chrono::duration<double>(self->clock().now() - began).count();
  auto thrown = hooks.show(x, control);
  if (thrown.empty())
    return true;
  fail_with(std::move(thrown.front()));
  return false;
}

expected<void> evaluator_state::load() {
  auto loaded = load_or_initialise(options.files, options.directory, current.which, options.seed, options.parameters,
                                   options.start.get(),
                                   current.lacks_groups ? completeness::lacks_groups : completeness::whole);
  if (!loaded)
    return fail(loaded.error());
  at = loaded->id;
  global_step = loaded->global_step;
  current.prefix = loaded->prefix;
  lease = std::move(loaded->lease);
  passed_over = std::move(loaded->warnings);
  return {};
}

/// A part of a state that is not saved. Training waits, and no evaluation reads the store now. If the model is
/// evaluated with moving averages, each average arrives after its variable and overwrites it.
void evaluator_state::on_state_part(const state_part& x) {
  if (x.attempt < current.attempt)
    return;  // The sender's attempt has ended, and nothing waits for the state.
  if (running)
    throw broken_invariant{"a state was shown while an evaluation runs"};
  if (auto reader = nodes.straggler(); !reader.empty())
    dropped_for = std::move(reader);
  else
    write(x);
  self->send(caf::actor_cast<state_source_actor>(self->current_sender()), state_taken{x.attempt, x.number});
}

void evaluator_state::write(const state_part& x) {
  const auto& layout = options.parameters->layout();
  const std::string ending = "/" + std::string{moving_average_slot};
  for (const auto& piece : x.pieces) {
    std::string_view name = piece.name;
    if (layout.reads_averages() && name.ends_with(ending))
      name.remove_suffix(ending.size());
    if (layout.find(name) >= 0)
      if (auto written = assign_range(*options.parameters, name, piece.first, piece.elements); !written)
        throw std::runtime_error{to_text(written.error())};  // Both layouts are of one model.
  }
}

std::optional<int64_t> evaluator_state::limit() const {
  if (current.batches < 0)
    return options.steps;
  return std::min(current.batches, options.steps.value_or(current.batches));
}

int64_t evaluator_state::ahead() const { return calls_hooks() ? ahead_of_hooks_max : ahead_max; }

void evaluator_state::extend(int64_t reached) {
  until = std::min(limit().value_or(INT64_MAX), reached + ahead());
  nodes.grant(until);
  waiting.await(reached);
}

void evaluator_state::on_progress(const progress& x) {
  if (!running || x.attempt != attempt)
    return;
  for (const auto& step : x.watched) {
    if (stopped)
      break;
    totals->add(step.values);
    if (calls_hooks() && !show_batch(step))
      return;
  }
  tell_batches();
  if (const auto end = stopped ? until : limit(); end && x.step >= *end)
    finish({});
  else if (!stopped && x.step + ahead() / 2 >= until)
    extend(x.step);
  else
    waiting.await(x.step);
}

void evaluator_state::on_end(const stream_end& x) {
  if (!running || x.attempt != attempt)
    return;
  if (stopped)
    finish({});
  else if (x.kind == end_kind::data && totals->batches() == 0)
    finish(error{errc::out_of_range, "the dataset of the evaluation has no batches", {}, x.cause.source});
  else if (x.kind == end_kind::data)
    finish({});
  else
    fail_with(x.cause);
}

/// Blocks this actor, which has its own thread, while exporters write; the chief's deadline covers it.
void evaluator_state::on_export(const export_at& x) {
  const export_clock clock = [&] {
    return static_cast<int64_t>(options.wall_offset
                                + std::chrono::duration<double>(self->clock().now().time_since_epoch()).count());
  };
  auto paths =
      options.exports ? guarded(
          "an exporter",
          [&] {
            return options.exports({options.files, clock, x.leader}, {x.metrics, x.prefix, x.is_final, x.again});
          })
                      : expected<std::vector<std::string>>{};
  exported answer{x.attempt, x.id, x.evaluation, paths.has_value(), {}, {}};
  if (paths)
    answer.paths = std::move(*paths);
  else
    answer.cause = std::move(paths.error());
  if (!paths && answer.cause.source.empty())
    answer.cause.source = options.name;
  if (!running)
    lease.reset();
  self->send(asker, std::move(answer));
}

/// Blocks while the predicate runs; the chief has a deadline for that.
void evaluator_state::on_rule(const apply_rule& x) {
  auto why = decide(options.rules[static_cast<size_t>(x.rule)], x.history);
  rule_applied answer{x.number, why.has_value(), {}, {}};
  if (why)
    answer.why = why->value_or("");
  else
    answer.cause = std::move(why.error());
  answer.cause.source = options.name;
  self->send(asker, std::move(answer));
}

void evaluator_state::on_probe(const probe& x) {
  std::vector<std::string> asked;
  if (x.records == probe::asks_on)
    asked = nodes.ask_on(x.number, caf::actor_cast<standing_sink_actor>(self->current_sender()));
  tell_standing(*this, x, {}, std::move(asked));
}

void evaluator_state::tell_batches() {
  const auto now = self->clock().now();
  if (now - told < told_every)
    return;
  told = now;
  self->send(asker, batches_evaluated{current.attempt, at, current.evaluation, totals->batches()});
}

void evaluator_state::finish(std::optional<error> cause) {
  running = false;
  waiting.disarm();
  evaluated result{current.attempt, at, !cause, {}, totals->batches()};
  if (!cause) {
    if (auto results = totals->results()) {
      result.metrics = std::move(results->numbers);
      result.arrays = std::move(results->arrays);
      result.metrics["global_step"] = static_cast<double>(global_step);
    } else {
      cause = std::move(results.error());
      result.ok = false;
    }
  }
  if (cause) {
    if (cause->source.empty())
      cause->source = options.name;
    result.cause = std::move(*cause);
  }
  result.seconds = std::chrono::duration<double>(self->clock().now() - began).count();
  result.checkpoint = current.prefix;
  result.evaluation = current.evaluation;
  result.warnings = passed_over;
  if (calls_hooks())
    end_hooks(result);
  if (!will_export(result))
    lease.reset();
  self->send(asker, std::move(result));
}

void evaluator_state::fail_with(error cause, bool after_silence) {
  running = false;
  failing = std::move(cause);
  waiting.await_halted(after_silence);
  nodes.halt();
  finish_when_halted();
}

void evaluator_state::finish_when_halted() {
  if (!failing || nodes.halts())
    return;
  if (std::exchange(lost_node, false))
    nodes.end_nodes();
  finish(std::exchange(failing, std::nullopt));
}

/// Makes the last call of each hook. A hook that throws fails an evaluation that had succeeded.
void evaluator_state::end_hooks(evaluated& result) {
  fact last;
  last.what = fact::end_at;
  last.at = result.batches;
  last.news.what = result.ok ? job_event::kind::finished : job_event::kind::failed;
  last.news.step = at.step;
  last.news.seconds = result.seconds;
  last.news.max_steps = limit();
  last.news.metrics = result.metrics;
  last.news.arrays = result.arrays;
  last.news.text = current.prefix;
  if (!result.ok)
    last.news.failure = result.cause;
  evaluation_control control{stopped};
  auto thrown = hooks.show(last, control);
  hooks = {};
  if (thrown.empty() || !result.ok)
    return;
  result.ok = false;
  result.cause = std::move(thrown.front());
  result.cause.source = options.name;
}

evaluator_actor::behavior_type evaluator(evaluator_actor::stateful_pointer<evaluator_state> self,
                                         evaluator_options options, evaluation_sink_actor asker) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.asker = std::move(asker);
  state.nodes = sub_plan{*self, state.options.nodes};
  state.waiting.start(self, state.options.name, "evaluated", state.options.silence_max);
  self->set_down_handler([&state](const caf::down_msg& x) {
    if (state.nodes.straggler_ended(x.source) || !state.nodes.has(x.source))
      return;
    state.nodes.lost(x.source);
    if (!state.running && !state.failing)
      return state.nodes.end_nodes();
    state.lost_node = true;
    if (state.running)
      state.fail_with(
          {category_of(x.reason), "a node of the evaluation ended: " + describe(x.reason), {}, state.options.name});
    else
      state.finish_when_halted();
  });
  return counted<evaluator_actor>(
      state, [&state](const started& x) { state.on_started(x); },
      [&state](const evaluate_at& x) {
        if (!state.running && !state.failing)
          state.on_evaluate(x);
      },
      [&state](const export_at& x) { state.on_export(x); }, [&state](const apply_rule& x) { state.on_rule(x); },
      [&state](const state_part& x) { state.on_state_part(x); },
      [&state](const request&) {
        if (state.running)
          state.fail_with({errc::cancelled, "the evaluation was stopped", {}, state.options.name});
      },
      [&state](const progress& x) { state.on_progress(x); }, [&state](const stream_end& x) { state.on_end(x); },
      [&state](const standing& x) {
        state.nodes.pass_on(x);
        if (auto silence = state.waiting.on(x))
          state.fail_with(std::move(*silence), true);
      },
      [&state](const deadline& x) {
        auto silence = state.waiting.on(x, state.nodes);
        if (silence && state.failing) {
          state.nodes.end_nodes();
          state.failing->notes.push_back(silence->message);
          state.finish_when_halted();
        } else if (silence) {
          state.fail_with(std::move(*silence), true);
        }
      },
      [&state](const halted& x) {
        state.nodes.on(x);
        state.finish_when_halted();
      },
      [&state](const probe& x) { state.on_probe(x); });
}

}  // namespace troupe
