// A run configuration with nothing left to resolve: defaults that depend on other fields are filled in, options that
// are off are absent or 0, and numbers have the types that plans and programs use.
#pragma once

#include <troupe/run_config.hpp>

namespace troupe {

/// How often a job recovers from the death of a node, or from an error of its environment (`aborted`, `unavailable`).
struct recovery_options {
  /// Attempts in a row without a commit beyond the failed step; absent: no limit; 0: off.
  std::optional<int64_t> attempts_max = 10;
  double first_delay_secs = 1;  ///< Before the first attempt; doubles with each further one.
  double delay_max_secs = 60;
  friend bool operator==(const recovery_options&, const recovery_options&) = default;
};

struct settled_config {
  std::optional<std::string> model_dir = {};  ///< Absent: nothing is kept.
  uint64_t seed = 0;
  /// At most one of `save_steps` and `save_secs`; none without a model directory.
  std::optional<int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  int32_t keep_checkpoint_max = 5;  ///< 0: all are kept.
  double keep_checkpoint_every_n_hours = 10000;
  int64_t summary_steps = 0;                ///< 0: none by steps; always 0 without a model directory.
  std::optional<double> summary_secs = {};  ///< Seconds between summaries, in place of steps.
  int64_t log_steps = 0;                    ///< 0: nothing is logged.
  loop_length loop = 100;
  bool log_perplexity = false;
  troupe::train_metrics train_metrics = troupe::train_metrics::logged;
  recovery_options recovery = {};
  int32_t replicas = 1;
  troupe::input_mode input_mode = troupe::input_mode::per_host;
  int32_t gradient_shards = 1;
  int32_t intra_op_threads = 0;  ///< 0: automatic.
  bool pin_replicas = false;
  bool debug_numerics = false;
  not_finite on_not_finite = not_finite::fail;
  bool recompute = false;

  bool saves() const noexcept { return save_steps || save_secs; }
  /// Whether the job writes summaries.
  bool records() const noexcept { return summary_steps > 0 || summary_secs; }
  friend bool operator==(const settled_config&, const settled_config&) = default;
};

/// Returns invalid_argument or unimplemented as `validate` does.
expected<settled_config> resolve_config(const run_config& config);

}  // namespace troupe
