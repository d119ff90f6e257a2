#include "pipeline/launch/simulated_process.hpp"

#include "actors/exit_reason.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace troupe {

/// Actors hold it, and it holds the world: a process outlives its handle until its last actor has ended.
class simulated_process::process_listener final : public job_listener {
 public:
  process_listener(std::shared_ptr<job_listener> of_world, std::string name)
    : world_(std::move(of_world)), name_(std::move(name)) {}
  void started(const std::string& node, const caf::strong_actor_ptr& actor) override {
    world_->started(name_.empty() ? node : name_ + "/" + node, actor);
    actors_.emplace_back(actor->get()->address());
  }
  void changed() override { world_->changed(); }
  void happened(const job_event& what) override {
    events_.push_back(what);
    world_->happened(what);
  }
  void kill_all() override {
    for (const auto& address : actors_)
      if (const auto actor = living(address))
        caf::anon_send_exit(actor, caf::exit_reason::kill);
  }
  bool any_alive() const {
    return std::any_of(actors_.begin(), actors_.end(),
                       [](const caf::actor_addr& address) { return living(address) != nullptr; });
  }
  const std::vector<job_event>& events() const noexcept { return events_; }
  size_t started_actors() const noexcept { return actors_.size(); }

 private:
  static caf::strong_actor_ptr living(const caf::actor_addr& address) {
    auto actor = caf::actor_cast<caf::strong_actor_ptr>(address);
    const auto* of = actor ? dynamic_cast<caf::monitorable_actor*>(actor->get()) : nullptr;
    return of && !of->getf(caf::abstract_actor::is_terminated_flag) ? actor : nullptr;
  }

  std::shared_ptr<job_listener> world_;
  std::string name_;
  std::vector<caf::actor_addr> actors_;
  std::vector<job_event> events_;
};

simulated_process::simulated_process(std::shared_ptr<simulated_world> world, std::string name)
  : world_(std::move(world)), listener_(std::make_shared<process_listener>(world_->listener(), std::move(name))) {}

std::shared_ptr<job_listener> simulated_process::listener() const { return listener_; }
bool simulated_process::any_alive() const { return listener_->any_alive(); }
const std::vector<job_event>& simulated_process::events() const noexcept { return listener_->events(); }

void simulated_process::end(std::chrono::milliseconds deadline) {
  if (!world_->wait_until([this] { return !any_alive(); }, deadline))
    kill();
}

/// An actor that has had no turn yet may start others as it ends; the next round kills these.
void simulated_process::kill() {
  for (size_t before = 0; before != listener_->started_actors() || any_alive();) {
    before = listener_->started_actors();
    listener_->kill_all();
    world_->crank_until([this] { return !any_alive(); });
  }
}

}  // namespace troupe
