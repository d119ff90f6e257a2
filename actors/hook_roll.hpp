// The user's hooks by number: which have begun, which steps each needs, and the order of calls.
#pragma once

#include "actors/current_call.hpp"
#include "messages/status.hpp"
#include "words/run_port.hpp"

namespace troupe {

/// Calls each hook separately, so that an exception of one does not keep the others from being called. Hooks are called
/// in the order of the list, those of groups after those of the job, except for `on_abort`. Used by one thread at a
/// time.
class hook_roll {
 public:
  /// Stops the training of a group, for a hook of the group that wants to stop.
  using retire = std::function<void(const group_hook&)>;

  hook_roll() = default;
  /// No hook is null.
  /// `runs`: of a session; may be null.
  explicit hook_roll(std::vector<std::shared_ptr<hook>> hooks, name_values names = {},
                     std::shared_ptr<run_port> runs = {});
  /// Sets the names of the values in later facts: first the outputs, then the observed values.
  void name(name_values names) { names_ = std::move(names); }

  /// Calls are marked there from now on.
  void mark_in(current_call* where) noexcept { calls_ = where; }

  bool empty() const noexcept { return hooks_.empty(); }
  /// Shows a fact to the hooks. Returns their exceptions, in the order of the calls: "an exception left end() of
  /// hooks[1] (my::early_stop): ...".
  ///
  ///   begin_at  end or on_abort of the hooks of groups of the plan before, if another one begins; then begin, of all
  ///             that have not begun. A hook whose begin threw has not begun and is shown nothing. It is an error, too,
  ///             if a hook asks for a value that the model does not observe, or for steps that cannot be
  ///   event     on_event
  ///   step      on_step, of the hooks that need this step; where hooks begin, of those that have not been shown it
  ///   loop      on_loop, of the job's hooks that are told of loops
  ///   trace     on_trace, of the job's hooks that have asked for one
  ///   created, before_run, after_run
  ///             the same of the job's run hooks
  ///   end_at    on_event; then end or, if the job failed, on_abort in the opposite order
  std::vector<error> show(const fact& x, job_control& job, const retire& stops = {});
  /// All steps that hooks which have begun need, as steps of the job; below, the facts that any hook holds.
  std::vector<need> steps() const;
  held_facts holds() const;
  /// Whether any hook wants to see the last step.
  bool last() const;
  /// Whether any hook wants observed values.
  bool observes() const;
  /// Whether any hook of the job is told of loops.
  bool loops() const;
  /// Whether any hook of the job is told of runs.
  bool runs() const;
  /// What the run at hand is to fetch for hooks.
  fetch_kinds fetches() const;
  /// The traces that hooks of the job want.
  std::vector<trace_need> traces() const;

 private:
  struct entry {
    std::shared_ptr<hook> who;
    std::string name;                   ///< "hooks[0] (my::hook)", "hooks[0] of 't0_dnn' (my::hook)"
    std::optional<group_hook> of = {};  ///< Absent: a hook of the job.
    bool begun = false;
    troupe::needs needs = {};
    run_hook* runs = nullptr;               ///< The same hook, if it is told of runs.
    std::vector<std::string> fetches = {};  ///< Of the run at hand.
    std::optional<int64_t> shown = {};      ///< The step that it was shown last.

    /// The step that the hook is told for a step of the job.
    int64_t own(int64_t step) const { return of ? step - of->begins_at : step; }
  };
  void replace_groups(const fact& x, std::vector<error>& thrown);
  void begin(int64_t at, std::vector<error>& thrown);
  /// Runs `call` and appends its exception, if any, to `thrown`.
  template <class Call>
  void tell(const entry& h, std::string_view what, std::vector<error>& thrown, Call call) const;
  void check_numbers(const entry& h, std::vector<error>& wrong) const;
  void check_values(const entry& h, std::vector<error>& wrong) const;
  /// The name of a value of the model for the hook; absent: the value is of another group.
  std::optional<std::string> own_name(const entry& h, const std::string& value) const;
  /// Those of `values` that are the hook's, by its names for them.
  std::vector<std::string> own_names(const entry& h, const std::vector<std::string>& values) const;
  /// The event as a hook of a group is shown it.
  job_event own_event(const entry& h, job_event e) const;
  void show_event(const fact& x, job_control& job, const retire& stops, std::vector<error>& thrown);
  void show_step(const fact& x, job_control& job, const retire& stops, std::vector<error>& thrown);
  void show_loop(const fact& x, job_control& job, std::vector<error>& thrown);
  void show_trace(const fact& x, job_control& job, std::vector<error>& thrown);
  void show_created(const fact& x, std::vector<error>& thrown);
  void ask_of_run(const fact& x, job_control& job, std::vector<error>& thrown);
  void show_run(const fact& x, job_control& job, std::vector<error>& thrown);
  void end(const fact& x, std::vector<error>& thrown);

  std::vector<entry> hooks_;              ///< Those of the job first.
  std::optional<int64_t> began_at_ = {};  ///< Where hooks have begun last: others may have been shown that state.
  name_values names_;
  std::shared_ptr<run_port> runs_;
  current_call* calls_ = nullptr;
};

}  // namespace troupe
