#include "actors/chief/loops.hpp"

#include "compute/engine/loss_meter.hpp"
#include "words/planted.hpp"

namespace troupe {

std::optional<double> loops::secs() const {
  const auto* time = std::get_if<std::chrono::seconds>(&length_);
  return time ? std::optional{static_cast<double>(time->count())} : std::nullopt;
}

/// The loop that begins at `step`, where its length is a time.
loop_span loops::next_at(int64_t step) { return {step, estimator_.steps_for(*secs()).value_or(1)}; }

/// begins + count · steps, at most INT64_MAX.
static int64_t end_of(const loop_span& l, int64_t count) {
  int64_t end = 0;
  return __builtin_mul_overflow(l.steps, count, &end) || __builtin_add_overflow(l.begins, end, &end) ? INT64_MAX : end;
}

loop_span loops::begin(int64_t step, int64_t first_step, std::optional<loop_span> stored) {
  fixed_.clear();
  if (stored && stored->begins > step)
    stored.reset();  // Of no job: the file was changed by hand.
  if (!secs())
    spans_.begin({stored ? stored->begins : first_step, std::get<int64_t>(length_)});
  else
    // A stored loop that is over has a next one, which the state begins with. Books of a number of steps name the first
    // loop, not that of the state.
    spans_.begin(stored && !stored->begins_at(step) ? loop_span{stored->begin_of(step), stored->steps} : next_at(step));
  auto here = spans_.at(step);
  if (planted(planted_fault::loop_off_by_one))
    ++here.begins;
  return here;
}

std::optional<loop_span> loops::stored_at(int64_t step, int64_t first_step) const {
  const auto here = spans_.at(step);
  return secs() || here.begins != first_step ? std::optional{here} : std::nullopt;
}

std::vector<loop_span> loops::fix_below(int64_t until) {
  std::vector<loop_span> made;
  if (!secs())
    return made;
  for (int64_t next = end_of(spans_.last(), 1); next < until; next = end_of(spans_.last(), 1)) {
    spans_.add(next_at(next));
    fixed_.push_back(next);
    made.push_back(spans_.last());
  }
  return made;
}

int64_t loops::limit(int64_t reached) {
  if (!secs())
    return INT64_MAX;
  while (!fixed_.empty() && fixed_.front() <= reached)
    fixed_.pop_front();
  const int64_t room = fixed_ahead_max - std::ssize(fixed_), next = end_of(spans_.last(), 1);
  return room > 0 ? end_of(next_at(next), room) : next;
}

int64_t loops::end_after(int64_t step, int64_t count) const {
  const auto here = spans_.at(step);
  return end_of({here.begin_of(step), here.steps}, count);
}

void loops::ended(const loop_point& x) {
  if (secs() && x.first == x.begins)
    estimator_.add(x.seconds, x.steps());
}

loop_facts facts_of(const loop_point& x, int64_t rows, bool perplexity_too) {
  loop_facts f{.begins = x.begins,
               .first = x.first,
               .end = x.end,
               .last_loss = x.last,
               .mean_loss = x.mean,
               .replica_0_loss = x.first_replica};
  if (x.seconds > 0)
    f.examples_per_second = static_cast<double>(x.steps() * rows) / x.seconds;
  if (perplexity_too) {
    f.ppl = perplexity(x.last);
    f.bpc = bits_per_character(x.last);
  }
  return f;
}

}  // namespace troupe
