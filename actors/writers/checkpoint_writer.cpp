#include "actors/writers/checkpoint_writer.hpp"

#include "actors/writers/derived_files.hpp"
#include "messages/counted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void checkpoint_writer_state::begin_attempt(int32_t number, const stored_plan& of) {
  if (std::exchange(attempt, number) != number)
    // An attempt restores again if the newest commit has proved damaged and an older one wants another plan.
    damaged.clear();
  stored = of;
  parts.clear();
  for (const auto& part : stored.parts)
    parts.push_back({part.id, part.name});
  snapshots.clear();
  newest.reset();
  refused.clear();
  gone_parts.clear();
  departures.clear();
  settling = false;
  sending.reset();
  parts_sent = 0;
  shown.clear();
  readers_of.clear();
}

void checkpoint_writer_state::fail_with(error cause) {
  cause.source = options.name;
  self->send(driver, failure{attempt, options.id, std::move(cause)});
}

void checkpoint_writer_state::on_stand_in(const stand_in& x) {
  begin_attempt(x.attempt, x.of);
  stands_in = true;
  if (auto opened = open(); !opened)
    fail_with(opened.error());
  early.hand_over(attempt, each_of{[this](const lent_part& part) { on_part(part, part.lender); },
                                   [this](const gone& node) { on_gone(node); }});
}

expected<void> checkpoint_writer_state::open() {
  if (store || options.directory.empty())
    return {};
  auto opened = checkpoint_store::open(options.files, options.directory, options.store, options.claim);
  if (!opened) {
    not_opened = opened.error();
    return fail(*not_opened);
  }
  store = std::move(*opened);
  return {};
}

void checkpoint_writer_state::on_departed(const departed& x) {
  if (x.attempt != attempt)
    return;
  for (auto& part : parts)
    if (std::find(x.replicas.begin(), x.replicas.end(), named_node{part.id}) != x.replicas.end())
      part.until = std::min(part.until, x.first_state);
  departures.push_back(x);
  finish_complete();
}

/// Finishes snapshots in the order of states, because parts of a group that has left may arrive later than those of
/// other groups. A writer that replaces a dead one has only some parts of earlier states, and skips these.
void checkpoint_writer_state::finish_complete() {
  refuse_hopeless();
  std::vector<int64_t> complete;
  for (const auto& [step, snapshot] : snapshots)
    if (missing_parts(parts, step, snapshot.parts).empty())
      complete.push_back(step);
    else if (!stands_in)
      break;
  for (const int64_t step : complete)
    finish(step);
}

void checkpoint_writer_state::on_part(const snapshot_part& x, const arena_owner_actor& lender) {
  if (x.attempt > attempt) {
    early.keep(attempt, lent_part{x, lender});
    return;
  }
  if (x.shown)
    return on_shown_part(x, lender);
  if (x.attempt != attempt || (newest && x.step <= *newest) || refused.contains(x.step)) {
    if (!x.pieces.empty())
      self->send(lender, released{x.attempt, x.step});
    return;
  }
  // A writer that replaces a dead one serves only the last save. It also receives parts of earlier snapshots, whose
  // other parts were lost with the dead writer, and releases the arenas that are lent for them.
  for (auto s = snapshots.begin(); stands_in && !x.pieces.empty() && s != snapshots.end() && s->first < x.step;) {
    release_arenas(s->first, s->second);
    refused.insert(s->first);
    s = snapshots.erase(s);
  }
  auto& snapshot = snapshots[x.step];
  if (!x.pieces.empty())
    snapshot.lenders.push_back(lender);
  snapshot.parts.insert_or_assign(x.part, x);
  finish_complete();
}

void checkpoint_writer_state::finish(int64_t step) {
  auto node = snapshots.extract(step);
  for (const auto& part : parts)
    if (part.until <= step)
      node.mapped().parts.erase(part.id);  // Whether it came before the others depends on the schedule.
  const checkpoint_id id{step, stored.iteration.number};
  auto result = commit(id, node.mapped());
  newest = std::max(newest.value_or(step), step);
  release_arenas(step, node.mapped());
  if (result) {
    if (options.lease_commits)
      store->lease(id);
    self->send(driver, committed{attempt, id, result->prefix, result->warnings});
  } else {
    auto cause = result.error();
    cause.source = options.name;
    cause.step = step;
    self->send(driver, save_failed{attempt, step, std::move(cause)});
  }
}

expected<commit_result> checkpoint_writer_state::commit(checkpoint_id id, pending& snapshot) {
  if (!store)
    return fail(not_opened.value_or(error{errc::failed_precondition, "the checkpoint directory is not open"}));
  std::vector<const variable_piece*> pieces;
  const std::chrono::duration<double> since_origin = self->clock().now().time_since_epoch();
  checkpoint_content content{id, {}, {}, options.properties, options.wall_offset + since_origin.count()};
  content.properties.merge(write_books({.warm_start = warm_start}));
  std::map<std::string, int64_t> numbers;
  for (auto& [owner, part] : snapshot.parts) {
    for (const auto& piece : part.pieces)
      pieces.push_back(&piece);
    content.blobs.insert(part.blobs.begin(), part.blobs.end());
    content.properties.insert(part.properties.begin(), part.properties.end());
    numbers.insert(part.numbers.begin(), part.numbers.end());
  }
  numbers.emplace(global_step_name, id.step);
  for (const auto& d : departures)
    if (id.step >= d.first_state)
      content.properties.insert(d.properties.begin(), d.properties.end());
  if (auto finite = check_finite(pieces); !finite)
    return fail(finite.error());
  auto joined = join_pieces(pieces);
  if (!joined)
    return fail(joined.error());
  content.tensors = std::move(*joined);
  for (const auto& [name, number] : numbers)
    content.tensors.push_back({name, tensor::scalar<int64_t>(number)});
  auto result = store->commit(content);
  if (result)
    for (auto& warning : write_derived_files(*options.files, options.directory, content.blobs))
      result->warnings.push_back(std::move(warning));
  return result;
}

