#include "pipeline/random_faults/checks.hpp"

#include "actors/chief/decisions.hpp"
#include "pipeline/random_faults/troubled_input.hpp"
#include "support/plans.hpp"

namespace troupe::test::random_faults {

bool came(const observation& o, trouble_kind what) {
  return std::any_of(o.happened.begin(), o.happened.end(), [&](const auto& h) { return h.what.what == what; });
}

bool killed(const observation& o, std::string_view node) {
  return std::any_of(o.happened.begin(), o.happened.end(),
                     [&](const auto& h) { return h.what.what == trouble_kind::kill && h.what.node == node; });
}

namespace {

std::string came_text(const observation& o) {
  std::string text;
  for (const auto& h : o.happened)
    text += (text.empty() ? "" : "; ") + to_text(h.what) + " (turn " + std::to_string(h.turn) + ")";
  return text.empty() ? "nothing" : text;
}

}  // namespace

// -- ends -----------------------------------------------------------------------------------

void check_end(const recipe&, const observation& o, std::vector<finding>& to) {
  constexpr std::chrono::seconds in_time{200};
  if (o.stuck)
    to.push_back({"it ends", "nothing was left to happen, and there was no result"});
  if (o.endless)
    to.push_back({"it ends", "no result after " + std::to_string(o.turns) + " turns and "
                                 + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(o.ended).count())
                                 + " virtual seconds"});
  const auto last = o.happened.empty() ? std::chrono::nanoseconds{} : o.happened.back().at;
  if (o.result && o.ended - last - o.taken > in_time)
    to.push_back({"it ends in time",
                  "the result came "
                      + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(o.ended - last).count())
                      + " virtual seconds after the last trouble: " + (*o.result ? "well" : to_text(o.result->error()))
                      + "\n    came: " + came_text(o)});
  for (const auto& e : o.events)
    if (e.what == job_event::kind::warning && e.text == forgotten_text)
      to.push_back({"a timer finds nothing to do", "at step " + std::to_string(e.step)});
  for (const auto& name : o.left)
    to.push_back({"nobody is left", name + " is alive after the end"});
}

// -- causes ---------------------------------------------------------------------------------

