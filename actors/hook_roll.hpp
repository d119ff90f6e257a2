// The user's hooks by number: which have begun, which steps each needs, and the order of calls.
#pragma once

#include "messages/status.hpp"

namespace troupe {

/// Calls each hook separately, so that an exception of one does not keep the others from being called. Hooks are called
/// in the order of the list, except for `on_abort`. Used by one thread at a time.
class hook_roll {
 public:
  hook_roll() = default;
  /// No hook is null.
  explicit hook_roll(std::vector<std::shared_ptr<hook>> hooks, name_values names = {});
  /// Sets the names of the values in later facts: first the outputs, then the observed values.
  void name(name_values names) { names_ = std::move(names); }

  bool empty() const noexcept { return hooks_.empty(); }
  /// Shows a fact to the hooks. Returns their exceptions, in the order of the calls: "an exception left end() of
  /// hooks[1] (my::early_stop): ...".
  ///
  ///   begin_at  begin, of all. A hook whose begin threw has not begun and is shown nothing. It is an error, too,
  ///             if a hook asks for a value that the model does not observe
  ///   event     on_event
  ///   step      on_step, of the hooks that need this step
  ///   end_at    on_event; then end or, if the job failed, on_abort in the opposite order
  std::vector<error> show(const fact& x, job_control& job);
  /// All steps that hooks which have begun need; below, the facts that any hook holds.
  std::vector<need> steps() const;
  held_facts holds() const;
  /// Whether any hook wants to see the last step.
  bool last() const;
  /// Whether any hook wants observed values.
  bool observes() const;

 private:
  struct entry {
    std::shared_ptr<hook> who;
    bool begun = false;
    troupe::needs needs;
  };
  /// Runs `call` and appends its exception, if any, to `thrown`.
  template <class Call>
  void tell(const entry& h, std::string_view what, std::vector<error>& thrown, Call call) const;
  void check_values(const entry& h, std::vector<error>& wrong) const;
  void show_step(const fact& x, job_control& job, std::vector<error>& thrown);
  void end(const fact& x, std::vector<error>& thrown);
  std::string name_of(const entry& h) const;

  std::vector<entry> hooks_;
  name_values names_;
};

}  // namespace troupe
