// The replica: one copy of the model at work.
//
// A firing rule, not a loop in a handler. It fires step s when
//   until > s;
//   batch s, or the end at or before s, is on every in-port;
//   every reader of an out-port has room for what step s yields;
//   step s - 1 is applied by every replica;
//   and, if a snapshot holds the current arena, the other one is free to write into.
// `advance()` runs after every message and fires while it can; it yields after each block, so that a stop, a pull or an
// exit is seen between blocks. Reports are bounded by the horizon, which only grows with them.
#pragma once

#include "compute/engine/step_engine.hpp"
#include "messages/interfaces.hpp"
#include "words/buffer_pool.hpp"

#include <caf/actor_clock.hpp>

#include <deque>

namespace troupe {

struct replica_options {
  node_id id{};
  std::string name = "replica/0";
  int32_t index = 0;                           ///< Among the `replicas` of its group.
  int32_t replicas = 1;
  troupe::mode mode = mode::train;
  std::vector<edge_id> in_edges;               ///< One in-port each; their components, in this order, are the feeds.
  std::vector<std::vector<int64_t>> in_row_bytes = {};  ///< Of each component that comes in by each of them: so wide are the zeros that take the place of one that leaves.
  std::vector<std::vector<edge_id>> out_edges = {};  ///< The readers of each component that the engine exposes.
  std::shared_ptr<step_engine> engine;
  int64_t window_blocks = 3;                   ///< Credit: blocks in flight or held.
  int64_t block_bytes_max = int64_t{2} << 20;  ///< Of one block, or one batch.
  double block_seconds = 0.02;                 ///< A block is at most so many seconds of steps, or one batch.
  bool debug_numerics = false;                 ///< A step that is not finite is made again, to find out why.
};

struct replica_peers {
  report_sink_actor outfeed;
  part_sink_actor parts;        ///< None: snapshots are not taken.
  gradient_sink_actor reducer;  ///< None with one replica.
};

struct replica_state {
  static inline const char* name = "replica";
  replica_actor::stateful_pointer<replica_state> self = nullptr;
  replica_options options;
  replica_peers peers;

  struct in_port {
    edge_id edge{};
    credit_source_actor source;
    std::deque<block> blocks;
    std::optional<end_of_data> end;
    int64_t arrived = 0;         ///< First step not yet received.
    int64_t granted = 0;
    int64_t batch_bytes = 0;     ///< Of the last block that came.
    std::optional<int64_t> left_at;  ///< From this batch on zeros are read in its place.
    bool has_left(int64_t step) const { return left_at && *left_at <= step; }
  };
  std::vector<in_port> ports;
  struct reader {
    edge_id edge{};
    block_sink_actor sink;
    int64_t credit = 0;          ///< It has room for every batch below.
    int64_t block_steps = 1;     ///< It wants at most so many in one message.
    bool left = false;           ///< It reads no more.
  };
  struct out_port {
    component what;
    std::vector<reader> readers;
    buffer_pool pool;
    std::shared_ptr<std::byte> memory;  ///< Of the block that is being filled.
  };
  std::vector<out_port> outs;
  std::vector<pull> early;       ///< Credit of an attempt that this actor has not begun yet: a reader may be quicker.
  int64_t filled_from = 0;       ///< The first step of the blocks that are being filled: all ports' alike.
  int64_t filled_steps = 0, filled_room = 0, filled_rows = 0;
  std::vector<std::byte*> exposed;  ///< Where the step being made puts what others read.
  tensor zeros;                  ///< As many as were ever asked for.
  std::optional<int64_t> retires_at;  ///< From this state on it applies nothing.

  int32_t attempt = 0;
  bool begun = false, ended = false;
  bool stopping = false;         ///< The step at hand is the end, whether its batch has come or not.
  std::optional<stream_end> said;  ///< What it ended with.
  int64_t step = 0;              ///< Where it stands: the state that exists, and the batch that comes next.
  int64_t until = 0;             ///< The horizon.
  int64_t began_at = 0;          ///< The step at which this attempt began.
  std::map<int64_t, uint8_t> marks;

  int current = 0;                              ///< The arena that holds state `step`.
  std::optional<int64_t> lent[2];               ///< By which snapshot, if any.
  std::optional<int64_t> last_part, last_watch; ///< The newest marks served in this attempt.
  std::optional<int64_t> moves_at;              ///< The step whose update goes to the other arena: a snapshot has this one.
  enum class wait : uint8_t { none, sum, applied } waiting = wait::none;
  int target = 0;                               ///< The arena that the step being made writes to.
  std::vector<const std::byte*> feeds;          ///< Of batch `step`, one a component; empty until it is looked at.
  std::vector<int64_t> strides;                 ///< Bytes from one batch of a block to the next.

  step_report pending;                               ///< What the next report will say.
  bool has_values = false;                      ///< Whether the engine holds the outputs of step - 1.
  bool has_records = false;                     ///< Whether that step was to record.
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
  void on_pull(const pull& x);
  void on_leave(const leave& x);
  void on_retire(const retire& x);

  void advance();
  bool can_fire() const;
  bool moves() const;           ///< Whether the next update goes to the other arena.
  void fire();
  void explain(error& cause, const batch_feeds& in);  ///< Why the step at hand is not finite, or how to learn that.
  expected<void> look_at_blocks();  ///< Where in the blocks at hand batch `step` lies.
  bool trains() const { return options.mode == mode::train && !(retires_at && *retires_at <= step); }

  // replica_ports.cpp: what other groups read, and who leaves
  const in_port* leading() const;  ///< The first in-port that has not left: its batches say how many rows a step has.
  const std::byte* zeros_of(int64_t bytes);
  bool has_room() const;        ///< For what the step at hand yields.
  bool expose(int64_t rows);    ///< Finds room for it; false where there is no memory.
  void keep_exposed();          ///< The step is made: what it yielded will be sent.
  void send_exposed();          ///< What is kept.
  void end_exposed(const error& cause, end_kind kind);
  void finish_step();           ///< Step `step` is applied everywhere.
  void reach();                 ///< Serves the mark, if any, at the state where it stands.
  uint8_t take_marks();         ///< Of the state where it stands.
  void collect(uint8_t kinds);  ///< What the next report says beside losses.
  void serve(uint8_t kinds);    ///< Snapshot, end.
  void lend();                  ///< Gives the current arena to the checkpoint writer as this replica's part.
  void stop_at(step_status status, error cause);
  void send_report();
  void give_credit(bool at_once);
  const end_of_data* earliest_end() const;
};

replica_actor::behavior_type replica(replica_actor::stateful_pointer<replica_state> self, replica_options options,
                                     replica_peers peers);

}  // namespace troupe
