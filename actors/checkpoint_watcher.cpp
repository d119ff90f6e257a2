#include "actors/checkpoint_watcher.hpp"

#include "messages/counted.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/judged.hpp"
#include "words/checkpoint_id.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// A change may come in the middle of a look, so that what differs from what was told counts, and not the change.
void checkpoint_watcher_state::on_proceed() {
  const auto now = self->clock().now();
  if (changed() || !looked || now - *looked >= look_again) {
    looked = now;
    if (commits)
      look_for_commits();
    else
      look_for_verdicts();
  }
  if (watch && options.patience.count() > 0)
    self->send(self, proceed{});
  else
    self->delayed_send(self, std::max(options.pause, options.patience), proceed{});
}

bool checkpoint_watcher_state::changed() {
  if (!watch) {
    auto made = options.files->watch(options.directory);
    if (!made)
      return false;  // Looking now and then is enough.
    watch = std::move(*made);
    return true;
  }
  spent.pause(now_ns_of(*this), wait_cause::input);
  const bool any = watch->changed(options.patience);
  spent.go_on(now_ns_of(*this));
  return any;
}

void checkpoint_watcher_state::look_for_commits() {
  commit_seen now;
  const auto store = checkpoint_store::open(options.files, options.directory, {.read_only = true});
  const auto newest = store.and_then([](const auto& s) { return s->inspect_newest(); });
  if (newest) {
    now.found = true;
    now.id = newest->id;
    now.prefix = newest->prefix;
    now.properties = newest->properties;
  } else if (newest.error().category != errc::not_found) {
    now.warning = newest.error().message;
  }
  const auto owner = options.files->lock_owner(options.directory);
  now.owned = owner && owner->has_value();
  const auto at = self->clock().now();
  if (told == now && at - told_at < tell_again)
    return;
  told = now;
  told_at = at;
  self->send(commits, std::move(now));
}

/// What names no checkpoint of this directory is of another job, or of a checkpoint that is gone.
void checkpoint_watcher_state::look_for_verdicts() {
  const auto path = join_path(options.directory, judged_file);
  auto text = read_file(*options.files, path);
  if (!text && text.error().category == errc::data_loss && judged_before != text.error().message) {
    judged_before = text.error().message;
    self->send(verdicts, verdict_seen{.ignored = judged_before + ": it is not followed"});
  }
  if (!text || *text == judged_before)
    return;
  verdict_seen now;
  bool is_seen = true;
  const auto meant = [&](const judged_checkpoint& at) {
    const auto there = has_checkpoint(*options.files, options.directory, at);
    is_seen = is_seen && there;
    if (there && !*there)
      now.ignored = path + " is about step " + to_string(at.id)
                    + ", and this directory has no such checkpoint: it is not followed";
    return there.value_or(false);
  };
  const auto before = std::exchange(judged_before, *text);
  const auto found = parse_judged(std::move(*text), path);
  if (!found)
    now.ignored = found.error().message + ": it is not followed";
  if (found && found->best && meant(found->best->at)) {
    now.has_best = true;
    now.best = found->best->at.id;
    now.value = found->best->value;
  }
  if (found && found->ends && meant(found->ends->at)) {
    now.has_end = true;
    now.ends_at = found->ends->at.id;
    now.rule = found->ends->rule;
    now.why = found->ends->why;
  }
  if (is_seen)
    return self->send(verdicts, std::move(now));
  judged_before = before;  // The disk has failed: the next look may tell.
}

checkpoint_watcher_actor::behavior_type checkpoint_watcher(
    checkpoint_watcher_actor::stateful_pointer<checkpoint_watcher_state> self, checkpoint_watcher_options options,
    commit_listener_actor commits, verdict_listener_actor verdicts) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.commits = std::move(commits);
  state.verdicts = std::move(verdicts);
  self->send(self, proceed{});
  return counted<checkpoint_watcher_actor>(
      state, [&state](const proceed&) { state.on_proceed(); }, answers_probe(state));
}

}  // namespace troupe
