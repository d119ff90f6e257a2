#include "pipeline/launch/simulated_world.hpp"

#include "messages/interfaces.hpp"
#include "pipeline/launch/prepared_job.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe {

namespace {

struct settings final : caf::actor_system_config {
  settings() {
    add_message_types<caf::id_block::troupe>();
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

}  // namespace

struct simulated_world::caf_side {
  settings config;
  caf::actor_system system{config};
  caf::scheduler::test_coordinator& schedule{dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())};
  std::vector<std::pair<std::string, caf::actor_addr>> nodes;  ///< All actors that were ever started.
};

/// No actor outlives the world, so this may know it by reference.
class simulated_world::simulated_listener final : public job_listener {
 public:
  explicit simulated_listener(simulated_world& world) : world_(world) {}
  void started(const std::string& name, const caf::strong_actor_ptr& actor) override { world_.started(name, actor); }
  void changed() override {}  // `wait_until` looks after every turn.
  void happened(const job_event& what) override { world_.events_.push_back(what); }
  void kill_all() override { world_.kill_all(); }

 private:
  simulated_world& world_;
};

simulated_world::simulated_world(uint64_t seed) : caf_(std::make_unique<caf_side>()), listener_(std::make_shared<simulated_listener>(*this)), drawn_(seed) {}

simulated_world::~simulated_world() {
  end_all();
}

caf::actor_system& simulated_world::system() {
  return caf_->system;
}

std::shared_ptr<job_listener> simulated_world::listener() const {
  return listener_;
}

void simulated_world::tell_time_and_host(prepared_job& job) const {
  if (job.wall_offset == 0)
    job.wall_offset = 1'700'000'000;
}

bool simulated_world::wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) {
  const auto end = deadline ? now() + bounded(*deadline) : std::chrono::nanoseconds::max();
  crank_until([&] { return there() || now() > end; });
  const bool holds = there();
  if (!holds && deadline && now() < end)
    pass(end - now());  // Nobody has anything to do until then.
  return holds;
}

void simulated_world::end(std::chrono::milliseconds deadline) {
  wait_until([this] { return alive().empty(); }, deadline);
  end_all();
}

