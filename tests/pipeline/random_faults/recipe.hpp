// A recipe: one job, its settings, and its troubles with their times, as plain data that a seed draws and a person can
// read.
#pragma once

#include "pipeline/launch/conditions.hpp"
#include "storage/files/faulty_file_system.hpp"

#include <troupe/estimator.hpp>

namespace troupe::test::random_faults {

/// When a trouble happens: `turns` turns after the process began, after progress to `step`, or after the trouble
/// before.
struct moment {
  enum anchor : uint8_t { beginning, progress, trouble_before };
  anchor after = beginning;
  int64_t step = 0;
  int64_t turns = 0;
};

enum class trouble_kind : uint8_t {
  kill,         ///< A node ends as by a crash.
  stop,         ///< A request of the user.
  signal,       ///< The same after a signal: no evaluation follows.
  save,
  abort,
  power_loss,   ///< Everything ends at once, and the disk forgets what was not synced.
  disk_fault,   ///< One call of the file system fails.
  disk_full,    ///< No file can be created or written any more.
  disk_death,   ///< Every call fails.
  input_fault,  ///< The input of training or of evaluations misbehaves.
  hook_fault,   ///< A hook throws.
  late_block,   ///< A block of an attempt before comes to a replica once more, as over a slow link.
  // Only where turns and messages take time.
  busy,         ///< A node is inside a call for a while.
  suspended,    ///< The process is stopped and continued: its clock leaps.
  cut,          ///< Messages between a place and the others stay on their way for a while.
  slow_disk,    ///< Each call of the file system takes long for a while.
  host_death,   ///< All nodes of a place end at once.
};
std::string_view to_string(trouble_kind k) noexcept;

/// Where an input misbehaves. All but the last four are errors or exceptions of a call.
enum class input_place : uint8_t { iterate, restore, save, read, nan, label, eval_iterate, eval_read };
std::string_view to_string(input_place p) noexcept;

enum class hook_place : uint8_t { begin, at, on_event, end, on_abort };
std::string_view to_string(hook_place p) noexcept;

struct trouble {
  trouble_kind what = trouble_kind::kill;
  moment when;
  std::string node = {};                             ///< kill, late_block.
  file_operation operation = file_operation::any;    ///< disk_fault.
  std::string path_contains = {};
  bool tears = false;                                ///< disk_death, power_loss.
  bool throws = false;                               ///< input_fault: instead of returning an error.
  bool for_ever = false;                             ///< input_fault: every call from there on, not one.
  bool unavailable = false;                          ///< input_fault: an error that a new attempt may cure.
  input_place input = input_place::read;
  int32_t host = 0;
  hook_place hook = hook_place::at;
  std::string place = {};                            ///< cut, host_death.
  /// busy, suspended, cut, slow_disk: how long; slow_disk: each call. An input_fault that lasts is an outage: from the n-th such call on, every call
  /// of that host's training input fails for so long.
  std::chrono::milliseconds lasts{0}, each{0};
  int64_t nth = 1;                                   ///< disk_fault, input_fault, hook_fault: the n-th such call after `when`.
};
std::string to_text(const trouble& t);

/// One process of the job.
struct run_recipe {
  uint64_t schedule = 1;
  int64_t wall_clock_s = 0;                          ///< The wall clock is ahead of that of the other processes by so much.
  std::vector<trouble> troubles;
};

/// A job of three groups: two candidates a and b, and a mixture that reads their outputs. Replicas are numbered over all of them, the mixture's first.
struct group_recipe {
  int64_t replicas = 1;                              ///< Of each group.
  bool mixture_falls = false;                        ///< With either candidate; otherwise it reads zeros of one that has left.
  bool deaths_too = false;                           ///< A group also leaves for a death that is not cured.
  std::optional<int64_t> breaks[3] = {};             ///< Steps of mixture, a and b whose numbers are not finite.
  bool leaves(size_t group) const;                   ///< By the recipe, not for a death.
};

struct recipe {
  uint64_t seed = 0;
  std::optional<group_recipe> groups = {};

  int32_t hosts = 1;
  int64_t replicas = 1;
  std::optional<int64_t> shards;
  int64_t max_steps = 20;
  std::optional<int64_t> batches;                    ///< Batches of the data, over all hosts; none: repeated without end.
  bool keeps = true;                                 ///< The job has a model directory.
  int64_t recovers = 0;                              ///< Attempts in a row; 0: it never recovers.
  std::optional<int64_t> save_steps;
  std::optional<double> save_secs;
  int64_t keep_max = 5;
  int64_t summary_steps = 0;
  int64_t log_steps = 5;
  bool evaluates = false;
  evaluation_mode when = evaluation_mode::waits;
  double throttle_secs = 0;
  std::optional<int64_t> eval_steps;
  int64_t eval_every = 0;                            ///< States at these multiples are evaluated as well, saved or not; 0: none.
  int64_t exports_kept = 0;                          ///< Exporters of each rule follow evaluations and keep so many; 0: there are none.
  bool hooks = false;
  int64_t gate_every = 0;                            ///< Steps between gates of the hook; 0: none.
  int64_t watch_every = 0;
  std::optional<int64_t> hook_saves_at, hook_stops_at;
  held_facts hook_holds = {};
  /// The hook stops the job on the first fact that it holds about this state or a later one.
  std::optional<int64_t> hook_stops_on_fact_from;
  bool hook_observes = false;                        ///< The hook is shown what the model observes.
  /// The hook halves the learning rate once training comes to this state.
  std::optional<int64_t> hook_scales_at;
  bool listens = false;                              ///< A saving listener takes part.
  /// The listener stops the job at the first save of this state or a later one.
  std::optional<int64_t> listener_stops_from;

  std::string slow_node;                             ///< This node takes one of twenty of its turns.
  int64_t read_ms = 0, hook_ms = 0;                  ///< Duration of a read of training data, and of a hook's call.
  world_conditions conditions = {};

  std::vector<run_recipe> disturbed;                 ///< An undisturbed run to the end follows them.
};
/// The recipe of a seed, always the same on one version of the tests.
recipe draw_recipe(uint64_t seed);
/// The same job in a world in which turns and messages take time, with the troubles that this makes possible.
recipe draw_timed_recipe(uint64_t seed);
/// A job of several groups, with or without time.
recipe draw_group_recipe(uint64_t seed);
std::string to_text(const recipe& r);

}  // namespace troupe::test::random_faults
