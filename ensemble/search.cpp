#include "ensemble/search.hpp"

#include "ensemble/architecture.hpp"
#include "ensemble/names.hpp"
#include "words/expect.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The stop of a spec for which another one was known, the same in whatever order they are heard. A drop is final, as
/// there are no good numbers after it, and keeps the stop that would have been; of two of a kind the first counts.
void enter_stop(std::optional<spec_stop>& known, spec_stop stop) {
  if (!known) {
    known = std::move(stop);
    return;
  }
  auto& now = *known;
  const bool was_dropped = now.cause == stop_cause::dropped, is_dropped = stop.cause == stop_cause::dropped;
  if (was_dropped == is_dropped) {
    if (stop.step >= now.step)
      return;
    stop.otherwise = std::move(now.otherwise);
    now = std::move(stop);
  } else if (is_dropped) {
    stop.otherwise = spec_stop::other{now.cause, now.step, std::move(now.detail)};
    now = std::move(stop);
  } else if (!now.otherwise || stop.step < now.otherwise->step) {
    now.otherwise = spec_stop::other{stop.cause, stop.step, std::move(stop.detail)};
  }
}

constexpr std::string_view falls_with = "it reads ";

/// An ensemble falls with a subnetwork. Its own numbers, or another subnetwork's, may have been bad in the same step;
/// which of them is heard first depends on the schedule, and the books do not: a subnetwork counts, the first by name.
void enter_fall(std::optional<spec_stop>& known, int64_t steps, std::string_view subnetwork) {
  spec_stop fall{stop_cause::dropped, steps, std::string{falls_with} + std::string{subnetwork}};
  const bool at_once = known && known->cause == stop_cause::dropped && known->step == steps;
  if (at_once && (!known->detail.starts_with(falls_with) || fall.detail < known->detail))
    known->detail = std::move(fall.detail);
  else
    enter_stop(known, std::move(fall));
}

/// Books at an earlier state than a drop do not know it.
void forget_later_drop(std::optional<spec_stop>& stop, int64_t ticks) {
  if (!stop || stop->cause != stop_cause::dropped || stop->step <= ticks)
    return;
  auto other = std::move(stop->otherwise);
  stop.reset();
  if (other)
    stop = spec_stop{other->cause, other->step, std::move(other->detail)};
}

/// Specs without a known stop that have made all their steps are complete.
void complete(std::optional<spec_stop>& stop, const std::optional<int64_t>& limit, int64_t step, stop_cause cause) {
  if (!stop && limit && step >= *limit)
    stop = spec_stop{cause, step};
}

}  // namespace

expected<void> validate(const search_rules& rules) {
  if (auto right = validate(rules.limits); !right)
    return right;
  return validate(rules.choice);
}

// -- beginning ---------------------------------------------------------------------------

expected<void> search::begin(search_books books, iteration_specs specs) {
  if (auto right = enter_specs(books, specs); !right)
    return right;
  now_ = std::move(books);
  specs_ = std::move(specs);
  saved_.clear();
  input_end_.reset();
  chosen_.reset();
  scores_at_end_.reset();
  last_commit_ = now_.tick;
  last_reached_ = {now_.tick, now_.global_step};
  if (!std::exchange(has_goal_, true))
    goal_ = goal_of(rules_.limits, now_.global_step);
  const auto limits = progress().subnetworks;
  for (size_t i = 0; i < limits.size(); ++i)
    complete(now_.subnetworks[i].stop, limits[i].limit, limits[i].step,
             limits[i].at_limit == stop_cause::complete ? stop_cause::already_complete : limits[i].at_limit);
  return settle();
}

// -- training ----------------------------------------------------------------------------

/// The tick at which training ends next, by what is known. The last subnetwork may have stopped at an earlier tick than
/// others have reached.
expected<std::optional<int64_t>> search::horizon() const {
  auto until = lesser(over_at(), input_end_);
  if (stop_)
    until = lesser(until, stop_->tick);
  if (goal_) {
    const auto end = reaches(progress(), last_reached_.tick, *goal_, rules_.limits.combine);
    if (!end)
      return end;
    until = lesser(until, *end);
  }
  return until ? std::optional{std::max(*until, last_reached_.tick)} : until;
}

