// What the checkpoints of an attempt are made of. Plain data.
#pragma once

#include "words/roles.hpp"

#include <troupe/tensor.hpp>

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

/// What the checkpoints of an attempt are made of. Told with the attempt: a later one may be of another plan.
struct stored_plan {
  int64_t iteration = 0;              ///< The round of a search that commits belong to; 0 outside of a search.
  std::vector<stored_part> parts;     ///< A snapshot is complete when all of them have arrived.
  std::vector<stored_group> groups;
};

}  // namespace troupe
