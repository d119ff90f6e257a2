#include "ensemble/search_books.hpp"

#include "ensemble/names.hpp"
#include "ensemble/search_json.hpp"
#include "words/expect.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::string builder_of(const search_books::subnetwork& x) { return x.builder; }
std::string builder_of(const subnetwork_spec& x) { return x.builder; }

/// "t0_a_grow_mean (a + b)"
std::string recipe_of(const candidate_spec& x) {
  return x.spec + " (" + joined(x.recipe.members, " + ", [](const ensemble_member& m) { return m.builder; }) + ")";
}
std::string recipe_of(const search_books::candidate& x) { return recipe_of(x.what); }

/// Compares two lists by the texts of their elements.
template <class List, class Others, class TextOf>
expected<void> check_same(int64_t iteration, std::string_view what, const List& known, const Others& others,
                          TextOf text_of) {
  const auto before = joined(known, ", ", text_of), now = joined(others, ", ", text_of);
  if (before == now)
    return {};
  return fail(errc::failed_precondition, ("iteration " + std::to_string(iteration) + " began with the ").append(what)
                                             + " " + before + ", and now has " + now
                                             + ": the generator and the strategies must be deterministic");
}

derived_file mark_of(const search_books& books, const std::string& spec, const spec_stop& stop) {
  return {stop_mark_file(books.iteration(), spec), search_json::text_of({{"message", to_text(stop)}})};
}

}  // namespace

std::optional<previous_ensemble> search_books::previous() const {
  if (winners.empty())
    return std::nullopt;
  return previous_ensemble{winners.back().spec, winners.back().made_in, winners.back().recipe};
}

iteration_progress progress_of(const search_books& books, const iteration_specs& specs, const search_limits& limits) {
  expect(books.subnetworks.size() == specs.subnetworks.size(), "the books of a search lack a subnetwork of its plan");
  iteration_progress x{books.begins_at, books.base_step(), {}};
  for (size_t i = 0; i < books.subnetworks.size(); ++i) {
    const auto& known = books.subnetworks[i];
    const auto& input = specs.subnetworks[i].input_steps;
    const auto wanted = lesser(limits.max_iteration_steps, specs.subnetworks[i].steps_max);
    const bool input_ends = input && (!wanted || *input < *wanted);
    x.subnetworks.push_back(
        {known.step, lesser(wanted, input), known.stop, input_ends ? stop_cause::end_of_input : stop_cause::complete});
  }
  return x;
}

std::vector<contender> contenders_of(const search_books& books) {
  std::vector<contender> all;
  for (const auto& c : books.candidates) {
    all.push_back({c.what.spec, c.average, c.what.complexity});
    if (c.stop && c.stop->cause == stop_cause::dropped)
      all.back().dropped = to_text(*c.stop);
  }
  return all;
}

std::map<std::string, loss_average> told_averages(const search_books& books,
                                                  const std::map<std::string, double>& told) {
  std::map<std::string, loss_average> all;
  for (const auto& c : books.candidates) {
    const auto keys = loss_average_keys_of(books.iteration(), c.what.spec);
    const auto value = told.find(keys.value), biased = told.find(keys.biased), count = told.find(keys.count);
    const auto penalty = told.find(keys.penalty);
    if (value != told.end() && biased != told.end() && count != told.end())
      all[c.what.spec] = {static_cast<float>(value->second), static_cast<float>(biased->second),
                          static_cast<int64_t>(count->second),
                          penalty == told.end() ? 0 : static_cast<float>(penalty->second)};
  }
  return all;
}

std::optional<std::string> leader_by_average(choice_rules rules, search_books books,
                                             const std::map<std::string, double>& told,
                                             const std::set<std::string>& left) {
  rules.evaluator.reset();
  const auto averages = told_averages(books, told);
  for (auto& c : books.candidates) {
    if (const auto known = averages.find(c.what.spec); known != averages.end())
      c.average = known->second;
    if (left.contains(c.what.spec))
      c.stop = spec_stop{.cause = stop_cause::dropped};
  }
  const auto chosen = choose(rules, books.iteration(), contenders_of(books));
  return chosen ? std::optional{books.candidates[chosen->winner].what.spec} : std::nullopt;
}

