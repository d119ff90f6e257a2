#include "actors/lone_evaluation.hpp"

#include "actors/evaluation_records.hpp"
#include "actors/exit_reason.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

constexpr int32_t only_attempt = 1;

}  // namespace

void lone_evaluation_state::on_started(const started& x) {
  if (agents.on(x, nodes) && !agents.awaited() && !answered)
    self->send(nodes.the<role::evaluator>(), evaluate_at{0, options.which, {}});
}

void lone_evaluation_state::on_evaluated(const evaluated& x) {
  if (std::exchange(answered, true))
    return;
  for (const auto& text : x.warnings)
    options.board->warned(text);
  options.board->answered(x.ok ? expected<evaluated>{x} : fail(x.cause));
  // Without a checkpoint the model directory may not exist, and an evaluation does not create it.
  if (!x.ok || !writer() || x.checkpoint.empty())
    return options.board->written();
  for (auto& r : evaluation_records(x))
    self->send(writer(), std::move(r));
  self->send(writer(), finish_log{});
}

/// The end of the writer is an error before the evaluation has ended, and a warning afterwards.
void lone_evaluation_state::on_down(const caf::down_msg& x) {
  const auto agent = agents.name_of(x.source);
  const auto* node = nodes.find(x.source);
  if (!node && agent.empty())
    return;
  const auto who = !node ? "the " + agent : node->what == role::evaluator ? "the evaluator" : "the summary writer";
  const bool of_writer = node && node->what == role::eval_summary_writer;
  if (node)
    nodes.ended(node->id);
  if (!std::exchange(answered, true))
    options.board->answered(fail(category_of(x.reason), who + " ended: " + describe(x.reason)));
  else if (!of_writer)
    return;
  else if (x.reason)
    options.board->warned("the event file was not written: " + who + " ended: " + describe(x.reason));
  options.board->written();
}

lone_evaluation_actor::behavior_type lone_evaluation(
    lone_evaluation_actor::stateful_pointer<lone_evaluation_state> self, lone_evaluation_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  const auto& plan = *state.options.nodes.plan;
  state.agents = troupe::agents{*self, state.options.nodes};
  state.nodes = roster{members_of(plan, state.options.nodes.driver)};
  std::vector<node_id> all;
  for (const auto& m : state.nodes.members())
    all.push_back(m.id);
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  state.agents.start(only_attempt, plan, all);
  return {
      [&state](const started& x) { state.on_started(x); },
      [](const batches_evaluated&) {},
      [&state](const evaluated& x) { state.on_evaluated(x); },
      [&state](const failure& x) { state.options.board->warned(to_text(x.what)); },
      [&state](const log_replaced& x) { state.options.board->warned(x.text); },
      [](const record_credit&) {},
  };
}

}  // namespace troupe
