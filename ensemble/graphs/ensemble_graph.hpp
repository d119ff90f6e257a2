// The graph of one ensemble: mixture weights, bias, logits, regularization.
#pragma once

#include <troupe/heads.hpp>
#include <troupe/search/ensembler.hpp>

namespace troupe {

/// The weights of one head, for summaries.
struct ensemble_weights {
  std::string suffix = {};         ///< Of the tags: "_a", or empty.
  std::vector<symbol> norms = {};  ///< |w| of each member, scalars.
  symbol regularization = {};      ///< Scalar.
};

struct built_ensemble {
  symbol logits = {};                              ///< For the head: those of all heads side by side.
  symbol regularization = {};                      ///< One element; invalid: none.
  std::map<std::string, symbol> predictions = {};  ///< In addition to those of the head.
  std::vector<ensemble_weights> weights = {};      ///< By head; empty for ensemblers without mixture weights.
};

/// Which outputs of its members an ensembler reads.
struct ensembler_needs {
  bool logits = true, last_layer = false;
};
ensembler_needs needs_of(const ensembler& e);
const std::optional<optimizer>& optimizer_of(const ensembler& e);

struct ensemble_place {
  int64_t iteration = 0;  ///< In which the ensemble was a new candidate.
  std::string spec = {};
};

/// Makes the ensemble of these members with variables of the names in names.hpp. They are trainable as far as the
/// ensembler trains them. Errors of the graph name the spec: those of `check_members` and of `validate`, outputs by
/// head of some members only, and last layers of different shapes for a mean of them.
built_ensemble build_ensemble(graph& g, const ensembler& e, const ensemble_place& where, const ensemble_context& c,
                              const head& h);

}  // namespace troupe