void checkpoint_writer_state::release_arenas(int64_t step, const pending& snapshot) {
  for (const auto& lender : snapshot.lenders)
    self->send(lender, released{attempt, step});
}

void checkpoint_writer_state::on_abandon(const abandon& x) {
  if (x.attempt != attempt)
    return;
  for (auto s = snapshots.upper_bound(x.step); s != snapshots.end(); s = snapshots.erase(s))
    release_arenas(s->first, s->second);
  forget_shown(x.step);
}

void checkpoint_writer_state::on_name_missing(const name_missing& x) {
  if (x.attempt != attempt || (newest && x.step <= *newest) || refused.contains(x.step))
    return;  // Out of date: of another attempt, or the snapshot has been committed or refused.
  const auto missing = missing_parts(parts, x.step, snapshots[x.step].parts);
  refuse(x.step, {errc::deadline_exceeded,
                  "the snapshot at step " + std::to_string(x.step) + " still lacks the part of " + missing});
  finish_complete();
}

void checkpoint_writer_state::refuse(int64_t step, error cause) {
  const auto node = snapshots.extract(step);
  if (!node.empty())
    release_arenas(step, node.mapped());
  refused.insert(step);
  cause.source = options.name;
  cause.step = step;
  self->send(driver, save_failed{attempt, step, std::move(cause)});
}

void checkpoint_writer_state::on_gone(const gone& x) {
  if (early.keep(attempt, x) || x.attempt != attempt)
    return;
  gone_parts.insert(x.part);
  finish_complete();
}

void checkpoint_writer_state::on_settle(const settle& x) {
  if (x.attempt != attempt)
    return;
  settling = true;
  for (const int64_t step : x.steps)
    if (!(newest && step <= *newest) && !refused.contains(step))
      snapshots.try_emplace(step);
  finish_complete();
}

void checkpoint_writer_state::on_late_properties(const late_properties& x) {
  if (x.attempt != attempt)
    return;
  if (auto kept = keep_best(read_books(x.properties)); !kept)
    return fail_with(kept.error());
  const auto added = store ? store->add_verdict(x.id, x.properties)
                           : expected<void>{fail(not_opened.value_or(
                               error{errc::failed_precondition, "the checkpoint directory is not open"}))};
  // The checkpoint was deleted meanwhile; the books of later ones say the same.
  const bool dropped = !added && added.error().category == errc::not_found && newest && x.id.step < *newest;
  if (!added && !dropped)
    return fail_with(added.error());
  self->send(driver, late_properties_kept{attempt, x.id});
}

/// Tells retention to keep the checkpoint that `books` name as the best.
expected<void> checkpoint_writer_state::keep_best(const checkpoint_books& books) {
  return store && books.best ? store->keep(books.best->id) : expected<void>{};
}

/// A node sends its parts before its `gone`, so a part that is missing then never arrives. While an attempt is running,
/// only parts of a group that has left can be missing for good.
void checkpoint_writer_state::refuse_hopeless() {
  std::vector<std::pair<int64_t, std::string>> hopeless;
  for (const auto& [step, snapshot] : snapshots)
    for (const auto& part : parts)
      if (step < part.until && !snapshot.parts.contains(part.id) && gone_parts.contains(part.id)
          && (settling || part.until != INT64_MAX)) {
        hopeless.emplace_back(step, part.name);
        break;
      }
  for (const auto& [step, part] : hopeless)
    refuse(step, {errc::aborted, "the snapshot at step " + std::to_string(step) + " lacks the part of " + part
                                     + ", which does not come any more"});
}

checkpoint_writer_actor::behavior_type checkpoint_writer(
    checkpoint_writer_actor::stateful_pointer<checkpoint_writer_state> self, checkpoint_writer_options options,
    commit_sink_actor driver) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.driver = std::move(driver);
  return counted<checkpoint_writer_actor>(
      state,
      [&state](const snapshot_part& x) {
        state.on_part(x, caf::actor_cast<arena_owner_actor>(state.self->current_sender()));
      },
      [&state](const restore& x) { state.on_restore(x); }, [&state](const name_newest& x) { state.on_name_newest(x); },
      [&state](const state_taken& x) { state.on_state_taken(x); },
      [&state](const stand_in& x) { state.on_stand_in(x); }, [&state](const departed& x) { state.on_departed(x); },
      [&state](const gone& x) { state.on_gone(x); }, [&state](const abandon& x) { state.on_abandon(x); },
      [&state](const show_state& x) { state.on_show_state(x); },
      [&state](const name_missing& x) { state.on_name_missing(x); }, [&state](const settle& x) { state.on_settle(x); },
      [&state](const late_properties& x) { state.on_late_properties(x); },
      [&state](const unlease& x) {
        // A deletion that fails is repeated at the next commit, whose warnings name it.
        if (state.store)
          static_cast<void>(state.store->release(x.id));
      },
      answers_probe(state));
}

}  // namespace troupe