namespace {

bool says(const error& e, std::string_view text) { return to_text(e).find(text) != std::string::npos; }

bool is_in(const recipe& r, const std::string& node, const std::string& place) {
  const auto* of_node = entry_of(r.conditions.place, node);
  return of_node && *of_node == place;
}

bool explains(const recipe& r, const trouble& t, const error& e) {
  switch (t.what) {
    case trouble_kind::host_death: return e.category == errc::aborted && is_in(r, e.source, t.place);
    case trouble_kind::kill:
      return e.category == errc::aborted
             && (e.source == t.node || (t.node.starts_with("evaluator/") && e.source == "evaluator"));
    case trouble_kind::abort: return e.category == errc::cancelled && says(e, "aborted");
    case trouble_kind::disk_fault:
    case trouble_kind::disk_death:
      return e.category == errc::unavailable && e.message.find(injected) != std::string::npos;
    case trouble_kind::disk_full:
      return e.category == errc::resource_exhausted && e.message.find(injected) != std::string::npos;
    case trouble_kind::hook_fault: return e.source == "callbacks" && e.message.find(injected) != std::string::npos;
    case trouble_kind::input_fault: {
      const bool of_evaluation = t.input == input_place::eval_iterate || t.input == input_place::eval_read;
      if (t.input == input_place::nan)
        return e.category == errc::nan_loss;
      if (t.input == input_place::label)
        return e.category == errc::invalid_argument && says(e, "99");
      return e.message.find(injected) != std::string::npos
             && (of_evaluation ? e.source.starts_with("evaluator") : e.source == "infeed/" + std::to_string(t.host));
    }
    default: return false;
  }
}

/// True: the job failed since all groups left. Deaths may have taken the groups that the recipe lets stay.
bool is_of_nobody_left(const recipe& r, const error& e) {
  return r.groups && r.groups->deaths_too && says(e, "every group has left the job");
}

bool is_of_leaving_group(const group_recipe& g, const std::string& node) {
  constexpr std::string_view replica = "replica/";
  if (node == "reducer")
    return g.leaves(0);
  return node.starts_with(replica)
         && g.leaves(static_cast<size_t>(std::stoll(node.substr(replica.size())) / g.replicas));
}

/// True: the trouble fails every job that still has work to do.
bool is_fatal(const recipe& r, const trouble& t) {
  switch (t.what) {
    // An evaluator's nodes are restarted silently between evaluations, and nobody waits for a group that has left.
    case trouble_kind::kill:
      return !t.node.starts_with("evaluator/") && !(r.groups && is_of_leaving_group(*r.groups, t.node));
    case trouble_kind::host_death:
    case trouble_kind::abort: return true;
    case trouble_kind::hook_fault: return t.hook != hook_place::on_abort;
    case trouble_kind::input_fault:
      if (t.input == input_place::save)
        return false;  // Only a rewind would need this position.
      // Batches that one infeed has read ahead are not computed once the data of another one end.
      return !(r.batches && (r.hosts > 1 || r.input_mode == input_mode::per_core));
    default: return false;
  }
}

/// True: the trouble only takes time, less than every deadline.
bool is_harmless(const trouble& t) { return t.what >= trouble_kind::busy && t.what <= trouble_kind::slow_disk; }

/// True: a new attempt could overcome the trouble.
bool is_curable(const trouble& t) {
  if (t.what == trouble_kind::host_death)
    return true;
  if (t.what == trouble_kind::input_fault)
    return t.unavailable && !t.throws && !t.for_ever && t.input <= input_place::read;
  if (t.what == trouble_kind::late_block)
    return true;  // A late block fails nothing.
  return t.what == trouble_kind::kill
         && (t.node.starts_with("infeed/") || t.node.starts_with("replica/") || t.node == "reducer");
}

/// True: a new attempt may not meet the trouble, as the batch that had it was only read ahead and is read again without
/// it.
bool may_vanish(const trouble& t) { return t.what == trouble_kind::input_fault && !t.for_ever; }

bool was_asked_to_stop(const recipe& r, const observation& o) {
  return r.hook_stops_at || o.stopped_on || o.listener_stopped_at || came(o, trouble_kind::stop)
         || came(o, trouble_kind::signal);
}

/// The attempts in a row, counted from events. A commit beyond the steps at which attempts failed renews the budget.
int64_t attempts_spent(const observation& o) {
  int64_t spent = 0, failed_at = -1;
  for (const auto& e : o.events) {
    if (e.what == job_event::kind::recovering)
      ++spent, failed_at = std::max(failed_at, e.step);
    else if (e.what == job_event::kind::saved && e.step > failed_at)
      spent = 0, failed_at = -1;
  }
  return spent;
}

/// True: the job has to recover, since the budget covers all failures that happened, and the job has checkpoints to
/// resume from and steps to train.
bool should_recover(const recipe& r, const observation& o) {
  return o.stood_at < r.max_steps && (r.save_steps || r.save_secs) && attempts_spent(o) < r.recovers
         && !was_asked_to_stop(r, o) && std::all_of(o.happened.begin(), o.happened.end(), [](const happening& h) {
              return is_curable(h.what) || is_harmless(h.what);
            });
}

}  // namespace

void check_cause(const recipe& r, const observation& o, std::vector<finding>& to) {
  if (!o.result || (!*o.result && is_of_nobody_left(r, o.result->error())))
    return;
  if (!*o.result
      && std::all_of(o.happened.begin(), o.happened.end(), [](const happening& h) { return is_harmless(h.what); }))
    to.push_back({"what only takes time fails nothing", to_text(o.result->error()) + "\n    came: " + came_text(o)});
  if (!*o.result && should_recover(r, o))
    to.push_back({"what can be recovered is", to_text(o.result->error()) + "\n    came: " + came_text(o)});
  if (!*o.result) {
    const auto& e = o.result->error();
    const bool explained = std::any_of(o.happened.begin(), o.happened.end(),
                                       [&](const auto& h) { return explains(r, h.what, e); });
    if (!explained)
      to.push_back({"the cause is one that came", to_text(e) + "\n    came: " + came_text(o)});
    return;
  }
  const auto& result = **o.result;
  if (result.stopped && !was_asked_to_stop(r, o))
    to.push_back({"it stops when it is asked to",
                  "stopped at step " + std::to_string(result.global_step) + ", and nobody had asked"});
  // A death is noticed up to so many turns later; the job may end before.
  constexpr int64_t heard_of_after = 400;
  constexpr std::chrono::seconds heard_of_in{60};  // For worlds where messages take time or wait for a cut link.
  const bool recovered = !steps_of(o.events, job_event::kind::recovered).empty();
  for (const auto& h : o.happened)
    if (is_fatal(r, h.what) && !(recovered && (is_curable(h.what) || may_vanish(h.what)))
        && h.turn + heard_of_after < o.ended_turn && (!r.conditions.timed() || h.at + heard_of_in < o.ended))
      to.push_back({"no failure is swallowed", to_text(h.what) + " came at turn " + std::to_string(h.turn)
                                                   + ", and the job ended well at turn "
                                                   + std::to_string(o.ended_turn)});
  const auto& reference = reference_of(r);
  if (!result.stopped && result.global_step != reference.id.step && o.stood_at <= reference.id.step)
    to.push_back({"it ends where it should", "at step " + std::to_string(result.global_step) + " in place of "
                                                 + std::to_string(reference.id.step)});
  const bool saves = r.save_steps || r.save_secs;
  if (saves && (!o.newest || o.newest->id.step != result.global_step))
    to.push_back({"what ended well is saved", "it ended at step " + std::to_string(result.global_step)
                                                  + ", and the newest checkpoint is of step "
                                                  + (o.newest ? std::to_string(o.newest->id.step) : "none")});
}

