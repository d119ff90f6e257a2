// Snapshots: the state at one step boundary, in parts, on its way to storage.
#pragma once

#include "messages/control.hpp"
#include "words/variable_piece.hpp"

namespace troupe {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, variable_piece& x) {
  return f(caf::meta::type_name("variable_piece"), x.name, x.dims, x.first, x.trainable, x.elements);
}

/// Under what a checkpoint keeps the position of the infeed of that number: "infeed/0".
inline constexpr std::string_view position_prefix = "infeed/";
inline std::string position_key(int32_t infeed) { return std::string{position_prefix} + std::to_string(infeed); }

/// One part of the snapshot at state `step`: a replica's slice, an infeed's position, the chief's books.
struct snapshot_part {
  int32_t attempt = 0;
  int64_t step = 0;
  node_id part{};                            ///< Whose: one of those that the plan lists.
  std::vector<variable_piece> pieces;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, snapshot_part& x) {
  return f(caf::meta::type_name("snapshot_part"), x.attempt, x.step, x.part, x.pieces, x.blobs, x.properties);
}

/// The writer no longer needs the memory lent to it at `step`; to the owner of the arena, directly.
struct released {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, released& x) {
  return f(caf::meta::type_name("released"), x.attempt, x.step);
}

/// All parts of `step` are on the medium: after the directory fsync that follows the commit.
struct committed {
  int32_t attempt = 0;
  int64_t step = 0;
  std::string prefix;
  std::vector<std::string> warnings;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, committed& x) {
  return f(caf::meta::type_name("committed"), x.attempt, x.step, x.prefix, x.warnings);
}

/// The snapshot at `step` will not be committed.
struct save_failed {
  int32_t attempt = 0;
  int64_t step = 0;
  error cause;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, save_failed& x) {
  return f(caf::meta::type_name("save_failed"), x.attempt, x.step, x.cause);
}

/// Snapshots above `step` will never be complete: drop their parts without a word.
struct abandon {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, abandon& x) {
  return f(caf::meta::type_name("abandon"), x.attempt, x.step);
}

/// The snapshot at `step` has waited long enough: unless it is complete, give it up by a `save_failed` that names the missing part.
struct name_missing {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, name_missing& x) {
  return f(caf::meta::type_name("name_missing"), x.attempt, x.step);
}

/// No further part of `part` comes: what it has lent or handed over before this, it has.
struct gone {
  int32_t attempt = 0;
  node_id part{};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, gone& x) {
  return f(caf::meta::type_name("gone"), x.attempt, x.part);
}

/// The job has failed: say of each of these snapshots, as soon as it is certain, whether it is committed or never will be
/// because a part of it is `gone`.
struct settle {
  int32_t attempt = 0;
  std::vector<int64_t> steps;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, settle& x) {
  return f(caf::meta::type_name("settle"), x.attempt, x.steps);
}

/// The evaluator is done with the commit at `step`: retention may delete it.
struct unlease {
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, unlease& x) {
  return f(caf::meta::type_name("unlease"), x.step);
}

/// Opens the directory and loads its newest whole checkpoint into the parameter stores; answered by `restored`.
struct restore {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, restore& x) {
  return f(caf::meta::type_name("restore"), x.attempt);
}

/// Opens the directory in the place of a writer that died. It loads nothing: the parameter stores are in use.
struct stand_in {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stand_in& x) {
  return f(caf::meta::type_name("stand_in"), x.attempt);
}

/// The store holds state `step`. `found` is false when there was no checkpoint and variables were initialised.
struct restored {
  int32_t attempt = 0;
  bool found = false;
  int64_t step = 0;
  std::string prefix;
  std::map<std::string, std::string> blobs;
  std::map<std::string, std::string> properties;
  std::vector<std::string> warnings;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, restored& x) {
  return f(caf::meta::type_name("restored"), x.attempt, x.found, x.step, x.prefix, x.blobs, x.properties, x.warnings);
}

}  // namespace troupe
