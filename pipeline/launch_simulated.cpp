#include "pipeline/launch_simulated.hpp"

#include "pipeline/job_crew.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

class simulated_config final : public caf::actor_system_config {
 public:
  simulated_config() {
    add_message_types<caf::id_block::troupe>();
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

class recording_board final : public job_board {
 public:
  void status(const job_progress& x) override { now = x; }
  void event(const job_event& x) override { events.push_back(x); }
  void finished(expected<train_result> x) override {
    if (!result)
      result = std::move(x);
  }
  job_progress now;
  std::vector<job_event> events;
  std::optional<expected<train_result>> result;
};

/// SplitMix64 (Steele, Lea, Flood 2014): the schedule needs nothing better.
struct generator {
  uint64_t state;
  uint64_t operator()() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
};

}  // namespace

struct simulated_job::impl {
  impl(std::shared_ptr<prepared_job> job, uint64_t seed)
    : system(config), schedule(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())),
      board(std::make_shared<recording_board>()), draw{seed} {
    if (job->wall_offset == 0)  // A test may have its own.
      job->wall_offset = 1'700'000'000;
    const auto started = [this](const std::string& name, const caf::strong_actor_ptr& node) { nodes.emplace_back(name, node->get()->address()); };
    auto crew = make_crew(system, job, false, started);
    chief = system.spawn(troupe::chief, make_chief_options(*job, std::move(crew), board));
    nodes.emplace_back("chief", chief->address());
    chief->attach_functor([b = board] { b->finished(fail(errc::aborted, "the chief ended without a result")); });
  }

  bool crank() {
    if (schedule.jobs.empty())
      return schedule.trigger_timeout() || !schedule.jobs.empty();
    const auto pick = static_cast<std::ptrdiff_t>(draw() % schedule.jobs.size());
    std::rotate(schedule.jobs.begin(), schedule.jobs.begin() + pick, schedule.jobs.begin() + pick + 1);
    const auto* actor = dynamic_cast<caf::local_actor*>(schedule.jobs.front());
    hash = (hash ^ (actor ? actor->id() : 0)) * 0x100000001b3u;
    ++turns;
    schedule.run_once();
    return true;
  }

  simulated_config config;
  caf::actor_system system;
  caf::scheduler::test_coordinator& schedule;
  std::shared_ptr<recording_board> board;
  generator draw;
  chief_actor chief;
  std::vector<std::pair<std::string, caf::actor_addr>> nodes;  ///< All that were ever started.
  uint64_t hash = 0xcbf29ce484222325u;
  int64_t turns = 0;
};

simulated_job::simulated_job(std::shared_ptr<prepared_job> job, uint64_t seed) : impl_(std::make_unique<impl>(std::move(job), seed)) {}

simulated_job::~simulated_job() {
  // CAF waits for every actor when the system goes: whoever is left is killed and cranked first.
  for (auto& [name, address] : impl_->nodes)
    if (auto node = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send_exit(node, caf::exit_reason::kill);
  impl_->chief = chief_actor{};
  while (!impl_->schedule.jobs.empty())
    impl_->schedule.run_once();
}

job_progress simulated_job::progress() const {
  return impl_->board->now;
}

void simulated_job::ask(uint8_t kind, bool by_signal) {
  caf::anon_send(impl_->chief, request{kind, by_signal});
}

std::optional<expected<train_result>> simulated_job::wait(std::optional<std::chrono::milliseconds> deadline) {
  const auto end = deadline ? now() + *deadline : std::chrono::nanoseconds::max();
  crank_until([&] { return impl_->board->result.has_value() || now() > end; });
  return impl_->board->result;
}

bool simulated_job::crank() {
  return impl_->crank();
}

bool simulated_job::crank_until(const std::function<bool()>& there, int64_t turns) {
  for (int64_t i = 0; i < turns; ++i) {
    if (there())
      return true;
    if (!impl_->crank())
      return there();
  }
  return there();
}

bool simulated_job::kill(const std::string& node) {
  for (auto i = impl_->nodes.rbegin(); i != impl_->nodes.rend(); ++i)
    if (i->first == node)
      if (auto alive = caf::actor_cast<caf::strong_actor_ptr>(i->second)) {
        caf::anon_send_exit(alive, caf::exit_reason::kill);
        return true;
      }
  return false;
}

const std::vector<job_event>& simulated_job::events() const {
  return impl_->board->events;
}

std::chrono::nanoseconds simulated_job::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(impl_->schedule.clock().now().time_since_epoch());
}

int64_t simulated_job::turns() const {
  return impl_->turns;
}

uint64_t simulated_job::trace_hash() const {
  return impl_->hash;
}

std::vector<std::string> simulated_job::left() {
  while (!impl_->schedule.jobs.empty())
    impl_->crank();
  std::vector<std::string> names;
  for (const auto& [name, address] : impl_->nodes) {
    const auto node = caf::actor_cast<caf::strong_actor_ptr>(address);
    const auto* actor = node ? dynamic_cast<caf::monitorable_actor*>(node->get()) : nullptr;
    if (actor && !actor->getf(caf::abstract_actor::is_terminated_flag))
      names.push_back(name);
  }
  return names;
}

}  // namespace troupe
