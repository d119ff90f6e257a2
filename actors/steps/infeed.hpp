// The infeed reads a dataset and sends blocks. Each host has one infeed.
#pragma once

#include "messages/early_messages.hpp"
#include "messages/interfaces.hpp"
#include "plan/edge_kinds.hpp"
#include "words/batch_share.hpp"
#include "words/buffer_pool.hpp"
#include "words/stop_switch.hpp"

#include <troupe/dataset_iterator.hpp>

#include <deque>
#include <set>

namespace troupe {

struct infeed_options {
  node_id id{};
  std::string name = "infeed/0";
  std::string position = position_key(0);  ///< The key under which its position is stored in checkpoints.
  /// Opens the dataset at its beginning. Called in each attempt, and to rebuild an earlier position. Neither this
  /// function nor its iterator throws (`open_input`).
  std::function<expected<std::unique_ptr<dataset_iterator>>()> open;
  /// An edge to a reader. The rows are divided evenly among `readers`; this edge leads to number `reader`.
  struct edge {
    edge_id id{};
    int32_t reader = 0;
    int32_t readers = 1;
  };
  std::vector<edge> edges;
  int64_t batches_per_step = 1;  ///< Batches of a step: 1, or one for each reader if each gets its own.
  /// In an evaluation or a prediction: each batch is dealt to one of the readers. Batch s is
  /// number s / n of reader s mod n. Then the data may end anywhere, and no position is kept.
  bool deals = false;
  batch_share share = {};        ///< In an evaluation or a prediction: which batches of the data it reads.
  bool data_may_change = false;  ///< A position of other data is a warning, and they begin anew.
  bool ends_steps = false;       ///< A `stop` ends all groups at this infeed's step, not at a replica's.
  std::string own_of = {};       ///< Whose data they are, if one group alone trains on them: see `own_data_of`.
  int64_t block_bytes_max = *row_of(edge_kind::data).credit.bytes;  ///< A block holds at most this, or one batch.
  /// A block is sent after this time of filling.
  std::chrono::milliseconds block_time_max{20};
  /// Shared with the agent, which interrupts a blocking read.
  std::shared_ptr<stop_switch> stop = std::make_shared<stop_switch>();
};

/// Reads the source in step order, never past the horizon or the credit.
struct infeed_state {
  static inline const char* name = "infeed";
  infeed_actor::stateful_pointer<infeed_state> self = nullptr;
  infeed_options options;
  activity spent;  ///< See counted.hpp.
  part_sink_actor parts;
  input_listener_actor listener;  ///< Gets warnings and failures; null in an evaluation or a prediction.
  struct reader {
    infeed_options::edge edge;
    block_sink_actor sink;
    int64_t credit = 0;
    int64_t applied = 0;
    int64_t block_steps = 1;  ///< Steps of the blocks that it wants.
    bool left = false;        ///< The reader has left the edge.
  };
  std::vector<reader> readers;
  early_messages<pull> early;  ///< Credit of readers that have already begun the next attempt.

  int32_t attempt = 0;
  bool begun = false, ended = false;
  std::stop_token stopping;  ///< The token of this attempt.
  bool broken = false;       ///< The source's position is unknown: a read or save failed, or a step was read in part.
  std::optional<error> cut_off;       ///< A read was cancelled; a stop may be in the mailbox.
  bool proceeds = false;              ///< A `proceed` of this attempt is in the mailbox.
  int64_t step = 0;                   ///< The next batch to read.
  int64_t until = 0;                  ///< The horizon.
  std::optional<int64_t> retires_at;  ///< Nothing is read from this step on; later states have the position before it.
  std::map<int64_t, mark_kinds> marks;
  snapshot_part sent;                ///< The last part, for a checkpoint writer that replaces another.
  std::set<std::string> told;        ///< Warnings of the source that were sent, so that each is sent once.
  std::optional<int64_t> last_part;  ///< The newest snapshot step served in this attempt.
  std::unique_ptr<dataset_iterator> source;
  std::vector<component> parts_of_row;
  std::vector<int64_t> row_bytes;  ///< Bytes of one row of each component.
  std::vector<buffer_pool> pools;
  /// Positions at the starts of blocks that not all readers have applied, for `rewind`.
  std::deque<std::pair<int64_t, std::string>> positions;
  std::optional<error> unsaved;  ///< Why a position is not known: the last error of the source's `save`.

  void on_begin(const begin& x);
  void on_run(const run& x);
  void on_pull(const pull& x);
  void on_halt(const halt& x);
  void on_stop(const stop& x);
  void on_leave(const leave& x);
  void on_retire(const retire& x);
  void advance();
  void proceed_later();
  wait_cause waits_for() const;
  /// Sends the end to the readers and, unless the data ended, a failure to the chief.
  void end(error cause, end_kind kind = end_kind::failed);
  void tell_failure(error cause, int64_t at);

  // infeed_reading.cpp
  using buffers = std::vector<std::shared_ptr<const std::byte>>;  ///< One for each component.
  bool rests() const { return retires_at && *retires_at <= step; }
  int64_t read_up_to(int64_t state) const { return std::min(state, retires_at.value_or(state)); }
  error of_own_data(const std::string& why, const error& cause) const;
  expected<void> open_at(const std::optional<std::string>& position);
  /// The same where an attempt begins. Data that are not those of the position may begin anew.
  expected<void> begin_at(const std::optional<std::string>& position);
  void warn(std::string text);
  int64_t batch_bytes() const;  ///< Of a step.
  int64_t rows_of_step() const { return options.batches_per_step * source->batch_rows(); }
  /// Steps of the next block, or 0: it is better to wait until there is room for a whole one.
  int64_t steps_of_block() const;
  void read_block(int64_t count);
  /// Sends batches as they lie in the memory of the source. False: the next one has to be read.
  bool lend_block(int64_t count);
  /// The first batch for which a reader has no room.
  int64_t first_without_room() const;
  /// Reads one step's batches into `into`, which has room for all of them. Returns the number of rows; only the last
  /// batch of the data has fewer.
  expected<int64_t> read_step(const std::vector<std::byte*>& into, const std::stop_token& stop);
  /// `memory` has room for `planned` batches.
  void send_block(int64_t first, int64_t count, int64_t planned, int64_t rows, const buffers& memory);
  void deal_block(int64_t first, int64_t count, int64_t planned, int64_t rows, const buffers& memory);
  /// In memory for `count` batches from `first` on, the place of batch `at`: one after the other for each reader.
  int64_t place_of(int64_t at, int64_t first, int64_t count) const;
  batch_share dealt_to(size_t reader) const { return {static_cast<int64_t>(reader), std::ssize(readers)}; }
  void hand_over(int64_t first, int64_t count, int64_t planned, int64_t rows, const buffers& memory);

  // infeed_positions.cpp
  void on_rewind(const rewind& x);
  expected<void> reach();                              ///< Serves a mark at the current step.
  void pass_marks();                                   ///< Serves all marks up to the horizon, without reading.
  expected<std::string> position_at(int64_t earlier);  ///< Rebuilt by reading on from the start of its block.
  void send_part(int64_t at, std::string position);
};

infeed_actor::behavior_type infeed(infeed_actor::stateful_pointer<infeed_state> self, infeed_options options,
                                   input_listener_actor listener = {});

}  // namespace troupe
