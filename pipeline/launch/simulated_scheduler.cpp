#include "pipeline/launch/simulated_scheduler.hpp"

#include "pipeline/launch/silent_printer.hpp"

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {

std::string_view to_string(turn_order o) noexcept {
  switch (o) {
    case turn_order::uniform: return "uniform";
    case turn_order::priorities: return "priorities";
    case turn_order::starving: return "starving";
  }
  return "?";
}

/// The execution unit of a turn. It puts actors that are woken into the scheduler's queue.
class simulated_scheduler::worker final : public caf::execution_unit {
 public:
  explicit worker(simulated_scheduler& scheduler) : execution_unit(&scheduler.system()), scheduler_(scheduler) {}
  void exec_later(caf::resumable* job) override { scheduler_.enqueue(job); }

 private:
  simulated_scheduler& scheduler_;
};

void simulated_scheduler::start() { utility_actors_[printer_id] = silent_printer(system()); }

void simulated_scheduler::stop() {
  utility_actors_[printer_id] = nullptr;
  for (auto& s : seats_)
    if (std::exchange(s->parked, false))
      cleanup_and_release(s->job);
  for (auto* s : std::exchange(ready_, {}))
    cleanup_and_release(s->job);
}

void simulated_scheduler::set(const world_conditions& conditions, uint64_t seed) {
  conditions_ = conditions;
  draws_ = schedule_draws{seed};
  timed_ = conditions.timed();
  if (conditions.order != turn_order::priorities)
    return;
  for (int32_t i = 0; i < conditions.priority_changes; ++i)
    priority_changes_.push_back(
        static_cast<int64_t>(draws_.draw() % static_cast<uint64_t>(std::max<int64_t>(1, conditions.priority_turns))));
  std::sort(priority_changes_.begin(), priority_changes_.end(), std::greater<>{});
}

seat& simulated_scheduler::seat_of(caf::resumable* job) {
  auto& known = by_job_[job];
  if (known)
    return *known;
  known = seats_.emplace_back(std::make_unique<seat>()).get();
  known->job = job;
  if (const auto* actor = dynamic_cast<caf::scheduled_actor*>(job)) {
    known->id = actor->id();
    known->address = actor->address();
  }
  if (conditions_.order == turn_order::priorities)
    known->priority = draws_.draw() | uint64_t{1} << 63;
  return *known;
}

int32_t simulated_scheduler::place_number(const std::string& place) {
  return places_.try_emplace(place, static_cast<int32_t>(places_.size())).first->second;
}

seat& simulated_scheduler::started(const std::string& name, const caf::strong_actor_ptr& actor) {
  auto& s = seat_of(dynamic_cast<caf::resumable*>(actor->get()));
  s.name = name;
  if (const auto* cost = entry_of(conditions_.cost, name))
    s.cost = *cost;
  if (const auto* place = entry_of(conditions_.place, name))
    s.place = place_number(*place);
  return s;
}

// -- who may run ---------------------------------------------------------------

void simulated_scheduler::enqueue(caf::resumable* job) {
  auto& s = seat_of(job);
  if (may_run(s))
    make_ready(s);
  else
    park(s);
}

void simulated_scheduler::make_ready(seat& s) {
  s.parked = false;
  s.waits_since = clock_.current_time;
  ready_.push_back(&s);
}

void simulated_scheduler::park(seat& s) {
  s.parked = true;
  if (!s.hangs)
    parked_.push({s.busy_until, ++numbers_, &s});
}

void simulated_scheduler::hang(seat& node, bool hangs) {
  node.hangs = hangs;
  if (hangs && std::erase(ready_, &node) > 0)
    park(node);
  else if (!hangs && node.parked)
    may_run(node) ? make_ready(node) : park(node);
}

void simulated_scheduler::occupy(seat& node, std::chrono::nanoseconds time) {
  node.busy_until = std::max(node.busy_until, clock_.current_time + time);
  if (node.parked || std::erase(ready_, &node) > 0)
    park(node);
}

// -- messages ------------------------------------------------------------------

/// A number for the type of a message, equal in every build: the type's number if CAF gives it one, else a hash of its
/// name.
uint64_t simulated_scheduler::kind_of(const caf::type_erased_tuple& content) {
  if (content.size() == 0)
    return 0;
  const auto [number, info] = content.type(0);
  if (number != 0 || !info)
    return number;
  auto& kind = kinds_[info];
  if (kind == 0) {
    kind = 0xcbf29ce484222325u;
    for (const char* c = info->name(); *c != 0; ++c)
      kind = (kind ^ static_cast<unsigned char>(*c)) * 0x100000001b3u;
  }
  return kind;
}

void simulated_scheduler::carry(carried_actor& to, caf::mailbox_element_ptr message, caf::execution_unit* unit) {
  auto& receiver = seat_of(to.scheduled());
  auto keeps = timed_ && running_ && running_ != &receiver ? caf::actor_cast<caf::strong_actor_ptr>(receiver.address)
                                                           : nullptr;
  if (keeps)
    sent_.push_back({{}, 0, running_, &receiver, &to, std::move(keeps), std::move(message)});
  else
    deliver(running_, receiver, to, std::move(message), unit);
}

void simulated_scheduler::deliver(const seat* from, seat& to, carried_actor& actor, caf::mailbox_element_ptr message,
                                  caf::execution_unit* unit) {
  hash(from ? from->id : 0);
  hash(to.id);
  hash(kind_of(message->content()));
  hash(static_cast<uint64_t>(clock_.current_time.time_since_epoch().count()));
  if (witness_)
    witness_(from, to, message->content());
  to.fullest = std::max(to.fullest, ++to.waiting);
  actor.deliver(std::move(message), unit);
}

void simulated_scheduler::post(mail m, std::chrono::nanoseconds after) {
  auto& last = last_due_[m.from->id << 32 | m.to->id];
  m.due = last = std::max(last, clock_.current_time + after);
  m.number = ++numbers_;
  on_their_way_.push_back(std::move(m));
  std::push_heap(on_their_way_.begin(), on_their_way_.end(), later{});
}

/// Sends the messages of the last turn. They leave when the node is no longer busy.
void simulated_scheduler::send_out() {
  for (auto& m : sent_)
    if (is_cut(*m.from, *m.to))
      held_.push_back(std::move(m));
    else {
      const auto busy = std::max(m.from->busy_until, clock_.current_time) - clock_.current_time;
      const auto delay = m.from->place == m.to->place ? std::chrono::nanoseconds{0} : draws_.between(conditions_.link);
      post(std::move(m), busy + delay);
    }
  sent_.clear();
  deliver_due();
}

void simulated_scheduler::deliver_due() {
  while (!on_their_way_.empty() && on_their_way_.front().due <= clock_.current_time) {
    std::pop_heap(on_their_way_.begin(), on_their_way_.end(), later{});
    auto m = std::move(on_their_way_.back());
    on_their_way_.pop_back();
    deliver(m.from, *m.to, *m.actor, std::move(m.message), nullptr);
  }
}

void simulated_scheduler::do_agenda() {
  while (!agenda_.empty() && agenda_.begin()->first <= clock_.current_time)
    agenda_.extract(agenda_.begin()).mapped()();
}

void simulated_scheduler::cut(const std::string& place) { cut_.insert(place_number(place)); }

void simulated_scheduler::heal(const std::string& place) {
  cut_.erase(place_number(place));
  for (auto& m : std::exchange(held_, {}))
    if (is_cut(*m.from, *m.to))
      held_.push_back(std::move(m));
    else
      post(std::move(m), draws_.between(conditions_.link));
}

void simulated_scheduler::end_delays() {
  timed_ = slow_ = false;
  cut_.clear();
  for (auto& m : std::exchange(held_, {}))
    post(std::move(m), {});
  std::sort(on_their_way_.begin(), on_their_way_.end(), [](const mail& a, const mail& b) { return later{}(b, a); });
  for (auto& m : std::exchange(on_their_way_, {}))
    deliver(m.from, *m.to, *m.actor, std::move(m.message), nullptr);
  for (auto& s : seats_) {
    s->hangs = false;
    s->cost = {};
    s->busy_until = std::min(s->busy_until, clock_.current_time);
    s->one_turn_of = 1;
    if (s->parked)
      make_ready(*s);
  }
}

// -- turns and time ------------------------------------------------------------

void simulated_scheduler::pass(std::chrono::nanoseconds time) {
  clock_.current_time += time;
  time_passed_ = true;
}

void simulated_scheduler::spend(std::chrono::nanoseconds time) {
  if (running_)
    spent_ += time;
}

void simulated_scheduler::slow_down(seat& node, int64_t one_turn_of) {
  node.one_turn_of = one_turn_of;
  slow_ = std::any_of(seats_.begin(), seats_.end(), [](const auto& s) { return s->one_turn_of > 1; });
}

/// Mostly draws again when a slow node is drawn, unless only slow nodes wait for a turn.
size_t simulated_scheduler::pick_among_slow() {
  auto picked = static_cast<size_t>(draws_.draw() % ready_.size());
  const auto passed_over = [&](const seat& s) {
    return s.one_turn_of > 1 && draws_.draw() % static_cast<uint64_t>(s.one_turn_of) != 0;
  };
  for (size_t tries = 0; tries < 3 * ready_.size() && passed_over(*ready_[picked]); ++tries)
    picked = static_cast<size_t>(draws_.draw() % ready_.size());
  return picked;
}

size_t simulated_scheduler::pick_by_priority() {
  const auto highest = [this] {
    return static_cast<size_t>(std::max_element(ready_.begin(), ready_.end(),
                                                [](const seat* a, const seat* b) { return a->priority < b->priority; })
                               - ready_.begin());
  };
  auto picked = highest();
  for (; !priority_changes_.empty() && priority_changes_.back() <= turns_; picked = highest()) {
    ready_[picked]->priority = priority_changes_.size();  // Below all drawn priorities and all earlier drops.
    priority_changes_.pop_back();
  }
  return picked;
}

size_t simulated_scheduler::pick_starving() {
  const auto starved = std::find_if(ready_.begin(), ready_.end(),
                                    [this](const seat* s) { return s->name == conditions_.starved; });
  const auto at = static_cast<size_t>(starved - ready_.begin());
  if (starved == ready_.end())
    return static_cast<size_t>(draws_.draw() % ready_.size());
  if (ready_.size() == 1 || clock_.current_time - (*starved)->waits_since >= conditions_.starved_at_most)
    return at;
  const auto other = static_cast<size_t>(draws_.draw() % (ready_.size() - 1));
  return other < at ? other : other + 1;
}

seat* simulated_scheduler::pick() {
  const auto picked = conditions_.order == turn_order::priorities ? pick_by_priority()
                      : conditions_.order == turn_order::starving ? pick_starving()
                      : slow_                                     ? pick_among_slow()
                                                                  : static_cast<size_t>(draws_.draw() % ready_.size());
  auto* const s = ready_[picked];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(picked));
  return s;
}

