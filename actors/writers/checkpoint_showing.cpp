// How the checkpoint writer shows a state that is not saved: it sends the variables to evaluators, as it sends those of
// a checkpoint to replicas. The parts and the request for them come from different nodes, in any order.
#include "actors/writers/checkpoint_writer.hpp"
#include "compute/optimizers/update.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// An evaluation reads variables, or the moving averages in their places, but no other slots.
bool is_evaluated(stored_groups groups, const named_tensor& t) {
  if (t.name.ends_with(moving_average_slot))
    return true;
  return std::any_of(groups.begin(), groups.end(), [&t](const stored_group& g) {
    const auto* entry = find_entry(g, t.name);
    return entry && !entry->slot;
  });
}

}  // namespace

void checkpoint_writer_state::on_shown_part(const snapshot_part& x, const arena_owner_actor& lender) {
  if (x.attempt != attempt || stands_in) {  // After the death of its writer, a job ends with its last save.
    if (!x.pieces.empty())
      self->send(lender, released{x.attempt, x.step});
    return;
  }
  auto& snapshot = shown[x.step];
  if (!x.pieces.empty())
    snapshot.lenders.push_back(lender);
  snapshot.parts.insert_or_assign(x.part, x);
  show(x.step);
}

void checkpoint_writer_state::on_show_state(const show_state& x) {
  if (x.attempt != attempt)
    return;
  if (const auto* news = sending ? std::get_if<state_shown>(&sending->news) : nullptr; news && news->step == x.step)
    return narrow(x.readers);
  readers_of.insert_or_assign(x.step, x);
  show(x.step);
}

/// Sends the state once the request and all parts have arrived. Only one state is shown at a time, because training
/// waits for it.
void checkpoint_writer_state::show(int64_t step) {
  const auto wish = readers_of.find(step);
  const auto there = shown.find(step);
  if (wish == readers_of.end() || there == shown.end())
    return;
  const auto& parts = there->second.parts;
  if (std::any_of(wish->second.replicas.begin(), wish->second.replicas.end(),
                  [&parts](const auto& r) { return !parts.contains(r.id); }))
    return;
  const auto readers = readers_of.extract(wish).mapped().readers;
  auto snapshot = std::move(shown.extract(there).mapped());
  std::vector<const variable_piece*> pieces;
  for (const auto& [replica, part] : snapshot.parts)
    for (const auto& piece : part.pieces)
      pieces.push_back(&piece);
  auto joined = join_pieces(pieces);
  if (!joined) {
    release_arenas(step, snapshot);
    return self->send(driver, save_failed{attempt, step, std::move(joined.error())});
  }
  std::erase_if(*joined, [this](const named_tensor& t) { return !is_evaluated(stored.groups, t); });
  sending = transfer{
      state_shown{attempt, step}, {stored.groups, std::move(*joined), options.part_bytes_max}, {}, std::move(snapshot)};
  for (const auto& group : stored.groups)
    for (const auto& reader : readers)
      sending->owners[group.group].push_back(reader.owner);
  send_state();
}

/// Continues with these readers only; the others are left out.
void checkpoint_writer_state::narrow(const std::vector<state_owner>& readers) {
  const auto left = [&readers](const state_owner_actor& owner) {
    return std::none_of(readers.begin(), readers.end(), [&owner](const state_owner& r) { return r.owner == owner; });
  };
  for (auto& [group, owners] : sending->owners)
    std::erase_if(owners, left);
  std::erase_if(sending->on_their_way, [&left](const auto& part) { return left(part.second); });
  send_state();
}

void checkpoint_writer_state::forget_shown(int64_t above) {
  for (auto s = shown.upper_bound(above); s != shown.end(); s = shown.erase(s))
    release_arenas(s->first, s->second);
  readers_of.erase(readers_of.upper_bound(above), readers_of.end());
}

}  // namespace troupe
