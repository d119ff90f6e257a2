// Gates: states that no node may pass until their owner has answered, and states that the hooks are shown. Plain data.
#pragma once

#include <troupe/hook.hpp>

#include <map>
#include <optional>
#include <set>

namespace troupe {

/// Three kinds of gate, by state. A gate of a commit opens after the commit and its evaluation, if one is made; that of a state that
/// evaluators are shown, once they are done with it. A gate of the hooks, at a step with a need for a gate or at a fact that a hook holds,
/// opens when the hooks have answered.
class gates {
 public:
  /// Called once, when the hooks have begun.
  void set_needs(std::vector<need> steps, held_facts holds, bool observes = false, bool last = false);
  const held_facts& holds() const noexcept { return holds_; }

  /// The first state after `after` that hooks are shown; INT64_MAX: none.
  int64_t next_shown(int64_t after) const;
  bool shows(int64_t step) const { return next_shown(step - 1) == step; }
  /// Whether hooks want values that the model observes, at the states that they are shown.
  bool observes() const noexcept { return observes_; }
  /// Whether hooks are shown the last state, whichever it is.
  bool shows_last() const noexcept { return last_; }

  /// A mark was placed at `step`: a gate closes there if a hook holds it.
  void marked(int64_t step);
  bool is_held(int64_t step) const { return hooks_.contains(step); }
  /// The hooks were asked about the gate at `step`, which opens when they have answered.
  void asked(int64_t step) { asked_.insert(step); }
  void answered(int64_t step);
  /// No node runs past `step` until fact `number` is answered.
  void hold_fact(uint64_t number, int64_t step) { facts_.emplace(number, step); }
  void facts_answered(uint64_t up_to) { facts_.erase(facts_.begin(), facts_.upper_bound(up_to)); }
  /// The first state at which the hooks were asked and have not answered.
  std::optional<int64_t> awaited() const;
  /// Whether a step or a fact that a hook holds has not been answered.
  bool held_by_hooks() const noexcept { return !hooks_.empty() || !facts_.empty(); }

  void await_commit(int64_t step) { commits_.insert(step); }
  void commit_done(int64_t step) { commits_.erase(step); }
  void await_shown(int64_t step) { shown_.insert(step); }
  void shown_done(int64_t step) { shown_.erase(step); }
  /// The evaluator is lost: gates of commits up to `committed` open, and later ones remain only if a hook holds commits.
  void evaluations_lost(std::optional<int64_t> committed);

  /// The first state that no node may pass, seen from the horizon `until`; INT64_MAX: none. Steps with a need for a gate
  /// count before their mark is placed.
  int64_t limit(int64_t until) const;
  /// The states above `step` will not be reached.
  void cancel_above(int64_t step);
  void open_all();
  /// Forgets the gates of the attempt before; facts that are held stay so until they are answered.
  void begin_attempt();

 private:
  std::vector<need> needs_;
  held_facts holds_;
  bool observes_ = false, last_ = false;
  std::set<int64_t> commits_, shown_, hooks_, asked_;
  std::map<uint64_t, int64_t> facts_;  ///< The state of each held fact, by its number.
};

}  // namespace troupe