// -- the disk -------------------------------------------------------------------------------

namespace {

std::string difference(const checkpoint_content& a, const checkpoint_content& b) {
  if (a.id != b.id)
    return "step " + to_string(a.id) + " in place of " + to_string(b.id);
  if (a.blobs != b.blobs)
    return "the positions of the input differ";
  for (size_t i = 0; i < std::min(a.tensors.size(), b.tensors.size()); ++i)
    if (a.tensors[i].name != b.tensors[i].name || !(a.tensors[i].value == b.tensors[i].value))
      return a.tensors[i].name + " differs";
  return "the variables are others";
}

/// True: the state is that of a job whose rate was never scaled. This is right if a process ended at the very state
/// where the hook scales the rate, before the hook did so: no later process scales it.
bool is_unscaled(const story& s, const checkpoint_content& end) {
  const auto stands_there = [&](const observation& o) { return o.stood_at == s.of.hook_scales_at; };
  const bool interrupted = std::any_of(s.disturbed.begin(), s.disturbed.end(), stands_there)
                           || (s.undisturbed && stands_there(*s.undisturbed));
  if (!s.of.hook_scales_at || !interrupted)
    return false;
  recipe never = s.of;
  never.hook_scales_at.reset();
  return same_state(end, reference_of(never));
}

/// Checks that each group in the checkpoint has the bits of the undisturbed job, and that each other group left where
/// it should, or by a death.
void check_groups(const group_recipe& g, const checkpoint_content& end, const checkpoint_content& reference,
                  bool unscaled, std::vector<finding>& to) {
  if (unscaled)
    return;
  if (end.id != reference.id || end.blobs != reference.blobs)
    return to.push_back({"the state is right", difference(end, reference)});
  const std::string names[] = {"mixture", "a", "b"};
  const auto left = [](const checkpoint_content& c, const std::string& name) {
    const auto book = c.properties.find("left/" + name);
    return book == c.properties.end() ? std::string{} : book->second;
  };
  const auto died = [&](size_t which) {
    const auto why = left(end, names[which]);
    return g.deaths_too && !why.empty() && why.find("nan_loss") == std::string::npos
           && why != left(reference, names[which]);
  };
  for (size_t which = 0; which < 3; ++which) {
    const auto& name = names[which];
    if (died(which) || (which == 0 && !g.mixture_falls && (died(1) || died(2))))
      continue;  // The mixture has other numbers if a candidate left at another step.
    if (left(end, name) != left(reference, name))
      to.push_back({"a group leaves where it should",
                    name + ": '" + left(end, name) + "' in place of '" + left(reference, name) + "'"});
    else if (variables(end, name + "/") != variables(reference, name + "/"))
      to.push_back({"the state is right", "group " + name + " differs"});
  }
}

void check_told(const observation& o, std::vector<finding>& to) {
  const auto saved = steps_of(o.events, job_event::kind::saved);
  if (saved.empty())
    return;
  const int64_t told = *std::max_element(saved.begin(), saved.end());
  if (!o.newest || o.newest->id.step < told)
    to.push_back({"what was told to be saved is there", "step " + std::to_string(told) + " was told, and the newest is "
                                                            + (o.newest ? std::to_string(o.newest->id.step) : "none")});
}

/// Whether `file` is of the checkpoint that was evaluated last. Between places, the end of a job may overtake the
/// message that ends the lease of its last evaluation; the next job's first commit then deletes the checkpoint. Other
/// jobs end with the evaluation of a checkpoint that is kept: only a group that leaves can end an evaluation before.
bool may_be_leased(const recipe& r, const observation& o, const std::string& file) {
  if (!r.groups || r.conditions.place.empty())
    return false;
  const auto last = std::find_if(o.events.rbegin(), o.events.rend(),
                                 [](const job_event& e) { return e.what == job_event::kind::evaluated; });
  if (last == o.events.rend())
    return false;
  const auto name = "model.ckpt-" + std::to_string(last->step);
  return file.starts_with(name + ".") || file.starts_with(name + "-");
}

}  // namespace

