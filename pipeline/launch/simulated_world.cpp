#include "pipeline/launch/simulated_world.hpp"

#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe {

simulated_world::settings::settings() {
  add_message_types<caf::id_block::troupe>();
  set("scheduler.policy", caf::atom("testing"));
  set("logger.verbosity", caf::atom("quiet"));
}

simulated_world::simulated_world(uint64_t seed)
  : system_(settings_), schedule_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())), drawn_(seed) {}

/// SplitMix64 (Steele, Lea, Flood 2014), which is good enough for a schedule.
uint64_t simulated_world::draw() {
  uint64_t z = drawn_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void simulated_world::started(const std::string& name, const caf::strong_actor_ptr& node) {
  nodes_.emplace_back(name, node->get()->address());
  if (const auto slow = slow_.find(name); slow != slow_.end())
    slow_nodes_[node->id()] = slow->second;
}

void simulated_world::slow_down(const std::string& node, int64_t factor) {
  slow_[node] = factor;
  for (const auto& [name, address] : nodes_)
    if (name == node)
      slow_nodes_[address.id()] = factor;
}

void simulated_world::pass(std::chrono::nanoseconds time) {
  schedule_.clock().current_time += time;
  time_passed_ = true;
}

/// The factor by which the node of this job was slowed down; 1 if it was not.
int64_t simulated_world::slowness(const caf::resumable* job) const {
  const auto* actor = dynamic_cast<const caf::local_actor*>(job);
  const auto slow = actor ? slow_nodes_.find(actor->id()) : slow_nodes_.end();
  return slow == slow_nodes_.end() ? 1 : slow->second;
}

bool simulated_world::all_hang() const {
  return !slow_nodes_.empty() && std::all_of(schedule_.jobs.begin(), schedule_.jobs.end(), [this](const auto* job) { return slowness(job) == never; });
}

/// Draws the next job, where not all hang. A slow node that is drawn is mostly passed over, unless no other waits for a
/// turn.
std::ptrdiff_t simulated_world::pick() {
  const auto one = [this] { return static_cast<std::ptrdiff_t>(draw() % schedule_.jobs.size()); };
  auto picked = one();
  if (slow_nodes_.empty())
    return picked;
  const auto slowness_of = [this](std::ptrdiff_t job) { return slowness(schedule_.jobs[static_cast<size_t>(job)]); };
  const auto passed_over = [&](std::ptrdiff_t job) {
    const auto factor = slowness_of(job);
    return factor == never || (factor > 1 && draw() % static_cast<uint64_t>(factor) != 0);
  };
  for (size_t tries = 0; tries < 3 * schedule_.jobs.size() && passed_over(picked); ++tries)
    picked = one();
  while (slowness_of(picked) == never)
    picked = (picked + 1) % static_cast<std::ptrdiff_t>(schedule_.jobs.size());
  return picked;
}

namespace {

bool is_alive(const caf::actor_addr& address) {
  const auto node = caf::actor_cast<caf::strong_actor_ptr>(address);
  const auto* actor = node ? dynamic_cast<caf::monitorable_actor*>(node->get()) : nullptr;
  return actor && !actor->getf(caf::abstract_actor::is_terminated_flag);
}

}  // namespace

/// Looks only at actors that wait for a turn, as no others have messages.
void simulated_world::measure() {
  for (auto* job : schedule_.jobs)
    if (auto* actor = dynamic_cast<caf::scheduled_actor*>(job); actor && !actor->mailbox().closed() && !actor->mailbox().blocked()) {
      auto& fullest = fullest_[actor->id()];
      fullest = std::max(fullest, actor->mailbox().size());
    }
  const auto timers = schedule_.clock().schedule().size();
  if (timers > timers_before_) {
    timers_ = std::max(timers_, timers);
    timers_beyond_actors_ = std::max(timers_beyond_actors_, timers - std::min(timers, nodes_.size()));  // An ended node may leave its timer.
  }
  timers_before_ = timers;
}

world_gauge simulated_world::gauge() const {
  world_gauge all{{}, timers_, timers_beyond_actors_};
  for (const auto& [name, address] : nodes_)
    if (const auto found = fullest_.find(address.id()); found != fullest_.end()) {
      auto& fullest = all.fullest_mailboxes[name];
      fullest = std::max(fullest, found->second);
    }
  return all;
}

void simulated_world::note_turn_of(caf::actor_id actor) {
  const auto node = std::find_if(nodes_.begin(), nodes_.end(), [actor](const auto& n) { return n.second.id() == actor; });
  *trace_ += std::to_string(turns_) + " " + std::to_string(now().count()) + " " + (node == nodes_.end() ? "-" : node->first) + "\n";
}

bool simulated_world::crank() {
  if (std::exchange(time_passed_, false))
    schedule_.clock().trigger_expired_timeouts();
  if (schedule_.jobs.empty() || all_hang()) {
    const bool triggered = schedule_.trigger_timeout() || !(schedule_.jobs.empty() || all_hang());
    measure();
    return triggered;
  }
  const auto picked = pick();
  std::rotate(schedule_.jobs.begin(), schedule_.jobs.begin() + picked, schedule_.jobs.begin() + picked + 1);
  const auto* actor = dynamic_cast<caf::local_actor*>(schedule_.jobs.front());
  hash_ = (hash_ ^ (actor ? actor->id() : 0)) * 0x100000001b3u;
  ++turns_;
  if (trace_)
    note_turn_of(actor ? actor->id() : 0);
  schedule_.run_once();
  measure();
  return true;
}

bool simulated_world::crank_until(const std::function<bool()>& there, int64_t turns) {
  for (int64_t i = 0; i < turns; ++i) {
    if (there())
      return true;
    if (!crank())
      return there();
  }
  return there();
}

bool simulated_world::kill(const std::string& node) {
  for (auto i = nodes_.rbegin(); i != nodes_.rend(); ++i)
    if (i->first == node)
      if (auto alive = caf::actor_cast<caf::strong_actor_ptr>(i->second)) {
        caf::anon_send_exit(alive, caf::exit_reason::kill);
        return true;
      }
  return false;
}

std::vector<std::string> simulated_world::left() {
  slow_nodes_.clear();
  while (!schedule_.jobs.empty())
    crank();
  std::vector<std::string> names;
  for (const auto& [name, address] : nodes_)
    if (is_alive(address))
      names.push_back(name);
  return names;
}

void simulated_world::end_all() {
  // An actor begins with its first message, even an exit: an actor that has had no turn starts others as it ends, which are
  // killed in the next round.
  for (size_t killed = 0; killed < nodes_.size();) {
    for (; killed < nodes_.size(); ++killed)
      if (auto node = caf::actor_cast<caf::strong_actor_ptr>(nodes_[killed].second))
        caf::anon_send_exit(node, caf::exit_reason::kill);
    while (!schedule_.jobs.empty())
      schedule_.run_once();
  }
}

std::chrono::nanoseconds simulated_world::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(schedule_.clock().now().time_since_epoch());
}

}  // namespace troupe
