#include "pipeline/launch/simulated_world.hpp"

#include "actors/exit_reason.hpp"
#include "messages/interfaces.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/launch/simulated_scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe {

namespace {

struct settings final : caf::actor_system_config {
  settings() {
    add_message_types<caf::id_block::troupe>();
    module_factories.emplace_back(
        [](caf::actor_system& system) -> caf::actor_system::module* { return new simulated_scheduler{system}; });
    set("logger.verbosity", caf::atom("quiet"));
  }
};

}  // namespace

struct simulated_world::caf_side {
  settings config;
  caf::actor_system system{config};
  simulated_scheduler& schedule{dynamic_cast<simulated_scheduler&>(system.scheduler())};
  std::vector<seat*> nodes;  ///< All nodes that were ever started.

  template <class F>
  void each(const std::string& name, F f) {
    for (auto* n : nodes)
      if (n->name == name)
        f(*n);
  }
};

/// It refers to the world, since no actor outlives the world.
class simulated_world::simulated_listener final : public job_listener {
 public:
  explicit simulated_listener(simulated_world& world) : world_(world) {}
  void started(const std::string& name, const caf::strong_actor_ptr& actor) override { world_.started(name, actor); }
  void changed() override {}  // `wait_until` checks after every turn anyway.
  void happened(const job_event& what) override { world_.events_.push_back(what); }
  void kill_all() override { world_.kill_all(); }

 private:
  simulated_world& world_;
};

simulated_world::simulated_world(uint64_t seed, const world_conditions& conditions)
  : caf_(std::make_unique<caf_side>()), listener_(std::make_shared<simulated_listener>(*this)) {
  caf_->schedule.set(conditions, seed);
}

simulated_world::~simulated_world() { end_all(); }

caf::actor_system& simulated_world::system() { return caf_->system; }

carrier* simulated_world::messages() { return &caf_->schedule; }

std::shared_ptr<job_listener> simulated_world::listener() const { return listener_; }

void simulated_world::tell_time_and_host(prepared_job& job) const {
  if (job.wall_offset == 0)
    job.wall_offset = 1'700'000'000;
}

bool simulated_world::wait_until(const std::function<bool()>& there,
                                 std::optional<std::chrono::milliseconds> deadline) {
  const auto end = deadline ? now() + bounded(*deadline) : std::chrono::nanoseconds::max();
  crank_until([&] { return there() || now() > end; });
  const bool holds = there();
  if (!holds && deadline && now() < end)
    pass(end - now());  // No actor has work until the deadline.
  return holds;
}

void simulated_world::end(std::chrono::milliseconds deadline) {
  wait_until([this] { return alive().empty(); }, deadline);
  end_all();
}

void simulated_world::started(const std::string& name, const caf::strong_actor_ptr& node) {
  auto& s = caf_->schedule.started(name, node);
  caf_->nodes.push_back(&s);
  if (const auto slow = slow_.find(name); slow != slow_.end())
    caf_->schedule.slow_down(s, slow->second);
  if (const auto hangs = hangs_.find(name); hangs != hangs_.end())
    caf_->schedule.hang(s, hangs->second);
}

// -- turns ---------------------------------------------------------------------

bool simulated_world::crank() {
  auto& schedule = caf_->schedule;
  const auto before = schedule.turns();
  const auto at = now();
  const bool more = schedule.crank();
  if (trace_ && schedule.turns() > before) {
    const auto& name = schedule.last_turn_of()->name;
    *trace_ += std::to_string(schedule.turns()) + " " + std::to_string(at.count()) + " " + (name.empty() ? "-" : name)
               + "\n";
  }
  measure_timers();
  return more;
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

void simulated_world::measure_timers() {
  const auto timers = caf_->schedule.timers();
  if (timers > timers_before_) {
    timers_ = std::max(timers_, timers);
    // An ended node may leave its timer behind.
    timers_beyond_actors_ = std::max(timers_beyond_actors_, timers - std::min(timers, caf_->nodes.size()));
  }
  timers_before_ = timers;
}

world_gauge simulated_world::gauge() const {
  world_gauge all{{}, timers_, timers_beyond_actors_};
  for (const auto* n : caf_->nodes) {
    auto& fullest = all.fullest_mailboxes[n->name];
    fullest = std::max(fullest, n->fullest);
  }
  return all;
}

void simulated_world::watch(witness w) {
  if (!w)
    return caf_->schedule.watch({});
  caf_->schedule.watch([w = std::move(w)](const seat* from, const seat& to, const caf::type_erased_tuple& content) {
    static const std::string outside;
    w(from ? from->name : outside, to.name, content);
  });
}

std::chrono::nanoseconds simulated_world::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(caf_->schedule.now().time_since_epoch());
}

