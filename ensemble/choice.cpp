#include "ensemble/choice.hpp"

#include "words/expect.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

using contenders = std::vector<contender>;

constexpr std::string_view excluded_text = "force_grow excludes the previous ensemble";

/// The candidates that have not left.
std::vector<size_t> remaining(const contenders& all) {
  std::vector<size_t> found;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].dropped)
      found.push_back(i);
  return found;
}

bool has_replay(const choice_rules& rules, int64_t iteration) {
  return static_cast<size_t>(iteration) < rules.replay.size();
}

bool excludes_previous(const choice_rules& rules, int64_t iteration) { return rules.force_grow && iteration > 0; }

/// The candidate of rule 2 or 3.
std::optional<size_t> only_one(const choice_rules& rules, int64_t iteration, const contenders& all) {
  const auto left = remaining(all);
  if (left.size() == 1)
    return left[0];
  if (left.size() == 2 && left[0] == 0 && excludes_previous(rules, iteration))
    return left[1];
  return std::nullopt;
}

/// A choice in which candidates that have left have lost, and all others have not yet.
choice begin_choice(const contenders& all) {
  choice c;
  for (const auto& candidate : all)
    c.candidates.push_back({candidate.spec,
                            {},
                            candidate.dropped ? "it has left: " + *candidate.dropped : "",
                            terms_of(candidate.average),
                            candidate.complexity});
  return c;
}

/// Those for which no other reason is known have lost for this one.
choice end_choice(choice c, size_t winner, std::string why, const std::string& lost) {
  for (size_t i = 0; i < c.candidates.size(); ++i)
    if (i != winner && c.candidates[i].lost.empty())
      c.candidates[i].lost = lost;
  c.winner = winner;
  c.why = std::move(why);
  return c;
}

std::string replay_place(const choice_rules& rules, int64_t iteration) {
  return "replay index " + std::to_string(rules.replay[static_cast<size_t>(iteration)]) + " of iteration "
         + std::to_string(iteration);
}

expected<choice> replayed(const choice_rules& rules, int64_t iteration, const contenders& all) {
  if (auto right = check_replay(rules, iteration, all.size()); !right)
    return fail(std::move(right.error()));
  const int64_t index = rules.replay[static_cast<size_t>(iteration)];
  const auto place = replay_place(rules, iteration);
  const auto winner = static_cast<size_t>(index);
  if (all[winner].dropped)
    return fail(errc::invalid_argument,
                place + ": the candidate " + quoted(all[winner].spec) + " has left: " + *all[winner].dropped);
  return end_choice(begin_choice(all), winner, place, place + " chooses " + quoted(all[winner].spec));
}

choice decided_without_scores(size_t winner, const contenders& all) {
  auto c = begin_choice(all);
  if (remaining(all).size() == 1)
    return end_choice(std::move(c), winner, "the only candidate", "");
  return end_choice(std::move(c), winner, "the only new candidate, under force_grow", std::string{excluded_text});
}

/// How scores are compared, and their name in messages.
struct comparison {
  std::string name;
  objective goal = objective::minimize;

  bool is_better(double a, double b) const { return goal == objective::minimize ? a < b : a > b; }
  std::string best() const { return (goal == objective::minimize ? "the least " : "the greatest ") + name; }
};

/// Averages are float32; more digits would say nothing.
std::string score_text(double score) {
  const auto single = static_cast<float>(score);
  return static_cast<double>(single) == score ? shortest_text(single) : shortest_text(score);
}

std::string lost_text(const comparison& by, const choice& c, size_t loser, size_t winner) {
  const double own = *c.candidates[loser].score, best = *c.candidates[winner].score;
  const auto& spec = c.candidates[winner].spec;
  if (own == best)
    return "its " + by.name + " is equal to that of " + quoted(spec) + ", which comes first";
  return "its " + by.name + " is " + score_text(own) + ", that of the winner " + score_text(best);
}

