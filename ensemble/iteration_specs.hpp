// The specs of one iteration: its subnetworks, and its candidate ensembles in the order of their indices.
#pragma once

#include "ensemble/strategies.hpp"

namespace troupe {

struct subnetwork_spec {
  std::string builder = {};
  std::optional<int64_t> steps_max = {};    ///< Own steps after which its builder wants it to stop.
  std::optional<int64_t> input_steps = {};  ///< Batches of the data of its own, where these end.
};

/// The winner of the iteration before. Its weights are those of the iteration that made it.
struct previous_ensemble {
  std::string spec = {};  ///< "t0_linear_grow_mean"
  int64_t made_in = 0;    ///< The iteration in which it was a new candidate.
  architecture recipe = {};
};

/// A candidate ensemble. `replay_indices` and `global_step` of its recipe are set if it wins.
struct candidate_spec {
  std::string spec = {};
  architecture recipe = {};
  std::optional<double> complexity = {};  ///< The sum of its members'; absent before their graphs are built.
  friend bool operator==(const candidate_spec&, const candidate_spec&) = default;
};

struct iteration_specs {
  std::vector<subnetwork_spec> subnetworks = {};  ///< In the order of the generator.
  std::vector<candidate_spec> candidates = {};    ///< The previous ensemble first, if there is one.
};

/// The specs of an iteration: each ensembler makes an ensemble of each candidate that the strategies propose, all of
/// the first ensembler before all of the second one. Errors: those of `propose`; invalid_argument for no ensemblers, an
/// ensembler's name that `check_name` refuses, two specs of one name or one in the folder of another, or a builder with
/// the name of the previous ensemble's spec.
expected<iteration_specs> specs_of(int64_t iteration, std::vector<subnetwork_spec> subnetworks,
                                   const std::optional<previous_ensemble>& previous,
                                   const std::vector<strategy>& strategies, const std::vector<std::string>& ensemblers);

/// The candidates whose ensembles read this subnetwork: they leave with it.
std::vector<size_t> readers_of(const iteration_specs& specs, int64_t iteration, std::string_view builder);

}  // namespace troupe
