// The positions of an infeed: its parts of snapshots, and the positions of earlier states.
#include "actors/steps/infeed.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

expected<void> infeed_state::reach() {
  const auto m = marks.find(step);
  if (m == marks.end() || ended)
    return {};
  const mark_kinds kinds = m->second;
  marks.erase(marks.begin(), std::next(m));
  if ((kinds & mark_snapshot) == 0)
    return {};
  auto position = source->save();
  if (!position)
    return fail(position.error());  // A checkpoint was requested, but this dataset cannot save its position.
  send_part(step, std::move(*position));
  return {};
}

void infeed_state::pass_marks() {
  while (step < until) {
    const auto next = marks.upper_bound(step);
    step = next == marks.end() ? until : std::min(next->first, until);
    if (auto saved = reach(); !saved) {
      broken = true;
      return end(saved.error());
    }
  }
}

void infeed_state::send_part(int64_t at, std::string position) {
  if (!parts || last_part == at)
    return;
  last_part = at;
  sent = {attempt, at, options.id};
  sent.blobs[options.position] = std::move(position);
  self->send(parts, sent);
}

void infeed_state::on_rewind(const rewind& x) {
  if (x.attempt != attempt || !source || x.step > step)
    return;
  ended = true;
  marks.clear();
  if (!parts)
    return;
  const auto wanted = read_up_to(x.step - (planted(planted_fault::rewound_too_far) && x.step > 0 ? 1 : 0));
  auto position = wanted == read_up_to(step) && !broken ? source->save() : position_at(wanted);
  if (position)
    send_part(x.step, std::move(*position));
  else
    tell_failure(position.error(), x.step);
}

expected<std::string> infeed_state::position_at(int64_t earlier) {
  while (positions.size() > 1 && positions.back().first > earlier)
    positions.pop_back();
  if (positions.empty() || positions.back().first > earlier)
    return fail(unsaved.value_or(
        error{errc::state, "the position of step " + std::to_string(earlier) + " is not known any more"}));
  const auto [from, position] = positions.back();
  if (from == earlier)
    return position;
  if (const auto now = source->save(); now && *now == position)
    return position;  // A source that keeps no positions: nothing could be read again.
  if (auto opened = open_at(position); !opened)
    return fail(opened.error());
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<std::byte*> into;
  for (size_t c = 0; c < row_bytes.size(); ++c) {
    memory.push_back(pools[c].take(rows_of_step() * row_bytes[c]));
    if (!memory.back())
      return fail(errc::resource_exhausted,
                  "no memory for a batch of " + std::to_string(rows_of_step() * row_bytes[c]) + " bytes");
    into.push_back(memory.back().get());
  }
  // Reads ahead were cancelled; reading on from an earlier position must not be.
  for (int64_t s = from; s < earlier; ++s)
    if (auto rows = read_step(into, {}); !rows)
      return fail(rows.error());
  return source->save();
}

}  // namespace troupe