/// After each event of training: either it goes on, or its last state is committed already.
expected<void> search::settle() {
  const auto until = horizon();
  if (!until)
    return fail(until.error());
  if (*until == last_commit_)
    return end_stretch();
  wanted_ = train_until{now_.iteration(), now_.begins_at, *until};
  return {};
}

expected<int64_t> search::global_step_at(int64_t tick) const {
  return troupe::global_step_at(progress(), tick, rules_.limits.combine);
}

expected<void> search::reached(int64_t tick) {
  if (tick <= last_reached_.tick)
    return {};
  const auto step = global_step_at(tick);
  if (!step)
    return fail(step.error());
  const auto right = check_rise(last_reached_, {tick, *step});
  last_reached_ = {tick, *step};
  return right;
}

/// Of a subnetwork or a candidate; null if the open iteration has no such spec.
template <class Iteration>
static auto find_stop(Iteration& now, std::string_view spec) -> decltype(&now.candidates[0].stop) {
  for (auto& subnetwork : now.subnetworks)
    if (subnetwork_spec_name(now.iteration(), subnetwork.builder) == spec)
      return &subnetwork.stop;
  for (auto& candidate : now.candidates)
    if (candidate.what.spec == spec)
      return &candidate.stop;
  return nullptr;
}

std::optional<spec_stop>& search::entry_of(std::string_view spec) {
  if (auto* const stop = find_stop(now_, spec))
    return *stop;
  throw broken_invariant{"a spec of another iteration has stopped"};
}

std::optional<spec_stop> search::stop_of(std::string_view spec) const {
  const auto* const stop = find_stop(now_, spec);
  return stop ? *stop : std::nullopt;
}

expected<void> search::stopped(std::string_view spec, spec_stop stop) {
  enter_stop(entry_of(spec), std::move(stop));
  return std::holds_alternative<train_until>(wanted_) ? settle() : expected<void>{};
}

expected<void> search::dropped(std::string_view spec, int64_t tick, std::string why) {
  const int64_t steps = tick - now_.begins_at;
  const auto own = progress().subnetworks;
  for (size_t i = 0; i < own.size(); ++i)
    if (auto& x = now_.subnetworks[i]; subnetwork_spec_name(now_.iteration(), x.builder) == spec) {
      // It may have made all its steps before, and is dropped for what it computes since.
      complete(x.stop, own[i].limit, step_at(own[i], now_.begins_at, tick), own[i].at_limit);
      for (const size_t reader : readers_of(specs_, now_.iteration(), x.builder))
        enter_fall(now_.candidates[reader].stop, steps, spec);
    }
  enter_stop(entry_of(spec), {stop_cause::dropped, steps, std::move(why)});
  if (auto right = check_candidates(); !right)
    return right;
  return std::holds_alternative<train_until>(wanted_) ? settle() : expected<void>{};
}

bool search::has_left(std::string_view spec, int64_t tick) const {
  const auto left = [&](const std::string& name, const std::optional<spec_stop>& stop) {
    return name == spec && stop && stop->cause == stop_cause::dropped && now_.begins_at + stop->step <= tick;
  };
  return std::any_of(now_.subnetworks.begin(), now_.subnetworks.end(),
                     [&](const auto& x) { return left(subnetwork_spec_name(now_.iteration(), x.builder), x.stop); })
         || std::any_of(now_.candidates.begin(), now_.candidates.end(),
                        [&](const auto& x) { return left(x.what.spec, x.stop); });
}

