// Turns [search], with [head], into the options of a search.
#pragma once

#include "cli/configuration/search_fields.hpp"
#include "cli/configuration/settings.hpp"

#include <troupe/search/searcher.hpp>

namespace troupe::cli {

struct search_setup {
  search_options options;                               ///< Complete, except for the evaluator.
  std::optional<choose_by_evaluation> evaluation = {};  ///< If search.choose.by is "evaluation".
  bool ends = false;                                    ///< The number of iterations and the steps of each are limited.
};

/// Whether a key of [search] was given.
bool is_search(const settings& given);

/// invalid_argument: no networks, or both a generator and builders; a missing key; a key of another kind of generator,
/// ensembler or choice; a key of [model], [optimizer] or [warm_start]; two equal names; options that `validate`
/// refuses.
expected<search_setup> make_search(const settings& given);

}  // namespace troupe::cli
