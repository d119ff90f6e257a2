// Strategies: which subnetworks form the candidates of an iteration of a search.
// Not needed to begin with.
//
//   tr::search_options{.ensemble_strategies = {tr::strategy::grow(), tr::strategy::all()}}
#pragma once

#include <troupe/search/architecture.hpp>

#include <functional>

namespace troupe {

/// A group of subnetworks, before an ensembler makes an ensemble of them.
struct ensemble_candidate {
  std::string name = {};
  std::vector<std::string> builders = {};  ///< Of this iteration.
  std::vector<ensemble_member> kept = {};  ///< Of the previous ensemble.
  friend bool operator==(const ensemble_candidate&, const ensemble_candidate&) = default;
};

/// A pure function from the builders of an iteration and the members of the previous ensemble to candidates. Their
/// names, like those of builders and ensemblers, consist of ASCII letters, digits and "_.-/". Wrong candidates are an
/// error of the search that names strategy and candidate (invalid_argument).
struct TROUPE_API strategy {
  using function = std::function<std::vector<ensemble_candidate>(const std::vector<std::string>& builders,
                                                                 const std::vector<ensemble_member>& previous)>;
  std::string name = {};  ///< For messages.
  function candidates = {};

  /// For each builder "<builder>_grow": the previous ensemble and this builder. The default.
  static strategy grow();
  /// For each builder "<builder>_solo": this builder alone.
  static strategy solo();
  /// One candidate, "all": the previous ensemble and all builders.
  static strategy all();
  /// Must return the same for the same arguments, because past iterations are proposed again. A candidate that keeps a
  /// part of the previous ensemble prunes it.
  static strategy custom(std::string name, function candidates);
};

}  // namespace troupe
