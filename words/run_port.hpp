// The port of a session's runs: what the caller and the hooks want of the run at hand, and the data that they bring.
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/run_hook.hpp>

#include <mutex>

namespace troupe {

/// Used by the caller's thread, the callbacks and an infeed. What belongs to a run is set before its gate moves and
/// stays as it is until the run has ended.
class run_port {
 public:
  /// The values that can be fetched.
  struct value_names {
    std::vector<std::string> outputs, observed, metrics;
  };
  void name(value_names names);
  /// The components that each run brings: a whole batch of `rows` rows of them.
  void bring(std::vector<component> fed, int64_t rows);

  /// A run begins: what its caller wants. invalid_argument naming the value, or the component and what is wrong with
  /// it; nothing has changed then.
  expected<void> ask(run_arguments by_caller);
  const run_arguments& asked() const noexcept { return asked_; }  ///< Does not change during a run.
  /// The hooks are asked, perhaps again: what they brought before is dropped.
  void ask_hooks();
  /// What the hook called `who` wants. Errors: as of `ask`; state, naming the component and both sides, if it is fed
  /// already.
  expected<void> add(const std::string& who, const run_arguments& by_hook);
  /// invalid_argument naming a component that nobody has brought.
  expected<void> check_complete() const;

  /// Whether any of these values is an output or observed value; an observed value.
  bool fetches_values(const std::vector<std::string>& fetches) const;
  bool fetches_observed(const std::vector<std::string>& fetches) const;
  /// Values that the program has computed, of that state, for the event file. They wait for its next record.
  /// False: `values_max` wait already, and these are not taken.
  struct computed {
    int64_t step = 0;
    std::map<std::string, double> values;
  };
  static constexpr size_t values_max = 10'000;
  bool add_values(computed x);
  std::vector<computed> take_values();

  /// The tensor that the run at hand brings for the component; absent if it is not fed.
  std::optional<tensor> fed(const std::string& component) const;

 private:
  expected<void> check(const std::string& who, const run_arguments& x) const;

  value_names names_;
  std::vector<component> expected_;
  int64_t rows_ = 0;
  run_arguments asked_;
  std::map<std::string, std::string> fed_by_ = {};
  std::map<std::string, tensor> fed_ = {};
  std::vector<computed> values_ = {};
  mutable std::mutex guard_;  ///< Of what other threads read: `fed_`, `fed_by_`, `values_`.
};

}  // namespace troupe
