// The carried states of one replica: its rows of the parameter store in training, rows of its own in an evaluation.
#pragma once

#include "compute/engine/step_engine.hpp"

#include <troupe/graph.hpp>

namespace troupe {

/// Feeds a program with the rows of the states, and keeps what a step computes of them until the step counts. Used by
/// one thread at a time. Without states it does nothing.
class carried_rows {
 public:
  /// `outputs`: of the states, from output `first_output` of the programs on; of full batches. Keeps the store, and a
  /// reference to nothing. invalid_argument: the store has not the rows of the whole batch.
  expected<void> prepare(const program_engine_options& options, std::span<const program_output> outputs,
                         size_t first_output);

  /// Why a batch of `rows` rows has no place: training takes full batches, an evaluation at most full ones.
  std::optional<error> refusal_of(int64_t rows) const;
  /// Sets the feeds of a run over rows from `first_row` of the replica's batch on.
  void feed(const batch_feeds& in, int arena, int64_t first_row, std::span<const std::byte*> feeds) const;
  /// Keeps what the program has computed of a shard, before the next shard overwrites it.
  void keep(const program& p, int32_t shard);
  /// Writes what was kept, or what the program has computed of an only shard.
  void carry(const program& p, int arena);

 private:
  struct carried {
    std::string name;
    lifetime lasts = lifetime::run;
    int64_t row_bytes = 0;
    int64_t offset = 0;                  ///< Of the replica's first row in an arena of the store.
    std::shared_ptr<std::byte> own;      ///< In an evaluation: the rows.
    std::shared_ptr<std::byte> initial;  ///< A full batch of initial values, where a later step begins with them.
    std::shared_ptr<std::byte> next;     ///< Several shards: what the step has computed.
  };

  std::byte* rows_of(const carried& c, int arena) const {
    return c.own ? c.own.get() : store_->arena(arena) + c.offset;
  }

  std::vector<carried> all_;
  std::shared_ptr<parameter_store> store_;
  size_t first_output_ = 0;
  int64_t batch_rows_ = 0;
  int64_t shard_rows_ = 0;
  bool trains_ = false;
};

}  // namespace troupe
