// The checkpoint writer: collects the parts of snapshots and commits complete ones. A snapshot for evaluators alone is
// sent to them instead.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"
#include "actors/writers/snapshot_assembly.hpp"
#include "actors/writers/start_values.hpp"
#include "actors/writers/state_parts.hpp"
#include "messages/early_messages.hpp"
#include "messages/interfaces.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/checkpoint_books.hpp"

#include <functional>
#include <set>
#include <variant>

namespace troupe {

struct checkpoint_writer_options {
  node_id id{};
  std::string name = "checkpoint_writer";
  std::shared_ptr<file_system> files;
  /// Empty: nothing is saved, stores get initial values, and no parts are expected.
  std::string directory;
  std::shared_ptr<directory_claim> claim;  ///< Shows whether the directory is still this job's; may be null.
  checkpoint_store_options store;
  int64_t part_bytes_max = state_parts::bytes_max;  ///< Limit on the bytes in a part of the restored state.
  bool lease_commits = false;                       ///< Each commit is leased until `unlease`, for an evaluator.
  uint64_t seed = 0;                                ///< Of freshly initialised variables.
  /// Values that replace initial ones if there is no checkpoint; may be empty.
  std::function<expected<start_values::values>(uint64_t seed)> start = {};
  std::map<std::string, std::string> properties;  ///< Written into every manifest.
  double wall_offset = 0;                         ///< Unix time, in seconds, at which the actor clock was 0.
};

/// A part of a snapshot, and the node that lends the memory of its pieces.
struct lent_part : snapshot_part {
  arena_owner_actor lender;
};

/// Needs a thread of its own, since every call to storage blocks.
struct checkpoint_writer_state {
  static inline const char* name = "checkpoint_writer";
  checkpoint_writer_actor::stateful_pointer<checkpoint_writer_state> self = nullptr;
  checkpoint_writer_options options;
  activity spent;  ///< See counted.hpp.
  commit_sink_actor driver;

  std::unique_ptr<checkpoint_store> store;
  std::optional<error> not_opened;  ///< Why there is no store.
  int32_t attempt = 0;
  stored_plan stored;                ///< Of this attempt.
  std::vector<expected_part> parts;  ///< Of this attempt, with the states up to which they are expected.
  bool stands_in = false;            ///< Replaces a writer that died.
  struct pending {
    std::map<node_id, snapshot_part> parts;
    std::vector<arena_owner_actor> lenders;
  };
  std::map<int64_t, pending> snapshots;
  std::optional<int64_t> newest;     ///< The newest commit of this attempt; parts up to it are duplicates.
  std::set<int64_t> refused;         ///< Steps that will not be committed.
  std::set<node_id> gone_parts;      ///< Nodes that send no further part.
  std::vector<departed> departures;  ///< Groups that have left in this attempt.
  /// Where the job's first values came from; empty: initial values. Written into every manifest.
  std::string warm_start;
  bool settling = false;
  /// For a writer that replaces another: parts of nodes that knew of it before it received `stand_in`.
  early_messages<lent_part, gone> early;

  /// The owners of each group, to which a state is sent.
  using state_owners = std::map<group_id, std::vector<state_owner_actor>>;
  struct transfer {
    std::variant<restored, troupe::newest, state_shown> news;  ///< For the chief, once all parts are taken.
    state_parts parts;                                         ///< Parts that have not been sent.
    state_owners owners;
    pending from = {};  ///< The snapshot whose memory the parts use, if it is lent.
    /// Parts that were sent and not taken, with their receivers.
    std::map<int64_t, state_owner_actor> on_their_way = {};
  };
  std::optional<transfer> sending;
  /// Parts sent in this attempt for any transfer, so that a `state_taken` fits only one part.
  int64_t parts_sent = 0;
  /// Checkpoints that proved damaged while they were sent, in this attempt.
  std::map<checkpoint_id, error> damaged;
  std::map<int64_t, pending> shown;          ///< Snapshots for evaluators alone, by step.
  std::map<int64_t, show_state> readers_of;  ///< Requests for such snapshots, by step.

  void on_restore(const restore& x);
  void on_name_newest(const name_newest& x);
  void on_stand_in(const stand_in& x);
  void begin_attempt(int32_t number, const stored_plan& of);
  void fail_with(error cause);
  expected<void> open();
  expected<transfer> begin_anew(std::vector<stored_group> owned);
  expected<transfer> load(const state_owners& owners);
  void send_newest(state_owners owners);
  void send_older(error cause);
  void take_over(const restored& from);
  std::vector<stored_group> groups_in(const std::map<std::string, std::string>& properties) const;
  void on_departed(const departed& x);
  void on_state_taken(const state_taken& x);
  void send_state();
  // checkpoint_showing.cpp
  void on_shown_part(const snapshot_part& x, const arena_owner_actor& lender);
  void on_show_state(const show_state& x);
  void show(int64_t step);
  void narrow(const std::vector<state_owner>& readers);
  void forget_shown(int64_t above);
  void on_part(const snapshot_part& x, const arena_owner_actor& lender);
  void on_abandon(const abandon& x);
  void on_name_missing(const name_missing& x);
  void on_gone(const gone& x);
  void on_settle(const settle& x);
  void on_late_properties(const late_properties& x);
  expected<void> keep_best(const checkpoint_books& books);
  void finish_complete();
  void refuse_hopeless();
  void refuse(int64_t step, error cause);
  void finish(int64_t step);
  expected<commit_result> commit(checkpoint_id id, pending& snapshot);
  void release_arenas(int64_t step, const pending& snapshot);
};

checkpoint_writer_actor::behavior_type checkpoint_writer(
    checkpoint_writer_actor::stateful_pointer<checkpoint_writer_state> self, checkpoint_writer_options options,
    commit_sink_actor driver);

}  // namespace troupe