int64_t simulated_world::turns() const noexcept { return caf_->schedule.turns(); }

uint64_t simulated_world::trace_hash() const noexcept { return caf_->schedule.trace_hash(); }

// -- troubles ------------------------------------------------------------------

void simulated_world::slow_down(const std::string& node, int64_t factor) {
  slow_[node] = factor;
  caf_->each(node, [&](seat& s) { caf_->schedule.slow_down(s, factor); });
}

void simulated_world::hang(const std::string& node) {
  hangs_[node] = true;
  caf_->each(node, [&](seat& s) { caf_->schedule.hang(s, true); });
}

void simulated_world::unhang(const std::string& node) {
  hangs_.erase(node);
  caf_->each(node, [&](seat& s) { caf_->schedule.hang(s, false); });
}

void simulated_world::occupy(const std::string& node, std::chrono::nanoseconds time) {
  caf_->each(node, [&](seat& s) { caf_->schedule.occupy(s, time); });
}

void simulated_world::spend(std::chrono::nanoseconds time) { caf_->schedule.spend(time); }

void simulated_world::pass(std::chrono::nanoseconds time) { caf_->schedule.pass(time); }

void simulated_world::cut(const std::string& place) { caf_->schedule.cut(place); }

void simulated_world::heal(const std::string& place) { caf_->schedule.heal(place); }

void simulated_world::after(std::chrono::nanoseconds time, std::function<void()> what) {
  caf_->schedule.at(caf_->schedule.now() + time, std::move(what));
}

namespace {

/// The actor of the seat; null if it has ended.
caf::strong_actor_ptr living(const seat& s) {
  auto node = caf::actor_cast<caf::strong_actor_ptr>(s.address);
  const auto* actor = node ? dynamic_cast<caf::monitorable_actor*>(node->get()) : nullptr;
  return actor && !actor->getf(caf::abstract_actor::is_terminated_flag) ? node : nullptr;
}

/// Like `anon_send_exit`, which only accepts CAF's own reasons.
bool end_one(const seat& s, caf::error reason) {
  const auto node = living(s);
  if (node)
    caf::anon_send<caf::message_priority::high>(caf::actor_cast<caf::actor>(node),
                                                caf::exit_msg{s.address, std::move(reason)});
  return node != nullptr;
}

bool kill_one(const seat& s) { return end_one(s, caf::exit_reason::kill); }

}  // namespace

bool simulated_world::throw_in(const std::string& node) {
  const auto found = std::find_if(caf_->nodes.rbegin(), caf_->nodes.rend(),
                                  [&](const seat* n) { return n->name == node; });
  return found != caf_->nodes.rend()
         && end_one(**found, to_reason(std::make_exception_ptr(std::runtime_error{"thrown in a test"})));
}

caf::strong_actor_ptr simulated_world::node(const std::string& name) const {
  const auto newest = std::find_if(caf_->nodes.rbegin(), caf_->nodes.rend(),
                                   [&](const seat* n) { return n->name == name; });
  return newest == caf_->nodes.rend() ? nullptr : caf::actor_cast<caf::strong_actor_ptr>((*newest)->address);
}

size_t simulated_world::nodes_started() const noexcept { return caf_->nodes.size(); }

bool simulated_world::kill(const std::string& node) {
  for (auto i = caf_->nodes.rbegin(); i != caf_->nodes.rend(); ++i)
    if ((*i)->name == node)
      return kill_one(**i);
  return false;
}

bool simulated_world::kill_place(const std::string& place) {
  bool any = false;
  for (const auto* n : caf_->nodes)
    if (caf_->schedule.is_at(*n, place))
      any = kill_one(*n) || any;
  return any;
}

std::vector<std::string> simulated_world::left() {
  slow_.clear();
  hangs_.clear();
  caf_->schedule.run_dry();
  return alive();
}

std::vector<std::string> simulated_world::alive() const {
  std::vector<std::string> names;
  for (const auto* n : caf_->nodes)
    if (living(*n))
      names.push_back(n->name);
  return names;
}

void simulated_world::kill_all() {
  for (const auto* n : caf_->nodes)
    kill_one(*n);
}

void simulated_world::end_all() {
  // An actor starts with its first message, even if that is an exit. So an actor without any turn yet may start others
  // as it ends; the next round kills these.
  for (size_t killed = 0; killed < caf_->nodes.size();) {
    for (; killed < caf_->nodes.size(); ++killed)
      kill_one(*caf_->nodes[killed]);
    caf_->schedule.run_dry();
  }
}

}  // namespace troupe
