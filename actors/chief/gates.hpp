// Gates, which are states that no node may pass until their owner has answered, and the states that hooks are shown.
// Plain data.
#pragma once

#include <troupe/hook.hpp>

#include <map>
#include <optional>
#include <utility>

namespace troupe {

/// The owner of a gate, which opens it.
enum class gate_kind : uint8_t {
  commit,  ///< The chief, once the gate's state is committed and, if it is to be evaluated, evaluated.
  shown,   ///< The chief, once evaluators have finished with the shown state.
  step,    ///< Hooks with a gate at that step, by their answer.
  fact,    ///< Hooks that hold a fact, by their answer. Belongs to the job, not to an attempt.
};

class gates {
 public:
  /// Called once, when the hooks have begun.
  void set_needs(std::vector<need> steps, held_facts holds, bool observes = false, bool last = false);
  const held_facts& holds() const noexcept { return holds_; }

  /// The first state after `after` that hooks are shown; INT64_MAX if there is none.
  int64_t next_shown(int64_t after) const;
  bool shows(int64_t step) const { return next_shown(step - 1) == step; }
  /// Whether hooks want observed values at the states that they are shown.
  bool observes() const noexcept { return observes_; }
  /// Whether hooks are shown the last state, whichever it is.
  bool shows_last() const noexcept { return last_; }

  /// For a commit or a shown state: no node runs past `step` until the gate is opened.
  void close(gate_kind kind, int64_t step) { closed_.try_emplace({kind, step}, gate{step}); }
  void open(gate_kind kind, int64_t step) { closed_.erase({kind, step}); }

  /// A mark was placed at `step`: closes a gate there if a hook needs one.
  void marked(int64_t step);
  bool is_held(int64_t step) const { return closed_.contains({gate_kind::step, step}); }
  /// The hooks were asked about the gate at `step`; it opens when they have answered.
  void asked(int64_t step) { closed_.insert_or_assign({gate_kind::step, step}, gate{step, true}); }
  void answered(int64_t step) { open(gate_kind::step, step); }
  /// No node runs past `step` until fact `number` is answered.
  void hold_fact(uint64_t number, int64_t step) {
    closed_.try_emplace({gate_kind::fact, static_cast<int64_t>(number)}, gate{step, true});
  }
  void facts_answered(uint64_t up_to);
  /// The first state at which the hooks were asked and have not answered.
  std::optional<int64_t> awaited() const;
  /// Whether a gate of hooks is closed: they have not answered a step or a fact.
  bool held_by_hooks() const;
  /// The evaluator is lost: gates of commits up to `committed` open. Later ones stay closed only if a hook holds
  /// commits.
  void evaluations_lost(std::optional<int64_t> committed);

  /// The first state that no node may pass, seen from the horizon `until`; INT64_MAX if there is none. A step at which
  /// a hook needs a gate counts before its mark is placed.
  int64_t limit(int64_t until) const;
  /// States above `step` will not be reached.
  void cancel_above(int64_t step);
  void open_all();
  /// Forgets the gates of the previous attempt, except those of facts, which stay closed until the facts are answered.
  void begin_attempt();

 private:
  std::vector<need> needs_;
  held_facts holds_;
  bool observes_ = false, last_ = false;
  struct gate {
    int64_t step = 0;
    bool asked = false;  ///< The hooks were asked, so a wait for the gate is a wait for hooks.
  };
  using key = std::pair<gate_kind, int64_t>;  ///< The kind of a gate, and its state or the number of its fact.
  std::map<key, gate> closed_;
};

}  // namespace troupe
