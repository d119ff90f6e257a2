// What the checkpoints of an attempt consist of. Plain data.
#pragma once

#include "words/plan_iteration.hpp"
#include "words/roles.hpp"

#include <troupe/tensor.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A variable or a slot of a group, as it is stored in checkpoints.
struct stored_entry {
  std::string name;
  dtype type = dtype::float32;
  std::vector<int64_t> dims;
  bool trainable = false;
  bool slot = false;
  bool carried = false;  ///< A state with a row for each example of the batch.
};

struct stored_group {
  group_id group{};
  std::string name = {};              ///< May be empty if no group leaves.
  std::vector<stored_entry> entries;  ///< Sorted by name.
};

/// A node that makes a part of each snapshot, and its name for people.
struct stored_part {
  node_id id{};
  std::string name;
};

/// How the first state of an iteration follows from the last state of the previous one, by the names of tensors. A name
/// that ends with '/' stands for all tensors in that scope. A tensor that is not listed keeps its name and its value.
struct stored_growth {
  std::vector<std::string> fresh = {};    ///< New tensors, which begin with initial values.
  std::vector<std::string> dropped = {};  ///< Tensors of the previous iteration that have no use in this one.
  /// By new name: the tensor whose last value this one takes, even if it is in a scope of fresh ones.
  std::map<std::string, std::string> renamed = {};
  bool drops_rest = false;  ///< Tensors of the previous iteration that no tensor of this one takes are dropped, too.

  bool is_fresh(std::string_view name) const { return names(fresh, name) && !old_name(name); }
  bool drops(std::string_view name) const { return names(dropped, name); }
  /// The name of the tensor in the previous iteration.
  std::string before(const std::string& name) const { return old_name(name).value_or(name); }

 private:
  static bool names(const std::vector<std::string>& all, std::string_view name);
  /// Absent: it is not renamed.
  std::optional<std::string> old_name(std::string_view name) const;
};

/// What the checkpoints of an attempt consist of. Sent with each attempt, because a later one may have another plan.
struct stored_plan {
  plan_iteration iteration;        ///< The iteration to which commits belong.
  bool one_of_several = false;     ///< A commit that wants another plan is reported, not refused.
  stored_growth growth = {};       ///< For a state that comes from the previous iteration.
  std::vector<stored_part> parts;  ///< A snapshot is complete when all of these have arrived.
  std::vector<stored_group> groups;
  /// The names of tensors that follow from the books: nothing is restored from them.
  std::vector<std::string> numbers = {};
};

}  // namespace troupe