/// SplitMix64 (Steele, Lea, Flood 2014), which is good enough for a schedule.
uint64_t simulated_world::draw() {
  uint64_t z = drawn_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void simulated_world::started(const std::string& name, const caf::strong_actor_ptr& node) {
  caf_->nodes.emplace_back(name, node->get()->address());
  if (const auto slow = slow_.find(name); slow != slow_.end())
    slow_nodes_[node->id()] = slow->second;
}

void simulated_world::slow_down(const std::string& node, int64_t factor) {
  slow_[node] = factor;
  for (const auto& [name, address] : caf_->nodes)
    if (name == node)
      slow_nodes_[address.id()] = factor;
}

void simulated_world::pass(std::chrono::nanoseconds time) {
  caf_->schedule.clock().current_time += time;
  time_passed_ = true;
}

/// The factor by which the node of this job was slowed down; 1 if it was not.
int64_t simulated_world::slowness(const caf::resumable* job) const {
  const auto* actor = dynamic_cast<const caf::local_actor*>(job);
  const auto slow = actor ? slow_nodes_.find(actor->id()) : slow_nodes_.end();
  return slow == slow_nodes_.end() ? 1 : slow->second;
}

bool simulated_world::all_hang() const {
  const auto& jobs = caf_->schedule.jobs;
  return !slow_nodes_.empty() && std::all_of(jobs.begin(), jobs.end(), [this](const auto* job) { return slowness(job) == never; });
}

/// Draws the next job, where not all hang. A slow node that is drawn is mostly passed over, unless no other waits for a
/// turn.
std::ptrdiff_t simulated_world::pick() {
  const auto one = [this] { return static_cast<std::ptrdiff_t>(draw() % caf_->schedule.jobs.size()); };
  auto picked = one();
  if (slow_nodes_.empty())
    return picked;
  const auto slowness_of = [this](std::ptrdiff_t job) { return slowness(caf_->schedule.jobs[static_cast<size_t>(job)]); };
  const auto passed_over = [&](std::ptrdiff_t job) {
    const auto factor = slowness_of(job);
    return factor == never || (factor > 1 && draw() % static_cast<uint64_t>(factor) != 0);
  };
  for (size_t tries = 0; tries < 3 * caf_->schedule.jobs.size() && passed_over(picked); ++tries)
    picked = one();
  while (slowness_of(picked) == never)
    picked = (picked + 1) % static_cast<std::ptrdiff_t>(caf_->schedule.jobs.size());
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
  for (auto* job : caf_->schedule.jobs)
    if (auto* actor = dynamic_cast<caf::scheduled_actor*>(job); actor && !actor->mailbox().closed() && !actor->mailbox().blocked()) {
      auto& fullest = fullest_[actor->id()];
      fullest = std::max(fullest, actor->mailbox().size());
    }
  const auto timers = caf_->schedule.clock().schedule().size();
  if (timers > timers_before_) {
    timers_ = std::max(timers_, timers);
    timers_beyond_actors_ = std::max(timers_beyond_actors_, timers - std::min(timers, caf_->nodes.size()));  // An ended node may leave its timer.
  }
  timers_before_ = timers;
}

world_gauge simulated_world::gauge() const {
  world_gauge all{{}, timers_, timers_beyond_actors_};
  for (const auto& [name, address] : caf_->nodes)
    if (const auto found = fullest_.find(address.id()); found != fullest_.end()) {
      auto& fullest = all.fullest_mailboxes[name];
      fullest = std::max(fullest, found->second);
    }
  return all;
}

void simulated_world::note_turn_of(caf::actor_id actor) {
  const auto node = std::find_if(caf_->nodes.begin(), caf_->nodes.end(), [actor](const auto& n) { return n.second.id() == actor; });
  *trace_ += std::to_string(turns_) + " " + std::to_string(now().count()) + " " + (node == caf_->nodes.end() ? "-" : node->first) + "\n";
}

bool simulated_world::crank() {
  if (std::exchange(time_passed_, false))
    caf_->schedule.clock().trigger_expired_timeouts();
  if (caf_->schedule.jobs.empty() || all_hang()) {
    const bool triggered = caf_->schedule.trigger_timeout() || !(caf_->schedule.jobs.empty() || all_hang());
    measure();
    return triggered;
  }
  const auto picked = pick();
  auto& jobs = caf_->schedule.jobs;
  std::rotate(jobs.begin(), jobs.begin() + picked, jobs.begin() + picked + 1);
  const auto* actor = dynamic_cast<caf::local_actor*>(jobs.front());
  hash_ = (hash_ ^ (actor ? actor->id() : 0)) * 0x100000001b3u;
  ++turns_;
  if (trace_)
    note_turn_of(actor ? actor->id() : 0);
  caf_->schedule.run_once();
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
  for (auto i = caf_->nodes.rbegin(); i != caf_->nodes.rend(); ++i)
    if (i->first == node)
      if (auto found = caf::actor_cast<caf::strong_actor_ptr>(i->second)) {
        caf::anon_send_exit(found, caf::exit_reason::kill);
        return true;
      }
  return false;
}

std::vector<std::string> simulated_world::left() {
  slow_nodes_.clear();
  while (!caf_->schedule.jobs.empty())
    crank();
  return alive();
}

std::vector<std::string> simulated_world::alive() const {
  std::vector<std::string> names;
  for (const auto& [name, address] : caf_->nodes)
    if (is_alive(address))
      names.push_back(name);
  return names;
}

void simulated_world::kill_all() {
  for (const auto& [name, address] : caf_->nodes)
    if (auto node = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send_exit(node, caf::exit_reason::kill);
}

void simulated_world::end_all() {
  // An actor begins with its first message, even an exit: an actor that has had no turn starts others as it ends, which are
  // killed in the next round.
  for (size_t killed = 0; killed < caf_->nodes.size();) {
    for (; killed < caf_->nodes.size(); ++killed)
      if (auto node = caf::actor_cast<caf::strong_actor_ptr>(caf_->nodes[killed].second))
        caf::anon_send_exit(node, caf::exit_reason::kill);
    while (!caf_->schedule.jobs.empty())
      caf_->schedule.run_once();
  }
}

std::chrono::nanoseconds simulated_world::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(caf_->schedule.clock().now().time_since_epoch());
}

}  // namespace troupe
