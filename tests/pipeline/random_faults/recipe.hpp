// A recipe: one job with its settings and its troubles, as plain data that a seed draws and a person can read.
#pragma once

#include "pipeline/launch/conditions.hpp"
#include "storage/files/faulty_file_system.hpp"

#include <troupe/estimator.hpp>

namespace troupe::test::random_faults {

/// When a trouble happens: `turns` turns after the start of the process, after the progress to `step`, or after the
/// trouble before it.
struct moment {
  enum anchor : uint8_t { beginning, progress, trouble_before };
  anchor after = beginning;
  int64_t step = 0;
  int64_t turns = 0;
};

enum class trouble_kind : uint8_t {
  kill,    ///< A node crashes.
  stop,    ///< The user asks for a stop.
  signal,  ///< A signal asks for a stop: no evaluation follows.
  save,
  abort,
  power_loss,   ///< All actors end at once, and the disk loses what was not synced.
  disk_fault,   ///< One call of the file system fails.
  disk_full,    ///< Every call that creates or extends a file fails.
  disk_death,   ///< Every call of the file system fails.
  input_fault,  ///< A call of the input of training or of evaluations fails.
  hook_fault,   ///< A hook throws.
  late_block,   ///< A block of an earlier attempt reaches a replica again, as over a slow link.
  // The troubles below need a world where turns and messages take time.
  busy,        ///< A node is busy in one call for a time.
  suspended,   ///< The process is stopped and continued: its clock leaps.
  cut,         ///< Messages between a place and all others are held back for a time.
  slow_disk,   ///< Each call of the file system takes long, for a time.
  host_death,  ///< All nodes of a place end at once.
};
std::string_view to_string(trouble_kind k) noexcept;

/// Where an input fails. At `nan` and `label` the data are bad; at the other places a call returns an error or throws.
enum class input_place : uint8_t { iterate, restore, save, read, nan, label, eval_iterate, eval_read };
std::string_view to_string(input_place p) noexcept;

enum class hook_place : uint8_t { begin, at, on_event, end, on_abort };
std::string_view to_string(hook_place p) noexcept;

struct trouble {
  trouble_kind what = trouble_kind::kill;
  moment when;
  std::string node = {};                           ///< For kill, busy and late_block.
  file_operation operation = file_operation::any;  ///< For disk_fault.
  std::string path_contains = {};
  bool tears = false;        ///< For disk_death and power_loss.
  bool throws = false;       ///< For input_fault: an exception in place of an error.
  bool for_ever = false;     ///< For input_fault: every later call fails, not only one.
  bool unavailable = false;  ///< For input_fault: an error that a new attempt may overcome.
  input_place input = input_place::read;
  int32_t host = 0;
  hook_place hook = hook_place::at;
  std::string place = {};  ///< For cut and host_death.
  /// `lasts`: the duration of busy, suspended, cut and slow_disk. `each`: the time of each call for slow_disk. An
  /// input_fault that lasts is an outage: from the `nth` call on, every call of that host's training input fails for
  /// the time `lasts`.
  std::chrono::milliseconds lasts{0}, each{0};
  /// For disk_fault, input_fault and hook_fault: the n-th such call after `when` fails.
  int64_t nth = 1;
};
std::string to_text(const trouble& t);

/// One process of the job.
struct run_recipe {
  uint64_t schedule = 1;
  int64_t wall_clock_s = 0;  ///< How far the wall clock is ahead of that of other processes.
  std::vector<trouble> troubles;
};

/// A job of three groups: a mixture, and two candidates a and b whose outputs it reads. Replicas are numbered through
/// all groups, those of the mixture first.
struct group_recipe {
  int64_t replicas = 1;                    ///< Replicas of each group.
  bool mixture_falls = false;              ///< The mixture leaves with either candidate, or reads zeros.
  bool deaths_too = false;                 ///< A group also leaves if it dies and does not recover.
  std::optional<int64_t> breaks[3] = {};   ///< The steps at which numbers of mixture, a and b are not finite.
  bool breaks_alone = false;               ///< They are so on the last replica of the group only.
  std::optional<int64_t> retires[3] = {};  ///< The states from which mixture, a and b train no more.
  bool leaves(size_t group) const;         ///< True: `breaks` makes the group leave, directly or by a fall.
};

struct recipe {
  uint64_t seed = 0;
  std::optional<group_recipe> groups = {};

  int32_t hosts = 1;
  int64_t replicas = 1;
  troupe::input_mode input_mode = troupe::input_mode::per_host;
  bool input_function = false;  ///< The data are those of an input function.
  std::optional<int64_t> shards;
  bool reducers = false;    ///< Replicas reduce by messages. Those of several places must.
  bool carries = false;     ///< The model carries states, over the run and over loops.
  int64_t loop = 100;       ///< Steps of a loop; 0: a second.
  int64_t calls_every = 0;  ///< The model makes a host call every so many steps of a loop; 0: none.
  int64_t max_steps = 20;
  std::optional<int64_t> batches;  ///< Batches of the data over all hosts; nothing: endless data.
  bool keeps = true;               ///< The job has a model directory.
  int64_t recovers = 0;            ///< Attempts in a row that are allowed; 0: the job never recovers.
  std::optional<int64_t> save_steps;
  std::optional<double> save_secs;
  int64_t keep_max = 5;
  int64_t summary_steps = 0;
  int64_t log_steps = 5;
  bool evaluates = false;
  evaluation_mode when = evaluation_mode::waits;
  double throttle_secs = 0;
  std::optional<int64_t> eval_steps;
  int32_t eval_hosts = 1, eval_replicas = 1;
  int64_t eval_every = 0;    ///< States at its multiples are evaluated, saved or not; 0: none.
  int64_t exports_kept = 0;  ///< How many exports an exporter keeps; 0: no exporters.
  bool hooks = false;
  int64_t gate_every = 0;  ///< Steps between gates of the hook; 0: none.
  int64_t watch_every = 0;
  std::optional<int64_t> hook_saves_at, hook_stops_at;
  held_facts hook_holds = {};
  /// The hook stops the job at the first held fact about this state or a later one.
  std::optional<int64_t> hook_stops_on_fact_from;
  int64_t hook_traces_every = 0;  ///< The hook wants traces of two steps, so many steps apart; 0: none.
  bool hook_observes = false;     ///< The hook requests the value that the model observes.
  /// The hook halves the learning rate at this state.
  std::optional<int64_t> hook_scales_at;
  bool listens = false;  ///< The job has a saving listener.
  /// The listener stops the job at the first save of this state or a later one.
  std::optional<int64_t> listener_stops_from;

  std::string slow_node;             ///< A node that gets one turn in twenty while other nodes have messages.
  int64_t read_ms = 0, hook_ms = 0;  ///< The time of a read of training data, and of a hook's call.
  world_conditions conditions = {};

  std::vector<run_recipe> disturbed;  ///< Played first; an undisturbed run to the end follows.
};
/// The recipe of a seed. It is the same until the tests change.
recipe draw_recipe(uint64_t seed);
/// The same job in a world in which turns and messages take time, with the additional troubles that such a world
/// allows.
recipe draw_timed_recipe(uint64_t seed);
/// A job of several groups, in a world with or without time.
recipe draw_group_recipe(uint64_t seed);
std::string to_text(const recipe& r);

}  // namespace troupe::test::random_faults
