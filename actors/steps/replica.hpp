// The replica: one copy of the model at work.
//
// Instead of a loop in a handler it has a firing rule. It fires step s when
//   until > s;
//   batch s, or the end at or before s, is on every in-port;
//   every reader of an out-port has room for the outputs of step s;
//   the outfeed has room for what host calls get of it;
//   step s - 1 is applied by every replica or, in a retired group, made by all;
//   and, if a snapshot holds the current arena, the other arena is free.
// `advance()` runs after every message and fires as often as it can. It yields after each block, so that a stop, a pull
// or an exit is handled between blocks. The horizon bounds the reports, and it grows only with them.
#pragma once

#include "compute/engine/collective.hpp"
#include "compute/engine/step_engine.hpp"
#include "messages/early_messages.hpp"
#include "messages/interfaces.hpp"
#include "plan/edge_kinds.hpp"
#include "words/batch_share.hpp"
#include "words/buffer_pool.hpp"

#include <caf/actor_clock.hpp>

#include <deque>

namespace troupe {

struct replica_options {
  node_id id{};
  std::string name = "replica/0";
  int32_t index = 0;  ///< Index among the `replicas` of its group.
  int32_t replicas = 1;
  troupe::mode mode = mode::train;
  struct in_edge {
    edge_id id{};
    std::vector<int64_t> row_bytes = {};  ///< Bytes of a row, by component: the size of zeros fed in its place.
    /// Credit: the number of blocks in flight or held.
    int64_t credit_blocks = *row_of(edge_kind::data).credit.messages;
    int64_t block_bytes_max = *row_of(edge_kind::data).credit.bytes;  ///< Limit on a block of several batches.
    bool until_retired = false;  ///< Its source has nothing for a replica that has retired.
  };
  std::vector<in_edge> in_edges;  ///< One for each in-port; their components, in order, are the feeds.
  /// For each component that the engine exposes, the edges to its readers.
  std::vector<std::vector<edge_id>> out_edges = {};
  batch_share share = {};             ///< In an evaluation or a prediction: which batches of the data it computes.
  std::optional<edge_id> calls = {};  ///< The edge to the outfeed, if the program has host calls.
  /// Steps are reported whenever a replica has to wait: the outfeed may need them to make room for others.
  bool reports_when_waiting = false;
  std::shared_ptr<step_engine> engine;
  /// Where the replicas of the group meet, if they train and there are several. Null: they have a reducer.
  std::shared_ptr<troupe::collective> collective = {};
  int32_t looks = 1;            ///< How often it looks in a phase before it sleeps.
  double block_seconds = 0.02;  ///< A block is at most this many seconds of steps, or one batch.
  /// In training: metrics of the steps that lead to log points, or of all steps between them.
  measuring measure = measuring::never;
  int64_t log_every = 0;                        ///< Steps between log points; 0: there are none.
  std::vector<std::string> told_at_saves = {};  ///< See plan_group.
  bool debug_numerics = false;         ///< Recomputes a step whose values are not finite, to find their origin.
  bool ends_where_not_finite = false;  ///< A step that is not finite ends the job, whose last state is saved.
};

/// What a part of a snapshot is for.
enum class part_use : uint8_t { saved, evaluated };

/// When credit is sent: only where it has grown, or in any case, as at the begin of an attempt.
enum class credit_rule : uint8_t { if_grown, always };

struct replica_state {
  static inline const char* name = "replica";
  replica_actor::stateful_pointer<replica_state> self = nullptr;
  replica_options options;
  activity spent;  ///< See counted.hpp.
  struct {
    report_sink_actor outfeed;
    part_sink_actor parts;        ///< Null: no snapshots are taken.
    gradient_sink_actor reducer;  ///< Null for one replica, and in a collective.
  } peers;