expected<void> search::check_candidates() const {
  const auto is_dropped = [](const auto& x) { return x.stop && x.stop->cause == stop_cause::dropped; };
  if (!std::all_of(now_.candidates.begin(), now_.candidates.end(), is_dropped))
    return {};
  std::string spec;
  const spec_stop* first = nullptr;
  const auto consider = [&](const std::string& name, const auto& x) {
    if (is_dropped(x) && (!first || x.stop->step < first->step))
      spec = name, first = &*x.stop;
  };
  for (const auto& subnetwork : now_.subnetworks)
    consider(subnetwork_spec_name(now_.iteration(), subnetwork.builder), subnetwork);
  for (const auto& candidate : now_.candidates)
    consider(candidate.what.spec, candidate);
  return fail(errc::nan_loss, "no candidate of iteration " + std::to_string(now_.iteration())
                                  + " is left; the first to leave was " + quoted(spec) + ", " + to_text(*first));
}

expected<void> search::input_ended(int64_t tick) {
  input_end_ = tick;
  return std::holds_alternative<train_until>(wanted_) ? settle() : expected<void>{};
}

expected<void> search::stop(int64_t tick, std::string why) {
  if (!stop_)
    stop_ = stop_request{tick, std::move(why)};
  if (std::holds_alternative<end_search>(wanted_))
    return {};
  if (std::holds_alternative<train_until>(wanted_))
    return settle();
  return end(end_search::cause::stopped);
}

// -- commits -----------------------------------------------------------------------------

expected<void> search::measured(int64_t tick, std::map<std::string, loss_average> averages) {
  const auto step = global_step_at(tick);
  if (!step)
    return fail(step.error());
  saved_.insert_or_assign(tick, saved_state{std::move(averages), *step});
  return reached(tick);
}

search_books search::books_at(int64_t tick) const {
  const auto known = saved_.find(tick);
  expect(known != saved_.end() || tick == now_.tick, "a search is to save a state that was not measured");
  auto books = now_;
  books.tick = tick;
  if (known != saved_.end())
    books.global_step = known->second.global_step;
  const auto own = progress().subnetworks;
  for (size_t i = 0; i < books.subnetworks.size(); ++i) {
    auto& x = books.subnetworks[i];
    x.step = made_at(own[i], now_.begins_at, tick);
    forget_later_drop(x.stop, tick - now_.begins_at);
    complete(x.stop, own[i].limit, x.step, own[i].at_limit);
  }
  for (size_t i = now_.winners.empty() ? 0 : 1; i < books.candidates.size(); ++i) {
    auto& x = books.candidates[i];
    forget_later_drop(x.stop, tick - now_.begins_at);
    complete(x.stop, rules_.limits.max_iteration_steps, tick - now_.begins_at, stop_cause::complete);
    if (x.stop && x.stop->cause == stop_cause::dropped)
      x.average = {};  // Its last value is not known in every attempt.
    else if (known != saved_.end() && known->second.averages.contains(x.what.spec))
      x.average = known->second.averages.at(x.what.spec);
  }
  return books;
}

expected<void> search::committed(int64_t tick) {
  expect(tick == now_.tick || saved_.contains(tick), "a search is told of a commit that was not measured");
  last_commit_ = tick;
  saved_.erase(saved_.begin(), saved_.lower_bound(tick));
  return std::holds_alternative<train_until>(wanted_) ? settle() : expected<void>{};
}

expected<next_phase> search::phase_at(int64_t tick) const {
  const auto over = over_at();
  const auto step = global_step_at(tick);
  if (!step)
    return fail(step.error());
  return phase_after(rules_.limits, goal_,
                     {.iteration = now_.iteration(),
                      .global_step = *step,
                      .is_over = over && *over <= tick,
                      .was_stopped = was_stopped_by(tick)});
}

std::optional<std::string> search::leader() const {
  auto rules = rules_.choice;
  if (!scores_at_end_)
    rules.evaluator.reset();
  const auto books = books_at(last_commit_);
  const auto chosen = choose(rules, now_.iteration(), contenders_of(books),
                             scores_at_end_.value_or(candidate_scores{}));
  return chosen ? std::optional{books.candidates[chosen->winner].what.spec} : std::nullopt;
}

expected<std::string> search::leader_of(const std::vector<contender>& all, const candidate_scores& scores) const {
  return choose(rules_.choice, iteration(), all, scores).map([&](const choice& chosen) {
    return all[chosen.winner].spec;
  });
}

