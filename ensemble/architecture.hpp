// What the recipe of an ensemble says, and its text. Pure functions.
#pragma once

#include <troupe/error.hpp>
#include <troupe/search/architecture.hpp>

#include <map>

namespace troupe {

/// The builders of each iteration, in order of iteration, and in the order of the members within it.
std::map<int64_t, std::vector<std::string>> grouped(const architecture& a);
/// The builders in the order of the members: "| linear | dnn |".
std::string ensembles_text(const architecture& a);

/// The indices that lead to the winner of an iteration: those that led to the previous winner, if there is one, and its
/// own index. A previous ensemble that wins again adds 0. AdaNet 0.9 adds nothing then, so that later indices do not
/// belong to their iterations.
std::vector<int64_t> replay_with(const std::optional<architecture>& previous, int64_t winner);

/// The content of `architecture_file`: one JSON object without a line break.
///
///   {"ensemble_candidate_name": "dnn_grow", "ensembler_name": "mean", "global_step": 100, "iteration_number": 1,
///    "replay_indices": [0, 1], "subnetworks": [{"builder_name": "linear", "iteration_number": 0}, ...]}
std::string architecture_text(const architecture& a);
/// Reads such a text. `file` begins the messages. Error: data_loss naming the key and the value: no JSON, a key too few
/// or too many, a value of another type, a negative number, a member of a later iteration than that of the ensemble.
expected<architecture> parse_architecture(std::string_view text, const std::string& file);

}  // namespace troupe