/// The best of the candidates that have a score and have not lost.
expected<choice> best_of(choice c, const comparison& by) {
  std::optional<size_t> best;
  for (size_t i = 0; i < c.candidates.size(); ++i) {
    auto& candidate = c.candidates[i];
    if (!candidate.lost.empty())
      continue;
    if (std::isnan(*candidate.score))
      candidate.lost = "its " + by.name + " is not a number";
    else if (!best || by.is_better(*candidate.score, *c.candidates[*best].score))
      best = i;
  }
  if (!best) {
    const auto reasons = joined(c.candidates, "; ", [](const choice::entry& e) { return e.spec + ": " + e.lost; });
    return fail(errc::nan_loss, "no candidate can win: " + reasons);
  }
  for (size_t i = 0; i < c.candidates.size(); ++i)
    if (i != *best && c.candidates[i].lost.empty())
      c.candidates[i].lost = lost_text(by, c, i, *best);
  return end_choice(c, *best, by.best() + ", " + score_text(*c.candidates[*best].score), "");
}

tl::unexpected<error> missing_metric(const std::string& spec, const std::string& metric,
                                     const std::map<std::string, double>& metrics) {
  const auto names = joined(metrics, ", ", [](const auto& m) { return std::string_view{m.first}; });
  return fail(errc::key_missing, "the candidate " + quoted(spec) + " has no metric " + quoted(metric) + "; it has "
                                     + (names.empty() ? "none" : names));
}

std::optional<objective_terms> terms_in(const std::map<std::string, double>& metrics) {
  const auto loss = metrics.find("loss"), all = metrics.find("adanet_loss");
  if (loss == metrics.end() || all == metrics.end())
    return std::nullopt;
  return objective_terms{loss->second, all->second - loss->second};
}

expected<choice> best_score(const metric_rule& rule, choice c, const candidate_scores& scores) {
  expect(scores.size() == c.candidates.size(), "there are not as many scores as candidates");
  for (size_t i = 0; i < c.candidates.size(); ++i) {
    c.candidates[i].terms = terms_in(scores[i]);
    const auto found = scores[i].find(rule.metric);
    if (found != scores[i].end())
      c.candidates[i].score = found->second;
    else if (c.candidates[i].lost.empty())
      return missing_metric(c.candidates[i].spec, rule.metric, scores[i]);
  }
  return best_of(std::move(c), {rule.metric + " of the evaluation", rule.goal});
}

expected<choice> least_average(choice c, const contenders& all) {
  bool any_updated = false;
  for (size_t i = 0; i < all.size(); ++i)
    any_updated |= c.candidates[i].lost.empty() && all[i].average.count > 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (any_updated && all[i].average.count == 0 && c.candidates[i].lost.empty())
      c.candidates[i].lost = "its moving average was never updated";
    else if (!all[i].dropped)
      c.candidates[i].score = static_cast<double>(all[i].average.value);
  }
  return best_of(std::move(c), {"moving average of the AdaNet loss"});
}

}  // namespace

std::optional<objective_terms> terms_of(const loss_average& average) {
  if (average.count == 0)
    return std::nullopt;
  // In float32, as the averages are; more digits would say nothing.
  return objective_terms{static_cast<double>(average.value - average.penalty), static_cast<double>(average.penalty)};
}

expected<void> validate(const choice_rules& rules) {
  for (const int64_t index : rules.replay)
    if (index < 0)
      return fail(errc::invalid_argument, "an index of the replay must be at least 0, not " + std::to_string(index));
  if (rules.evaluator && rules.evaluator->metric.empty())
    return fail(errc::invalid_argument, "the evaluator has no metric");
  return {};
}

expected<void> check_replay(const choice_rules& rules, int64_t iteration, size_t candidates) {
  if (!has_replay(rules, iteration) || rules.replay[static_cast<size_t>(iteration)] < static_cast<int64_t>(candidates))
    return {};
  return fail(errc::invalid_argument, replay_place(rules, iteration) + ": there are only " + std::to_string(candidates)
                                          + " candidates, from index 0 on");
}

bool wants_scores(const choice_rules& rules, int64_t iteration, const contenders& all) {
  return !has_replay(rules, iteration) && rules.evaluator && remaining(all).size() > 1
         && !only_one(rules, iteration, all);
}

expected<choice> choose(const choice_rules& rules, int64_t iteration, const contenders& all,
                        const candidate_scores& scores) {
  if (has_replay(rules, iteration))
    return replayed(rules, iteration, all);
  if (const auto winner = only_one(rules, iteration, all))
    return decided_without_scores(*winner, all);
  auto c = begin_choice(all);
  if (excludes_previous(rules, iteration) && !all[0].dropped)
    c.candidates[0].lost = excluded_text;
  return rules.evaluator ? best_score(*rules.evaluator, std::move(c), scores) : least_average(std::move(c), all);
}

}  // namespace troupe
