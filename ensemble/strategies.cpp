#include "ensemble/strategies.hpp"

#include "ensemble/names.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

using names = std::vector<std::string>;
using members = std::vector<ensemble_member>;
using proposals = std::vector<ensemble_candidate>;

template <class List, class Element>
bool contains(const List& list, const Element& element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

/// The first element that equals an earlier one; null if there is none.
template <class List>
const typename List::value_type* repeated(const List& list) {
  for (auto at = list.begin(); at != list.end(); ++at)
    if (std::find(list.begin(), at, *at) != at)
      return &*at;
  return nullptr;
}

tl::unexpected<error> refuse(const std::string& why) { return fail(errc::invalid_argument, why); }

std::string text_of(const ensemble_member& m) {
  return quoted(m.builder) + " of iteration " + std::to_string(m.iteration);
}

std::string list_text(const names& list) { return list.empty() ? "none" : joined(list); }

expected<void> check_builders(const names& builders) {
  if (builders.empty())
    return refuse("the generator returned no builders");
  for (const auto& builder : builders) {
    if (auto right = check_name("the builder", builder); !right)
      return right;
    if (builder == previous_ensemble_name)
      return refuse("the builder " + quoted(builder)
                    + " must have another name: reports use this one for the previous ensemble");
  }
  if (const auto* name = repeated(builders))
    return refuse("two builders have the name " + quoted(*name));
  return {};
}

expected<void> check_candidate(const strategy& from, const ensemble_candidate& c, const names& builders,
                               const members& previous) {
  const auto who = "the candidate " + quoted(c.name) + " of the strategy " + quoted(from.name);
  if (auto right = check_name("a candidate of the strategy " + quoted(from.name), c.name); !right)
    return right;
  if (c.builders.empty() && c.kept.empty())
    return refuse(who + " has no members");
  for (const auto& builder : c.builders)
    if (!contains(builders, builder))
      return refuse(who + " has the unknown builder " + quoted(builder) + "; there are " + list_text(builders));
  for (const auto& member : c.kept)
    if (!contains(previous, member))
      return refuse(who + " keeps " + text_of(member) + ", which the previous ensemble does not have");
  if (const auto* builder = repeated(c.builders))
    return refuse(who + " has the builder " + quoted(*builder) + " twice");
  if (const auto* member = repeated(c.kept))
    return refuse(who + " keeps " + text_of(*member) + " twice");
  return {};
}

expected<proposals> call(const strategy& s, const names& builders, const members& previous) {
  if (!s.candidates)
    return refuse("the strategy " + quoted(s.name) + " has no function");
  return guarded("the strategy " + quoted(s.name), [&] { return s.candidates(builders, previous); });
}

/// Kept members have the order of the previous ensemble.
void sort_kept(ensemble_candidate& c, const members& previous) {
  std::sort(c.kept.begin(), c.kept.end(), [&previous](const ensemble_member& a, const ensemble_member& b) {
    return std::find(previous.begin(), previous.end(), a) < std::find(previous.begin(), previous.end(), b);
  });
}

members of_iteration(const members& all, int64_t iteration) {
  members found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [iteration](const auto& m) { return m.iteration == iteration; });
  return found;
}

/// The members of an ensemble of this candidate.
members members_of(const ensemble_candidate& c, int64_t iteration) {
  members all = c.kept;
  for (const auto& builder : c.builders)
    all.push_back({iteration, builder});
  return all;
}

}  // namespace

strategy strategy::grow() {
  return custom("grow", [](const names& builders, const members& previous) {
    proposals all;
    for (const auto& builder : builders)
      all.push_back({grow_candidate_name(builder), {builder}, previous});
    return all;
  });
}

strategy strategy::solo() {
  return custom("solo", [](const names& builders, const members&) {
    proposals all;
    for (const auto& builder : builders)
      all.push_back({solo_candidate_name(builder), {builder}, {}});
    return all;
  });
}

strategy strategy::all() {
  return custom("all", [](const names& builders, const members& previous) {
    return proposals{{std::string{all_candidate_name}, builders, previous}};
  });
}

strategy strategy::custom(std::string name, function candidates) { return {std::move(name), std::move(candidates)}; }

expected<proposals> propose(const std::vector<strategy>& strategies, const names& builders, const members& previous) {
  if (auto right = check_builders(builders); !right)
    return fail(std::move(right.error()));
  if (strategies.empty())
    return refuse("there is no strategy");
  proposals all;
  names taken;
  for (const auto& s : strategies) {
    auto proposed = call(s, builders, previous);
    if (!proposed)
      return proposed;
    for (auto& candidate : *proposed) {
      if (auto right = check_candidate(s, candidate, builders, previous); !right)
        return fail(std::move(right.error()));
      if (contains(taken, candidate.name))
        return refuse("two candidates have the name " + quoted(candidate.name) + ", the second one of the strategy "
                      + quoted(s.name));
      taken.push_back(candidate.name);
      sort_kept(candidate, previous);
      all.push_back(std::move(candidate));
    }
  }
  if (all.empty())
    return refuse("the strategies propose no candidates");
  return all;
}

expected<ensemble_candidate> propose_again(const std::vector<strategy>& strategies, const architecture& stored,
                                           int64_t iteration, const names& builders, const members& previous) {
  names stored_builders;
  for (const auto& member : of_iteration(stored.members, iteration)) {
    if (!contains(builders, member.builder))
      return fail(errc::failed_precondition,
                  "iteration " + std::to_string(iteration) + " has trained the builder " + quoted(member.builder)
                      + ", which the generator no longer returns: it returns " + list_text(builders));
    stored_builders.push_back(member.builder);
  }
  auto proposed = propose(strategies, stored_builders, previous);
  if (!proposed)
    return fail(std::move(proposed.error()));
  for (auto& candidate : *proposed)
    if (candidate.name == stored.candidate && members_of(candidate, iteration) == stored.members)
      return std::move(candidate);
  return fail(errc::failed_precondition, "the strategies no longer propose the candidate " + quoted(stored.candidate)
                                             + " of iteration " + std::to_string(iteration)
                                             + " with the same members: a strategy is not deterministic");
}

}  // namespace troupe
