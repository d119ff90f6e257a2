// What a replica gives to host calls: one entry for each step in which a call is due, on the outfeed's credit.
#include "actors/steps/replica.hpp"
#include "words/expect.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

call_set replica_state::due_calls() const {
  const auto& all = options.engine->calls();
  if (all.empty() || calls.left || (options.mode == mode::train && !trains()))
    return 0;
  return calls_due(all, number() - loops.at(step).begin_of(step));
}

bool replica_state::has_room_for_calls() const { return calls.sent < calls.room || due_calls() == 0 || stopping; }

void replica_state::send_called() {
  auto tensors = options.engine->take_called();
  if (tensors.empty() || calls.left)
    return;
  expect(calls.sent < calls.room, "an entry goes beyond the credit");
  ++calls.sent;
  self->send(calls.sink,
             block{attempt, *options.calls, step, 1, 0, leading()->blocks.front().rows, std::move(tensors)});
}

}  // namespace troupe
