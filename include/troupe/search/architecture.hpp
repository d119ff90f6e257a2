// The recipe of an ensemble: which subnetworks it consists of, and which choices led to it.
// Not needed to begin with.
#pragma once

#include <troupe/api.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A subnetwork of an ensemble: the iteration that trained it, and its builder.
struct ensemble_member {
  int64_t iteration = 0;
  std::string builder = {};
  friend auto operator<=>(const ensemble_member&, const ensemble_member&) = default;
};

struct architecture {
  std::string candidate = {};  ///< The name that a strategy gave it: "linear_grow".
  std::string ensembler = {};  ///< "complexity_regularized"
  /// Members of the previous ensemble first, in its order, then those of the candidate.
  std::vector<ensemble_member> members = {};
  std::vector<int64_t> replay_indices = {};  ///< The index of the winner of each iteration up to this one.
  int64_t iteration = 0;                     ///< The iteration that it won.
  int64_t global_step = 0;                   ///< At the end of that iteration.
  friend bool operator==(const architecture&, const architecture&) = default;
};

}  // namespace troupe
