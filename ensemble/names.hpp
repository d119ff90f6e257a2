// The names of a search: candidates, specs, files, variables in checkpoints, suffixes of heads.
//
// A spec is what trains by itself: a subnetwork or an ensemble. Checkpoints, event files and reports contain these
// names, so they must not change.
#pragma once

#include <troupe/error.hpp>

#include <variant>

namespace troupe {

// -- candidates and specs ----------------------------------------------------------

/// The default names of the two ensemblers.
inline constexpr std::string_view complexity_regularized_name = "complexity_regularized", mean_name = "mean";
/// The candidate of the strategy `all`.
inline constexpr std::string_view all_candidate_name = "all";
/// The previous ensemble in reports. No builder may have this name.
inline constexpr std::string_view previous_ensemble_name = "previous_ensemble";

/// The group of the previous ensemble in the plan of an iteration. No spec is called so: their names begin with "t0_"
/// or the like.
inline constexpr std::string_view previous_group_name = "previous";

/// "linear_grow"
std::string grow_candidate_name(std::string_view builder);
/// "linear_solo"
std::string solo_candidate_name(std::string_view builder);
/// "t0_linear"
std::string subnetwork_spec_name(int64_t iteration, std::string_view builder);
/// "t0_linear_grow_complexity_regularized"
std::string ensemble_spec_name(int64_t iteration, std::string_view candidate, std::string_view ensembler);
/// "dummy_t1_dnn": the only candidate of a worker that builds this subnetwork and no ensemble.
std::string placeholder_name(std::string_view subnetwork_spec);
/// "LinearEstimator0": a builder from a pool that is a list.
std::string pool_builder_name(std::string_view class_name, size_t index);

/// Checks the name of a builder, candidate or ensembler, which becomes part of tags and paths. `what` begins the
/// message: "the builder". Error: invalid_argument for an empty name, for characters other than ASCII letters, digits
/// and "_.-/", and for an empty, "." or ".." part between slashes.
expected<void> check_name(std::string_view what, std::string_view name);

// -- files, relative to the model directory ----------------------------------------

/// "architecture-2.json"
std::string architecture_file(int64_t iteration);
/// "train_manager/t0/t0_linear.json"
std::string stop_mark_file(int64_t iteration, std::string_view spec);
/// The directories of event files: "subnetwork/t0_linear", "ensemble/t0_linear_grow_mean"
std::string subnetwork_directory(std::string_view spec);
std::string ensemble_directory(std::string_view spec);
/// "report/iteration_reports.json"
inline constexpr std::string_view reports_file = "report/iteration_reports.json";

// -- tags of event files, beside those that ensembles record ------------------------

/// The steps that a spec has made in its iteration, and, of the search, the number of the iteration.
inline constexpr std::string_view own_steps_tag = "iteration_step/adanet/iteration_step",
                                  iteration_tag = "iteration/adanet/iteration",
                                  architecture_tag = "architecture/adanet/ensembles";

// -- variables in checkpoints ------------------------------------------------------

inline constexpr std::string_view current_iteration_key = "adanet/current_iteration", global_step_key = "global_step";

/// "adanet/iteration_0/subnetwork_t0_linear": the variables of the subnetwork are below it.
std::string subnetwork_scope(int64_t iteration, std::string_view builder);
/// "adanet/iteration_0/subnetwork_t0_linear/step"
std::string subnetwork_step_key(int64_t iteration, std::string_view builder);
/// "adanet/iteration_0/ensemble_t0_linear_grow_mean": the variables of the ensemble are below it.
std::string ensemble_scope(int64_t iteration, std::string_view spec);
/// "adanet/iteration_0/ensemble_t0_linear_grow_mean/step"
std::string ensemble_step_key(int64_t iteration, std::string_view spec);
/// ".../ensemble_<spec>/weighted_subnetwork_1/logits_2/mixture_weight" for member 1 and head 2; "logits" for head 0.
/// Heads are numbered in the order of the multi_head.
std::string mixture_weight_key(int64_t iteration, std::string_view spec, size_t member, size_t head = 0);
/// ".../ensemble_<spec>/bias_2" for head 2; "bias" for head 0.
std::string bias_key(int64_t iteration, std::string_view spec, size_t head = 0);

/// The variables of a `loss_average`.
struct loss_average_keys {
  std::string value;           ///< "adanet/iteration_0/candidate_<spec>/adanet_loss"
  std::string biased;          ///< The same, followed by "/biased".
  std::string count;           ///< The same, followed by "/local_step".
  std::string penalty;         ///< "adanet/iteration_0/candidate_<spec>/adanet_penalty"
  std::string biased_penalty;  ///< The same, followed by "/biased".
};
loss_average_keys loss_average_keys_of(int64_t iteration, std::string_view spec);

// -- heads ---------------------------------------------------------------------------

/// The key of one of several heads: a number, a text or a tuple of texts. Numbers sort before texts, and texts before
/// tuples.
using head_key = std::variant<int64_t, std::string, std::vector<std::string>>;

/// "0", "income", "bar_baz"
std::string to_text(const head_key& key);
/// The end of the tags of a head: "_bar_baz". A model with one head has no key and no suffix. The key 0 has the suffix
/// "_0"; AdaNet 0.9 has none for it, so its tags do not say that there are other heads.
std::string head_suffix(const std::optional<head_key>& key);

}  // namespace troupe