void simulated_scheduler::turn(seat& s) {
  hash(s.id);
  hash(static_cast<uint64_t>(clock_.current_time.time_since_epoch().count()));
  ++turns_;
  s.waiting -= std::min<size_t>(s.waiting, 1);
  running_ = &s;
  last_ = &s;
  spent_ = {};
  worker unit{*this};
  const auto how = s.job->resume(&unit, 1);
  running_ = nullptr;
  if (const auto cost = spent_ + cost_of(s); cost.count() > 0)
    s.busy_until = clock_.current_time + cost;
  if (how == caf::resumable::resume_later) {
    if (may_run(s))
      ready_.push_front(&s);
    else
      park(s);
  } else {
    s.waiting = 0;
    caf::intrusive_ptr_release(s.job);
  }
  if (!sent_.empty())
    send_out();
}

/// Drops outdated entries: of nodes that are no longer parked, hang, or are busy for longer.
void simulated_scheduler::tidy_parked() {
  const auto valid = [](const parked_until& p) {
    return p.who->parked && !p.who->hangs && p.who->busy_until <= p.when;
  };
  while (!parked_.empty() && !valid(parked_.top()))
    parked_.pop();
}

/// Does everything that is due now, except timers.
void simulated_scheduler::catch_up() {
  do_agenda();
  deliver_due();
  for (tidy_parked(); !parked_.empty() && parked_.top().when <= clock_.current_time; tidy_parked())
    make_ready(*parked_.top().who);
}

bool simulated_scheduler::let_time_pass() {
  tidy_parked();
  constexpr auto never = simulated_time::max();
  const auto& timers = clock_.schedule();
  const auto arrival = on_their_way_.empty() ? never : on_their_way_.front().due;
  const auto rest = parked_.empty() ? never : parked_.top().when;
  const auto timer = timers.empty() ? never : timers.begin()->first;
  const auto other = agenda_.empty() ? never : agenda_.begin()->first;
  const auto next = std::min({arrival, rest, timer, other});
  if (next == never)
    return false;
  // At the same instant messages come first, so that a timer's handler finds them in the mailbox.
  if (timer < std::min({arrival, rest, other}))
    return clock_.trigger_timeout();
  clock_.current_time = std::max(clock_.current_time, next);
  catch_up();
  return true;
}

bool simulated_scheduler::crank() {
  if (std::exchange(time_passed_, false)) {
    catch_up();
    clock_.trigger_expired_timeouts();
  }
  if (ready_.empty())
    return let_time_pass();
  turn(*pick());
  return true;
}

void simulated_scheduler::run_dry() {
  end_delays();
  while (!ready_.empty())
    turn(*pick());
}

}  // namespace troupe