void check_state(const story& s, std::vector<finding>& to) {
  const auto& reference = reference_of(s.of);
  for (const auto& o : s.disturbed)
    check_told(o, to);
  if (s.undisturbed) {
    const auto& o = *s.undisturbed;
    if (o.result && !*o.result && is_of_nobody_left(s.of, o.result->error()))
      return;
    if (o.result && !*o.result)
      to.push_back({"an undisturbed run ends well", to_text(o.result->error())});
    if (!o.result || !*o.result)
      return;
    if ((*o.result)->global_step != reference.id.step)
      to.push_back({"it ends where it should", "at step " + std::to_string((*o.result)->global_step) + " in place of "
                                                   + std::to_string(reference.id.step)});
  }
  // Without disk faults only: a deletion that fails is repeated at the next commit.
  const auto check_files = [&](const observation& o) {
    if (o.result && *o.result && (**o.result).steps_run > 0)
      for (const auto& file : o.unlisted)
        if (!may_be_leased(s.of, o, file))
          to.push_back({"what nobody lists is deleted", file + " is still there"});
  };
  for (const auto& o : s.disturbed)
    if (!came(o, trouble_kind::disk_fault) && !came(o, trouble_kind::disk_full) && !came(o, trouble_kind::disk_death))
      check_files(o);
  if (s.undisturbed)
    check_files(*s.undisturbed);
  const auto& last = s.undisturbed ? *s.undisturbed : s.disturbed.back();
  const bool saves = s.of.save_steps || s.of.save_secs;
  if (s.of.groups && saves && last.newest)
    return check_groups(*s.of.groups, *last.newest, reference, is_unscaled(s, *last.newest), to);
  if (saves && (!last.newest || (!same_state(*last.newest, reference) && !is_unscaled(s, *last.newest))))
    to.push_back({"the state is right", last.newest ? difference(*last.newest, reference) : "there is no checkpoint"});
}

void check_curve(const story& s, std::vector<finding>& to) {
  const auto& last = s.undisturbed ? *s.undisturbed : s.disturbed.back();
  if (s.of.summary_steps == 0 || !last.result || !*last.result || (s.of.groups && s.of.groups->deaths_too))
    return;  // The group whose curve is read may have died.
  // A power loss loses records that are not synced, a disk fault those being written, and a death those that the actor
  // holds. The model is saved nevertheless.
  for (const auto& o : s.disturbed)
    for (const auto kind :
         {trouble_kind::power_loss, trouble_kind::disk_fault, trouble_kind::disk_full, trouble_kind::disk_death})
      if (came(o, kind) || killed(o, "summary_writer") || killed(o, "outfeed"))
        return;
  // Without checkpoints every process begins at step 0, and its START note withdraws the curve of the process before.
  std::vector<int64_t> whole;
  for (int64_t step = s.of.summary_steps; step <= (**last.result).global_step; step += s.of.summary_steps)
    whole.push_back(step);
  if (last.curve == whole)
    return;
  std::string steps;
  for (const int64_t step : last.curve)
    steps += " " + std::to_string(step);
  to.push_back({"a curve has no gap", "every " + std::to_string(s.of.summary_steps) + " steps to "
                                          + std::to_string((**last.result).global_step) + ", and there are:" + steps});
}

std::vector<finding> judge(const story& s) {
  std::vector<finding> all;
  const auto look = [&](const observation& o) {
    check_end(s.of, o, all);
    check_bounds(s.of, o, all);
    check_inside(s.of, o, all);
    check_order(s.of, o, all);
    check_listener(s.of, o, all);
    check_calls(s.of, o, all);
    check_cause(s.of, o, all);
  };
  for (const auto& o : s.disturbed)
    look(o);
  if (s.undisturbed)
    look(*s.undisturbed);
  check_state(s, all);
  check_exports(s, all);
  check_curve(s, all);
  check_all_calls(s, all);
  return all;
}

}  // namespace troupe::test::random_faults