expected<void> enter_specs(search_books& books, const iteration_specs& specs) {
  if (!books.subnetworks.empty()) {
    const auto right = check_same(books.iteration(), "subnetworks", books.subnetworks, specs.subnetworks,
                                  [](const auto& x) { return builder_of(x); });
    return right ? check_same(books.iteration(), "candidates", books.candidates, specs.candidates,
                              [](const auto& x) { return recipe_of(x); })
                 : right;
  }
  for (const auto& subnetwork : specs.subnetworks)
    books.subnetworks.push_back({.builder = subnetwork.builder});
  for (const auto& candidate : specs.candidates)
    books.candidates.push_back({.what = candidate});
  if (!books.winners.empty())
    books.candidates.front().average = books.winners.back().average;
  return {};
}

search_books grown(const search_books& books, const choice& chosen, std::vector<materialized_report> reports) {
  const auto& won = books.candidates.at(chosen.winner);
  const auto previous = books.previous();
  const bool is_previous = previous && chosen.winner == 0;
  search_books next{.begins_at = books.tick,
                    .tick = books.tick,
                    .global_step = books.global_step,
                    .winners = books.winners,
                    .reports = books.reports};
  auto recipe = won.what.recipe;
  recipe.iteration = books.iteration();
  recipe.global_step = books.global_step;
  recipe.replay_indices = replay_with(previous ? std::optional{previous->recipe} : std::nullopt,
                                      static_cast<int64_t>(chosen.winner));
  if (!reports.empty())
    put_reports(next.reports, books.iteration(), std::move(reports), recipe);
  next.winners.push_back({won.what.spec, is_previous ? previous->made_in : books.iteration(), std::move(recipe),
                          won.average, chosen.why, chosen.candidates});
  return next;
}

search_books as_begun(const search_books& books) {
  search_books begun{.begins_at = books.begins_at,
                     .tick = books.begins_at,
                     .global_step = books.base_step(),
                     .winners = books.winners,
                     .reports = books.reports};
  begun.reports.resize(std::min(begun.reports.size(), begun.winners.size()));
  return begun;
}

std::map<std::string, int64_t> numbers_of(const search_books& books) {
  const auto t = books.iteration();
  std::map<std::string, int64_t> all{{std::string{global_step_key}, books.global_step},
                                     {std::string{current_iteration_key}, t}};
  for (const auto& s : books.subnetworks)
    all[subnetwork_step_key(t, s.builder)] = s.step;
  for (size_t i = books.winners.empty() ? 0 : 1; i < books.candidates.size(); ++i) {
    const auto& c = books.candidates[i];
    const auto ticks = books.tick - books.begins_at;
    all[ensemble_step_key(t, c.what.spec)] = c.stop ? std::min(ticks, c.stop->step) : ticks;
  }
  return all;
}

std::vector<derived_file> derived_files(const search_books& books) {
  std::vector<derived_file> files;
  for (const auto& winner : books.winners)
    files.push_back({architecture_file(winner.recipe.iteration), architecture_text(winner.recipe)});
  if (!books.reports.empty())
    files.push_back({std::string{reports_file}, reports_text(books.reports)});
  for (const auto& subnetwork : books.subnetworks)
    if (subnetwork.stop)
      files.push_back(mark_of(books, subnetwork_spec_name(books.iteration(), subnetwork.builder), *subnetwork.stop));
  for (const auto& candidate : books.candidates)
    if (candidate.stop)
      files.push_back(mark_of(books, candidate.what.spec, *candidate.stop));
  return files;
}

}  // namespace troupe
