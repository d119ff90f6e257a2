// The chief of a search: what happens goes to the search, and the chief follows what that wants.
//
//   restored ──► begin ──► reached, measured with each save, committed ──► the end of the iteration is committed
//      ▲                                                                          │ grow_into: the winner is chosen
//      └── restore ◄── adopt ◄── prepared ◄── prepare, from the grown books ◄─────┘
//
// A choice becomes final with the first commit of the next iteration, which has the grown books. Until then a job that
// is interrupted finds the books of the complete iteration, and makes the same choice again.
#include "actors/chief/chief_subjects.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// A group that stops or leaves may end the iteration before its plan does.
static void follow_iteration(chief_state& c) {
  const auto over = c.searching.over_at();
  auto& ends_at = c.options.stored.iteration.ends_at;
  if (over && (ends_at || c.searching.goes_on_after(*over)))
    ends_at = over;
  else if (ends_at)
    ends_at = INT64_MAX;
}

bool begin_search(chief_state& c, const restored& x) {
  if (!c.searching.on())
    return true;
  auto begun = c.searching.begin(x.found ? std::optional{x.id} : std::nullopt, x.blobs, x.prefix);
  if (!begun)
    fail_after_save(c, std::move(begun.error()));
  else
    follow_iteration(c);
  return begun.has_value();
}

void follow_search(chief_state& c, const expected<void>& outcome) {
  if (!outcome)
    return fail_now(c, outcome.error());
  follow_iteration(c);
  if (const auto* end = c.searching.ends(); end && !end->warning.empty() && c.told.warnings.insert(end->warning).second)
    c.warn(c.searching.last_commit(), end->warning);
  const auto end_at = c.searching.ends_at();
  if (c.now != chief_phase::training || c.ending.fails() || c.ending.stops() || !end_at || end_at == c.horizon.end())
    return;
  if (*end_at > c.horizon.until())
    c.horizon.end_at(*end_at, job_end::finished);
  else
    drain(c, c.horizon.until(), job_end::finished);
}

bool enter_search_books(chief_state& c, int64_t step, snapshot_part& part) {
  if (!c.searching.on())
    return true;
  if (step != c.horizon.began_at())
    if (auto known = c.searching.measured(step, c.told_of_groups.at(step)); !known) {
      c.saves.cancel_all();  // They would be without books.
      fail_now(c, std::move(known.error()));
      return false;
    }
  part.blobs.merge(c.searching.blobs_at(step));
  part.numbers = c.searching.numbers_at(step);
  return true;
}

static void tell_choice(chief_state& c, const grow_into& next) {
  job_event e{.what = job_event::kind::chosen, .step = next.books.tick};
  e.text = next.books.winners.back().spec + " wins iteration " + std::to_string(next.books.iteration() - 1) + ": "
           + next.chosen.why;
  for (const auto& candidate : next.chosen.candidates)
    if (candidate.score)
      e.metrics[candidate.spec] = *candidate.score;
  c.publish(std::move(e));
}

void tell_growth(chief_state& c) {
  if (!c.searching.on())
    return;
  auto text = "iteration " + std::to_string(c.searching.iteration()) + " begins at step "
              + std::to_string(c.horizon.began_at());
  for (const auto& remark : c.options.remarks)
    text += "; " + remark;
  c.publish({.what = job_event::kind::grown, .step = c.horizon.began_at(), .text = std::move(text)});
}

bool demands_evaluation(const chief_state& c) {
  return c.searching.on() && !c.ending.fails() && !c.ending.stops() && c.saves.last_commit() && c.searching.demanded()
         && c.searching.demanded()->commit == *c.saves.last_commit();
}

static error lost_evaluation(const chief_state& c) {
  return {errc::aborted,
          "the search cannot end iteration " + std::to_string(c.searching.iteration())
              + ": the evaluator that it needs is lost",
          {},
          c.options.name,
          c.horizon.reached()};
}

static void ask_evaluator(chief_state& c, size_t which, checkpoint_id commit) {
  c.evaluations.at(which).demand(commit);
  send_evaluation(c, which, commit);
}

bool evaluate_on_demand(chief_state& c) {
  const auto known = c.searching.answer_by_scores();
  if (!known)
    fail_after_save(c, known.error());
  if (!known || *known)
    return true;
  const auto wanted = *c.searching.demanded();
  const auto which = c.evaluations.demanded_for(wanted.purpose);
  if (!which || !c.evaluator(*which)) {
    fail_after_save(c, lost_evaluation(c));
    return true;
  }
  if (c.evaluations.at(*which).running())
    return false;  // Perhaps asked by an attempt before: it is answered, or its wait ends.
  ask_evaluator(c, *which, wanted.commit);
  return true;
}

std::optional<bool> find_leader(chief_state& c, checkpoint_id commit) {
  const auto which = c.evaluations.demanded_for(evaluation_purpose::choice);
  if (!c.searching.on() || c.ending.fails() || !which || !c.evaluator(*which) || !c.searching.lacks_scores(commit))
    return std::nullopt;
  if (c.evaluations.at(*which).running())
    return false;
  ask_evaluator(c, *which, commit);
  return true;
}

void on_demanded(chief_state& c, const evaluated& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  const auto id = c.evaluations.at(which).end();
  c.disarm(evaluation_wait(which));
  const auto purpose = c.evaluations.settings(which).purpose;
  const auto wanted = c.searching.demanded();
  const bool answers = wanted && id == wanted->commit && purpose == wanted->purpose && !c.ending.stops();
  const bool shows = id && purpose == evaluation_purpose::choice && c.searching.lacks_scores(*id);
  if (id)
    release(c, *id);  // Unless the evaluation that waits for this one needs the checkpoint.
  if (c.ending.fails() || (!answers && !shows) || (!x.ok && c.ending.cause() == end_cause::signal))
    return;
  auto heard = x.ok ? expected<void>{} : fail(x.cause);
  if (heard && shows)
    heard = c.searching.scored(id->step, x.metrics);
  if (!heard && !answers) {
    c.searching.cannot_score(id->step);
    return c.warn(id->step, "the candidates cannot be compared at step " + to_string(*id)
                                + ", so evaluations show the one that leads by its average: " + to_text(heard.error()));
  }
  if (heard && answers)
    heard = c.searching.evaluated(x.metrics);
  if (heard)
    return;
  heard.error().notes.push_back("while evaluating the candidates of iteration "
                                + std::to_string(c.searching.iteration()) + " (" + c.evaluations.settings(which).name
                                + ")");
  heard.error().step = id->step;
  fail_after_save(c, std::move(heard.error()));
}

bool choose_next(chief_state& c, bool asked) {
  auto& books = c.next.growth.books;
  if (!c.searching.on() || books->id.iteration != c.options.stored.iteration.number)
    return true;  // A plan is made from the books as they are.
  if (asked && books->id.step != c.searching.last_commit())
    return true;  // The commit that would end the iteration is damaged: the iteration goes on from an older one.
  if (!asked)
    if (auto begun = c.searching.begin(books->id, books->blobs, books->prefix); !begun) {
      fail_after_save(c, std::move(begun.error()));
      return false;
    }
  if (const auto* next = c.searching.grows()) {
    tell_choice(c, *next);
    for (auto& [name, text] : c.searching.grown_blobs())
      books->blobs[name] = std::move(text);
    return true;
  }
  // The search ends here, although its iteration is complete.
  books.reset();
  c.options.stored.iteration.ends_at.reset();
  restore_state(c);
  return false;
}

}  // namespace troupe
