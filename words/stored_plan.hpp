// What the checkpoints of an attempt are made of. Plain data.
#pragma once

#include "words/plan_iteration.hpp"
#include "words/roles.hpp"

#include <troupe/tensor.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe {

/// A variable or a slot of a group, as checkpoints have it.
struct stored_entry {
  std::string name;
  dtype type = dtype::float32;
  std::vector<int64_t> dims;
  bool trainable = false;
  bool slot = false;
};

struct stored_group {
  group_id group{};
  std::string name = {};              ///< May be left out where no group leaves.
  std::vector<stored_entry> entries;  ///< By name.
};

/// A part of each snapshot: its node, and its name for people.
struct stored_part {
  node_id id{};
  std::string name;
};

/// How the last state of an iteration becomes the first one of the next, by the names of tensors. A name that ends with '/' stands for all tensors in that
/// scope. What is not listed goes on under its name.
struct stored_growth {
  std::vector<std::string> fresh = {};              ///< New: they begin with initial values.
  std::vector<std::string> dropped = {};            ///< Of the iteration before, and of no use in this one.
  std::map<std::string, std::string> renamed = {};  ///< These begin as another one has ended: its name.

  bool is_fresh(std::string_view name) const { return names(fresh, name); }
  bool drops(std::string_view name) const { return names(dropped, name); }
  /// The name that a tensor has had.
  std::string before(const std::string& name) const;

 private:
  static bool names(const std::vector<std::string>& all, std::string_view name);
};

/// What the checkpoints of an attempt are made of. Told with the attempt: a later one may be of another plan.
struct stored_plan {
  plan_iteration iteration;           ///< The one that commits belong to.
  bool one_of_several = false;        ///< A commit that wants another plan is named, and not refused.
  stored_growth growth = {};          ///< Where the state is of the iteration before.
  std::vector<stored_part> parts;     ///< A snapshot is complete when all of them have arrived.
  std::vector<stored_group> groups;
};

}  // namespace troupe
