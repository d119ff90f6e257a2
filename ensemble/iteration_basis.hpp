// All that the graphs of an iteration depend on: the options, the winners of the iterations before it, and the builders
// of all of them.
#pragma once

#include "ensemble/search_books.hpp"

#include <memory>

namespace troupe {

struct iteration_basis {
  search_options options = {};
  std::vector<search_books::winner> winners = {};         ///< Of iteration 0 and so on.
  std::map<int64_t, std::vector<builder>> builders = {};  ///< Of the open iteration and of those with winners.

  int64_t iteration() const noexcept { return static_cast<int64_t>(winners.size()); }
  /// Null: there is none.
  const search_books::winner* previous() const noexcept { return winners.empty() ? nullptr : &winners.back(); }
  const builder* find(const ensemble_member& who) const;
  /// The index among the options' ensemblers; absent: there is none of that name.
  const ensembler* find_ensembler(std::string_view name) const;
};

/// Asks the generator for the builders of the iteration that the books are about and of each earlier one that has new
/// members in its winner, with what it was told then. Errors: `state` for a generator that throws, naming the
/// iteration; invalid_argument for no generator; those of `propose_again`, for the iterations of the previous winner's
/// members.
expected<std::shared_ptr<const iteration_basis>> basis_of(search_options options, const search_books& books);

/// The specs of the open iteration: those of `specs_of` for its builders. Error: also invalid_argument for a
/// `steps_max` out of range.
expected<iteration_specs> specs_of(const iteration_basis& basis);

/// A variable of the open iteration that begins as one of the previous winner.
struct inherited_variable {
  std::string name = {}, from = {};
  friend bool operator==(const inherited_variable&, const inherited_variable&) = default;
};
struct warm_weights {
  std::vector<inherited_variable> variables = {};
  std::string remark = {};  ///< Why the bias is not inherited; empty if there is nothing to say.
};
/// The mixture weights and the bias with which a candidate begins, by a warm start of its ensembler. `heads` is how
/// many heads have weights of their own. Nothing if the previous ensemble has no weights of the same type.
warm_weights warm_weights_of(const iteration_basis& basis, const candidate_spec& candidate, size_t heads = 1);

}  // namespace troupe