std::optional<search_result> search::result() const {
  const auto spec = leader();
  const auto books = books_at(last_commit_);
  if (!spec)
    return std::nullopt;
  search_result made{.spec = *spec, .iteration = books.iteration()};
  const auto previous = books.previous();
  for (size_t i = 0; i < books.candidates.size(); ++i)
    if (const auto& what = books.candidates[i].what; what.spec == *spec) {
      made.winner = what.recipe;
      made.replay_indices = replay_with(previous ? std::optional{previous->recipe} : std::nullopt,
                                        static_cast<int64_t>(i));
    }
  return made;
}

bool search::goes_on_after(int64_t tick) const {
  const auto phase = phase_at(tick);
  return phase && *phase == next_phase::choose;
}

/// The last state of a stretch of training is committed.
expected<void> search::end_stretch() {
  const auto phase = phase_at(last_commit_);
  if (!phase)
    return fail(phase.error());
  switch (*phase) {
    case next_phase::max_steps: return end(end_search::cause::max_steps);
    case next_phase::max_iterations: return end(end_search::cause::max_iterations);
    case next_phase::open:
      return end(was_stopped_by(last_commit_) ? end_search::cause::stopped : end_search::cause::input_ended);
    case next_phase::choose: break;
  }
  if (wants_scores(rules_.choice, now_.iteration(), contenders_of(books_at(last_commit_)))) {
    wanted_ = score_candidates{{last_commit_, now_.iteration()}};
    return {};
  }
  return choose_winner({});
}

expected<void> search::end(end_search::cause why) {
  const auto books = books_at(last_commit_);
  end_search x{.why = why};
  switch (why) {
    case end_search::cause::max_steps: x.text = "max_steps"; break;
    case end_search::cause::max_iterations: x.text = "max_iterations"; break;
    case end_search::cause::input_ended: x.text = "the input has ended"; break;
    case end_search::cause::stopped: x.text = stop_->why; break;
  }
  x.text += ": the global step is " + std::to_string(books.global_step) + " in iteration "
            + std::to_string(books.iteration());
  if (why == end_search::cause::max_iterations && rules_.limits.steps)
    x.warning = "max_iterations comes before steps: " + std::to_string(*goal_ - books.global_step) + " of "
                + std::to_string(*rules_.limits.steps) + " steps are not made";
  wanted_ = std::move(x);
  return {};
}

// -- between two iterations --------------------------------------------------------------

expected<void> search::choose_winner(const candidate_scores& scores) {
  auto chosen = choose(rules_.choice, now_.iteration(), contenders_of(books_at(last_commit_)), scores);
  if (!chosen)
    return fail(std::move(chosen.error()));
  chosen_ = std::move(*chosen);
  if (rules_.makes_reports)
    wanted_ = report_specs{{last_commit_, now_.iteration()}};
  else
    grow({});
  return {};
}

expected<void> search::scored(const candidate_scores& scores) {
  if (std::holds_alternative<score_candidates>(wanted_))
    return choose_winner(scores);
  if (!scores_at_end())
    return {};
  auto chosen = choose(rules_.choice, now_.iteration(), contenders_of(books_at(last_commit_)), scores);
  if (!chosen)
    return fail(std::move(chosen.error()));
  scores_at_end_ = scores;
  return {};
}

std::optional<checkpoint_id> search::scores_at_end() const {
  const bool needed = std::holds_alternative<end_search>(wanted_) && !scores_at_end_
                      && wants_scores(rules_.choice, now_.iteration(), contenders_of(books_at(last_commit_)));
  return needed ? std::optional{checkpoint_id{last_commit_, now_.iteration()}} : std::nullopt;
}

void search::reported(std::vector<materialized_report> reports) {
  if (std::holds_alternative<report_specs>(wanted_))
    grow(std::move(reports));
}

void search::grow(std::vector<materialized_report> reports) {
  wanted_ = grow_into{*chosen_, grown(books_at(last_commit_), *chosen_, std::move(reports))};
}

}  // namespace troupe