  struct in_port {
    edge_id edge{};
    credit_source_actor source;
    std::deque<block> blocks;
    std::optional<end_of_data> end;
    int64_t arrived = 0;  ///< The first step that has not arrived.
    int64_t granted = 0;
    int64_t told_steps = 0;          ///< Steps of a block that it wants, as the source was told last.
    int64_t batch_bytes = 0;         ///< Bytes of a batch in the last block.
    std::optional<int64_t> left_at;  ///< From this batch on, zeros replace its rows.
    bool has_left(int64_t step) const { return left_at && *left_at <= step; }
  };
  std::vector<in_port> ports;
  struct reader {
    edge_id edge{};
    block_sink_actor sink;
    int64_t credit = 0;       ///< The reader has room for every batch below.
    int64_t block_steps = 1;  ///< Largest number of steps in one message to the reader.
    bool left = false;        ///< The reader has left.
  };
  struct out_port {
    component what;
    std::vector<reader> readers;
    buffer_pool pool;
    std::shared_ptr<std::byte> memory;  ///< Memory of the block that is being filled.
  };
  std::vector<out_port> outs;
  early_messages<block, end_of_data, pull> early;  ///< From senders that have already begun the next attempt.
  struct {
    block_sink_actor sink;
    int64_t room = 0;  ///< The outfeed has room for this many entries of the attempt.
    int64_t sent = 0;
    bool left = false;  ///< There is no outfeed any more: no calls are made.
  } calls;
  int64_t filled_from = 0;  ///< The first step of the blocks that are being filled, for all ports.
  int64_t filled_steps = 0, filled_room = 0, filled_rows = 0;
  std::vector<std::byte*> exposed;    ///< Where the current step writes its exposed components.
  tensor zeros;                       ///< A buffer of zeros, as large as was ever needed.
  std::optional<int64_t> retires_at;  ///< From this state on, the replica applies no updates.

  int32_t attempt = 0;
  int32_t halted_attempt = 0;  ///< The newest attempt that was halted.
  bool begun = false, ended = false;
  bool stopping = false;           ///< The current step is the end, whether its batch has arrived or not.
  std::optional<stream_end> said;  ///< The end that it reported.
  int64_t step = 0;                ///< The state that exists, and the number of the next batch.
  int64_t until = 0;               ///< The horizon.
  int64_t began_at = 0;            ///< The step at which this attempt began.
  std::map<int64_t, mark_kinds> marks;
  /// Factors of the learning rate by the first step to which each applies; only those of later steps.
  std::map<int64_t, double> rates;
  loop_spans loops;  ///< Of training; in other modes the attempt is one loop.

  int current = 0;  ///< The arena that holds state `step`.
  /// A snapshot's hold on an arena: its step, and the number of parts that are not released.
  struct loan {
    int64_t step = 0;
    int parts = 0;
    bool carried = false;  ///< Also the rows of carried states, which a retired replica changes in place.
    bool operator==(const loan&) const = default;
  };
  std::optional<loan> lent[2];                   ///< For each arena, if any.
  std::optional<int64_t> last_part, last_watch;  ///< The newest marks served in this attempt.
  std::optional<int64_t> switches_at;            ///< The step whose update switches arenas, for a snapshot.
  /// For what the current step waits: of the reducer, or of the other replicas in a collective.
  enum class wait : uint8_t { none, sum, all_applied, gathered, summed, applied } waiting = wait::none;
  std::optional<collective_seat> seat = {};  ///< In a collective.
  /// Requests for variables that came while a step was under way.
  std::vector<std::pair<variables_sink_actor, read_variables>> readings;
  int target = 0;                       ///< The arena that the current step writes to.
  std::vector<const std::byte*> feeds;  ///< Of batch `step`, one for each component; set by `look_at_blocks`.
  std::vector<int64_t> strides;         ///< Bytes from one batch of a block to the next.

  step_report pending;        ///< The next report.
  bool has_values = false;    ///< Whether the engine holds the outputs of step - 1.
  bool has_observed = false;  ///< Whether the engine holds observed values of step - 1.
  bool has_records = false;   ///< Whether the engine holds recorded summaries of step - 1.
  int64_t block_steps = 1;
  double seconds_per_step = 0;
  caf::actor_clock::time_point pending_since{};

