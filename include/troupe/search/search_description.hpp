// What a model directory says about its search: who has won so far and why, and how the open iteration stands.
// Not needed to begin with.
#pragma once

#include <troupe/search/architecture.hpp>

#include <optional>

namespace troupe {

/// A candidate of an iteration.
struct candidate_description {
  std::string spec = {};                      ///< "t1_1_layer_dnn_grow_mean"
  std::vector<ensemble_member> members = {};  ///< Empty for a candidate of a finished iteration.
  /// What was compared: of a finished iteration the number that decided, of an open one the moving average of
  /// adanet_loss. Absent: none was compared, or there is none yet.
  std::optional<double> score = {};
  /// The parts of adanet_loss = loss + penalty, of the same averages or the same evaluation (Cortes et al. 2017,
  /// equation 4). Absent: there are none yet.
  std::optional<double> loss = {}, penalty = {};
  std::optional<double> complexity = {};  ///< The sum of the complexities of its members.
  /// Open iteration: the sum of the absolute values of each member's mixture weights, in the order of `members`. Empty
  /// for an ensembler without such weights.
  std::vector<double> weights = {};
  std::string lost = {};  ///< Why it did not win; empty for the winner, and while the iteration is open.
  std::string stop = {};  ///< "complete, after 400 steps"; empty while it trains, and in a finished iteration.
};

struct finished_iteration {
  architecture winner = {};  ///< Its `iteration` and `global_step` are those of this iteration.
  std::string spec = {};     ///< The name of the winner. It is of an earlier iteration if the previous ensemble won.
  std::string why = {};      ///< "the least moving average of the AdaNet loss, 0.5"
  std::vector<candidate_description> candidates = {};
};

struct subnetwork_description {
  std::string spec = {};  ///< "t1_1_layer_dnn"
  int64_t steps = 0;      ///< Its own.
  std::string stop = {};  ///< As above.
};

struct search_description {
  int64_t iteration = 0;    ///< The open one.
  int64_t global_step = 0;  ///< Of the newest checkpoint.
  std::vector<finished_iteration> finished = {};
  std::vector<subnetwork_description> subnetworks = {};  ///< Of the open iteration; empty before its first state.
  std::vector<candidate_description> candidates = {};
};

}  // namespace troupe
