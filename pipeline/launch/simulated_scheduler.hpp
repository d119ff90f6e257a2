// The CAF part of a simulated world: a scheduler with one thread, which its owner runs turn by turn; a virtual clock;
// and a carrier that delays messages. Every actor has a seat, which says when it may run.
//
//   enqueue(message) ──► carry ──► [on its way] ──► mailbox ──► ready ──► turn ──► [busy] ──► ready, if there is more
//                                  link delays                  drawn              costs
#pragma once

#include "pipeline/launch/carriage.hpp"
#include "pipeline/launch/conditions.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/detail/test_actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <typeinfo>
#include <unordered_map>
#include <vector>

namespace troupe {

using simulated_time = caf::actor_clock::time_point;

/// The state of one actor in the schedule.
struct seat {
  std::string name;  ///< Empty if the actor is not a node.
  caf::actor_id id = 0;
  caf::actor_addr address;  ///< Keeps the actor's memory allocated, so that no other actor gets its address.
  caf::resumable* job = nullptr;
  int64_t one_turn_of = 1;  ///< Slow node: while others could run, it uses only one of this many turns.
  bool hangs = false;       ///< Whether it gets no turns.
  duration_range cost;
  int32_t place = 0;
  simulated_time busy_until{};
  simulated_time waits_since{};
  bool parked = false;  ///< It has a message but may not run yet.
  uint64_t priority = 0;
  size_t waiting = 0, fullest = 0;  ///< The number of messages in its mailbox: at present, and the maximum so far.
};

/// Pseudo-random numbers by seed: SplitMix64 (Steele, Lea, Flood 2014), which is good enough for a schedule.
class schedule_draws {
 public:
  explicit schedule_draws(uint64_t seed) : state_(seed) {}
  uint64_t draw() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::chrono::nanoseconds between(const duration_range& r) {
    const auto width = (r.most - r.least).count();
    return width <= 0
               ? r.least
               : r.least + std::chrono::nanoseconds{static_cast<int64_t>(draw() % static_cast<uint64_t>(width + 1))};
  }

 private:
  uint64_t state_;
};

class simulated_scheduler final : public caf::scheduler::abstract_coordinator, public carrier {
 public:
  explicit simulated_scheduler(caf::actor_system& system) : abstract_coordinator(system) {}

  // For the owner.
  void set(const world_conditions& conditions, uint64_t seed);
  /// Names the actor, and applies the conditions for that name.
  seat& started(const std::string& name, const caf::strong_actor_ptr& actor);
  /// Gives one actor a turn. If none can run, advances the clock to the next event. Returns false if there is none.
  bool crank();
  /// Ends all delays, costs and hangs, and gives turns until no actor has a message.
  void run_dry();
  /// While other nodes have messages, the node uses only one of `one_turn_of` turns.
  void slow_down(seat& node, int64_t one_turn_of);
  void pass(std::chrono::nanoseconds time);
  /// Within a turn: keeps the running node busy for `time` more. Has no effect between turns.
  void spend(std::chrono::nanoseconds time);
  void hang(seat& node, bool hangs);
  void occupy(seat& node, std::chrono::nanoseconds time);
  /// Holds back messages between this place and all others until `heal`.
  void cut(const std::string& place);
  void heal(const std::string& place);
  /// Calls `what` between two turns, as soon as the clock has reached `when`. For events that no actor causes, such as
  /// the end of a fault.
  void at(simulated_time when, std::function<void()> what) { agenda_.emplace(when, std::move(what)); }
  bool is_at(const seat& node, const std::string& place) { return node.place == place_number(place); }
  /// Called for each message that is put into a mailbox. `from` is null for messages of the clock and from outside.
  using witness = std::function<void(const seat* from, const seat& to, const caf::type_erased_tuple& content)>;
  void watch(witness w) { witness_ = std::move(w); }