  void on_begin(const begin& x);
  void on_run(const run& x);
  void on_block(const block& x);
  void on_end(const end_of_data& x);
  void on_sum(const gradient_sum& x);
  void on_all_applied(const all_applied& x);
  void on_released(const released& x);
  void on_stop(const stop& x);
  void on_halt(const halt& x);
  void on_state_part(const state_part& x);
  void on_pull(const pull& x);
  void on_leave(const leave& x);
  void on_retire(const retire& x);
  void on_scale_rate(const scale_rate& x);
  void on_wake(const wake& x);
  void on_set_loop(const set_loop& x);
  void on_read_variables(const read_variables& x);

  void advance();
  bool can_fire() const;
  bool has_batch(const in_port& p) const;  ///< Or the end in its place.
  wait_cause waits_for() const;
  int64_t step_at_hand() const { return step; }
  int64_t queued() const;        ///< Batches that have arrived.
  bool switches_arenas() const;  ///< Whether the next update writes to the other arena.
  /// The number of the current step, or of its batch among those of an evaluation.
  int64_t number() const { return options.share.number_of(step); }
  bool trains() const { return options.mode == mode::train && !(retires_at && *retires_at <= step); }

  // replica_steps.cpp: a step
  void fire();
  const end_of_data* earliest_end() const;
  std::optional<step_outcome> outcome_of_end() const;
  step_outcome compute();
  expected<void> look_at_blocks();                    ///< Finds batch `step` in the blocks that have arrived.
  void explain(error& cause, const batch_feeds& in);  ///< Adds why the step is not finite, or how to find out.
  bool begins_loop();                                 ///< Whether a loop begins with the current step.
  bool measures() const;                              ///< Whether the current step counts for the metrics of training.
  void apply(const tensor& sum);                      ///< Makes the update of the current step.
  void finish_step();                                 ///< Called once all replicas have applied step `step`.
  void note_made();                                   ///< Gives the step to host calls and to the next report.

  // replica_reduction.cpp: the reduction of a step's status and gradient, by messages or in a collective
  void reduce(step_outcome made);
  bool all_here();  ///< Whether all replicas have come to the phase.
  void meet();      ///< Goes on through the phases of the step, as far as all replicas have come.

  // replica_marks.cpp: marks
  void reach();                    ///< Serves the mark, if any, at state `step`.
  mark_kinds take_marks();         ///< The marks of state `step`; removes them.
  void collect(mark_kinds kinds);  ///< Adds values and records to the next report.
  void serve(mark_kinds kinds);    ///< Does what the marks of kind snapshot and end ask for.
  void tell_values();              ///< Adds the values that the chief wants of a saved state to the next report.
  void lend();                     ///< Sends the part for a save, once for each state.
  /// Sends this replica's slice of the current arena, which is lent until the receiver releases it.
  void send_part(part_use use);
  void serve_readings();  ///< Answers those who want variables, unless a step is under way.

  // replica_reports.cpp: reports, credit and the end
  void stop_at(step_status status, error cause);
  void send_report();
  void give_credit(credit_rule when);

  // replica_calls.cpp: what host calls get
  call_set due_calls() const;  ///< Of the current step.
  bool has_room_for_calls() const;
  void send_called();  ///< Called once the step is applied.

  // replica_ports.cpp: outputs for other groups, and readers or sources that leave
  const in_port* leading() const;  ///< The first in-port whose source has not left; gives a step's rows.
  const std::byte* zeros_of(int64_t bytes);
  bool has_room() const;      ///< Whether every reader has room for the current step's outputs.
  bool expose(int64_t rows);  ///< Allocates memory for these outputs; false if there is none.
  void keep_exposed();        ///< Called once the step is computed; its outputs will be sent.
  void send_exposed();        ///< Sends the outputs that were kept.
  void end_exposed(const error& cause, end_kind kind);
};

replica_actor::behavior_type replica(replica_actor::stateful_pointer<replica_state> self, replica_options options);

}  // namespace troupe
