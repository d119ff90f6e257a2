// Snapshots: the state at one step boundary, sent in parts to the checkpoint writer.
#pragma once

#include "messages/control.hpp"
#include "plan/plan.hpp"
#include "words/stored_plan.hpp"
#include "words/variable_piece.hpp"

namespace troupe {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, variable_piece& x) {
  return f(caf::meta::type_name("variable_piece"), x.name, x.dims, x.first, x.trainable, x.elements);
}

/// The key of an infeed's position in a checkpoint: "infeed/0"; "own/infeed/t0_dnn" for data of one group's own.
inline constexpr std::string_view position_prefix = "infeed/";
inline std::string position_key(int32_t infeed) { return std::string{position_prefix} + std::to_string(infeed); }
inline std::string position_key(const plan_node& infeed) {
  return infeed.own ? "own/" + infeed.name : position_key(infeed.index);
}

/// One part of the snapshot of state `step`: a replica's slice, an infeed's position or the chief's books.
struct snapshot_part {
  int32_t attempt = 0;
  int64_t step = 0;
  node_id part{};  ///< The node that made it, one of `checked_plan::parts`.
  std::vector<variable_piece> pieces;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
  std::map<std::string, int64_t> numbers = {};  ///< Stored as tensors; "global_step" is the step unless it is here.
  bool shown = false;                           ///< For `show_state`: not to be committed.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, snapshot_part& x) {
  return f(caf::meta::type_name("snapshot_part"), x.attempt, x.step, x.part, x.pieces, x.blobs, x.properties, x.numbers,
           x.shown);
}

/// From the checkpoint writer, directly to the owner of an arena: the memory lent at `step` is no longer read.
struct released {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, released& x) {
  return f(caf::meta::type_name("released"), x.attempt, x.step);
}

/// The snapshot of state `id.step` is durable: sent after the directory sync that follows the commit.
struct committed {
  int32_t attempt = 0;
  checkpoint_id id;
  std::string prefix;
  std::vector<std::string> warnings;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, committed& x) {
  return f(caf::meta::type_name("committed"), x.attempt, x.id, x.prefix, x.warnings);
}

/// From the chief to the checkpoint writer: a verdict, which consists of properties of a committed checkpoint that an
/// evaluation has shown. Answered by `late_properties_kept`.
struct late_properties {
  int32_t attempt = 0;
  checkpoint_id id;
  std::map<std::string, std::string> properties;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, late_properties& x) {
  return f(caf::meta::type_name("late_properties"), x.attempt, x.id, x.properties);
}

/// The verdict on `id` is durable.
struct late_properties_kept {
  int32_t attempt = 0;
  checkpoint_id id;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, late_properties_kept& x) {
  return f(caf::meta::type_name("late_properties_kept"), x.attempt, x.id);
}

/// The snapshot of state `step` will not be committed.
struct save_failed {
  int32_t attempt = 0;
  int64_t step = 0;
  error cause;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, save_failed& x) {
  return f(caf::meta::type_name("save_failed"), x.attempt, x.step, x.cause);
}

/// Snapshots above `step` will never be complete: drop their parts without a `save_failed`.
struct abandon {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, abandon& x) {
  return f(caf::meta::type_name("abandon"), x.attempt, x.step);
}

/// The snapshot of state `step` has waited too long: unless it is complete, drop it and answer `save_failed`, which
/// names the missing part.
struct name_missing {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, name_missing& x) {
  return f(caf::meta::type_name("name_missing"), x.attempt, x.step);
}

/// No further part of node `part` follows; the parts that it has sent stay valid.
struct gone {
  int32_t attempt = 0;
  node_id part{};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, gone& x) {
  return f(caf::meta::type_name("gone"), x.attempt, x.part);
}

/// The job has failed. Answered for each of these snapshots as soon as the outcome is certain: it is committed, or it
/// cannot be because the node of a missing part is `gone`.
struct settle {
  int32_t attempt = 0;
  std::vector<int64_t> steps;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, settle& x) {
  return f(caf::meta::type_name("settle"), x.attempt, x.steps);
}

/// From the chief: asks which whole commit is the newest. Answered by `newest`.
struct name_newest {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, name_newest& x) {
  return f(caf::meta::type_name("name_newest"), x.attempt);
}

/// The books of the newest whole commit. Answers `name_newest`, and is sent in place of `restored` if that commit wants
/// another plan.
struct newest {
  int32_t attempt = 0;
  bool found = false;
  checkpoint_id id;
  std::string prefix;
  std::map<std::string, std::string> blobs, properties;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, newest& x) {
  return f(caf::meta::type_name("newest"), x.attempt, x.found, x.id, x.prefix, x.blobs, x.properties);
}