  simulated_time now() const { return clock_.current_time; }
  /// The actor of the last turn; null before the first.
  const seat* last_turn_of() const noexcept { return last_; }
  int64_t turns() const noexcept { return turns_; }
  uint64_t trace_hash() const noexcept { return hash_; }
  size_t timers() const { return clock_.schedule().size(); }

  // For CAF.
  void enqueue(caf::resumable* job) override;
  caf::detail::test_actor_clock& clock() noexcept override { return clock_; }
  void carry(carried_actor& to, caf::mailbox_element_ptr message, caf::execution_unit* unit) override;

 protected:
  void start() override;
  void stop() override;

 private:
  class worker;
  struct mail {
    simulated_time due;
    uint64_t number = 0;  ///< Counts in the order of sending.
    seat* from = nullptr;
    seat* to = nullptr;
    carried_actor* actor = nullptr;
    caf::strong_actor_ptr keeps;  ///< Keeps `actor` alive.
    caf::mailbox_element_ptr message;
  };
  struct parked_until {
    simulated_time when;
    uint64_t number = 0;
    seat* who = nullptr;
  };
  struct later {
    template <class T>
    bool operator()(const T& a, const T& b) const {
      return a.when != b.when ? a.when > b.when : a.number > b.number;
    }
    bool operator()(const mail& a, const mail& b) const { return a.due != b.due ? a.due > b.due : a.number > b.number; }
  };

  seat& seat_of(caf::resumable* job);
  bool may_run(const seat& s) const { return !s.hangs && s.busy_until <= clock_.current_time; }
  void make_ready(seat& s);
  void park(seat& s);
  seat* pick();
  size_t pick_among_slow();
  size_t pick_by_priority();
  size_t pick_starving();
  void turn(seat& s);
  bool let_time_pass();
  void send_out();
  void end_delays();
  std::chrono::nanoseconds cost_of(const seat& s) {
    return timed_ ? draws_.between(s.cost) : std::chrono::nanoseconds{0};
  }
  void post(mail m, std::chrono::nanoseconds after);
  void deliver(const seat* from, seat& to, carried_actor& actor, caf::mailbox_element_ptr message,
               caf::execution_unit* unit);
  void deliver_due();
  void do_agenda();
  void tidy_parked();
  void catch_up();
  bool is_cut(const seat& a, const seat& b) const {
    return a.place != b.place && (cut_.count(a.place) > 0 || cut_.count(b.place) > 0);
  }
  int32_t place_number(const std::string& place);
  void hash(uint64_t x) { hash_ = (hash_ ^ x) * 0x100000001b3u; }
  uint64_t kind_of(const caf::type_erased_tuple& content);

  caf::detail::test_actor_clock clock_;
  world_conditions conditions_;
  schedule_draws draws_{0};
  std::deque<std::unique_ptr<seat>> seats_;
  std::unordered_map<caf::resumable*, seat*> by_job_;
  std::deque<seat*> ready_;
  std::priority_queue<parked_until, std::vector<parked_until>, later> parked_;
  std::vector<mail> on_their_way_;  ///< A heap ordered by `later`.
  std::vector<mail> sent_, held_;   ///< Messages sent in this turn; messages held back by a cut link.
  std::unordered_map<uint64_t, simulated_time> last_due_;  ///< When the last message of each pair of actors arrives.
  std::multimap<simulated_time, std::function<void()>> agenda_;
  std::map<std::string, int32_t> places_{{"", 0}};
  std::set<int32_t> cut_;
  std::vector<int64_t> priority_changes_;
  std::unordered_map<const std::type_info*, uint64_t> kinds_;
  witness witness_;
  seat* running_ = nullptr;
  const seat* last_ = nullptr;
  std::chrono::nanoseconds spent_{0};
  bool timed_ = false, slow_ = false, time_passed_ = false;
  uint64_t numbers_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325u;
  int64_t turns_ = 0;
};

}  // namespace troupe