/// The evaluation of the checkpoint is over, or will not be made. Its lease ends, and retention may delete it.
struct unlease {
  checkpoint_id id;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, unlease& x) {
  return f(caf::meta::type_name("unlease"), x.id);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_entry& x) {
  return f(caf::meta::type_name("stored_entry"), x.name, x.type, x.dims, x.trainable, x.slot, x.carried);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_group& x) {
  return f(caf::meta::type_name("stored_group"), x.group, x.name, x.entries);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_part& x) {
  return f(caf::meta::type_name("stored_part"), x.id, x.name);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, plan_iteration& x) {
  auto begins_at = x.begins_at.value_or(-1), ends_at = x.ends_at.value_or(-1);
  auto load = [&]() -> caf::error {
    x.begins_at = begins_at < 0 ? std::nullopt : std::optional{begins_at};
    x.ends_at = ends_at < 0 ? std::nullopt : std::optional{ends_at};
    return caf::none;
  };
  return f(caf::meta::type_name("plan_iteration"), x.number, begins_at, ends_at, caf::meta::load_callback(load));
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_growth& x) {
  return f(caf::meta::type_name("stored_growth"), x.fresh, x.dropped, x.renamed, x.drops_rest);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stored_plan& x) {
  return f(caf::meta::type_name("stored_plan"), x.iteration, x.one_of_several, x.growth, x.parts, x.groups, x.numbers);
}

/// The actor that writes the parameter store of a group while its state is restored.
struct state_owner {
  group_id group{};
  state_owner_actor owner;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, state_owner& x) {
  return f(caf::meta::type_name("state_owner"), x.group, x.owner);
}

/// Opens the directory and sends the state of its newest whole checkpoint to the owners, one for each group; answered
/// by `restored`.
struct restore {
  int32_t attempt = 0;
  std::vector<state_owner> owners;  ///< A group without an owner has no living replica, and gets no state.
  stored_plan of = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, restore& x) {
  return f(caf::meta::type_name("restore"), x.attempt, x.owners, x.of);
}

/// Part `number` of the state at which attempt `attempt` begins. Sent before `begin`, and written while no replica is
/// inside a step. An owner that has begun that attempt, or was told to halt it, drops the part.
struct state_part {
  int32_t attempt = 0;
  int64_t number = 0;  ///< Counts the parts of one restoration.
  std::vector<variable_piece> pieces;
  bool initial = false;  ///< There is no checkpoint: the whole store gets initial values.
  uint64_t seed = 0;     ///< Of the initial values.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, state_part& x) {
  return f(caf::meta::type_name("state_part"), x.attempt, x.number, x.pieces, x.initial, x.seed);
}

/// The answer to `state_part`: part `number` has been written, and its memory is no longer read.
struct state_taken {
  int32_t attempt = 0;
  int64_t number = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, state_taken& x) {
  return f(caf::meta::type_name("state_taken"), x.attempt, x.number);
}

/// From the chief: collect the parts of state `step` that are marked as shown from all `replicas`, send its variables
/// to `readers`, and commit nothing. Answered by `state_shown` once the readers have taken the last variable, or by
/// `save_failed`.
struct show_state {
  int32_t attempt = 0;
  int64_t step = 0;
  std::vector<named_node> replicas;
  std::vector<state_owner> readers;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, show_state& x) {
  return f(caf::meta::type_name("show_state"), x.attempt, x.step, x.replicas, x.readers);
}

/// The readers have taken all variables of state `step`.
struct state_shown {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, state_shown& x) {
  return f(caf::meta::type_name("state_shown"), x.attempt, x.step);
}

/// Replaces a writer that died: opens the directory and loads nothing, because the parameter stores are in use.
struct stand_in {
  int32_t attempt = 0;
  stored_plan of = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stand_in& x) {
  return f(caf::meta::type_name("stand_in"), x.attempt, x.of);
}

/// The parameter stores hold state `id.step`. `found` is false when there was no checkpoint and variables were
/// initialised.
struct restored {
  int32_t attempt = 0;
  bool found = false;
  checkpoint_id id;
  std::string prefix;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
  std::vector<std::string> warnings;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, restored& x) {
  return f(caf::meta::type_name("restored"), x.attempt, x.found, x.id, x.prefix, x.blobs, x.properties, x.warnings);
}

}  // namespace troupe
