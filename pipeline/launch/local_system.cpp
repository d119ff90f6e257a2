#include "pipeline/launch/local_system.hpp"

#include "pipeline/launch/prepared_job.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <typeindex>

#include <unistd.h>

namespace troupe {

void tell_time_and_place(prepared_job& job) {
  const auto since_epoch = [](auto now) { return std::chrono::duration<double>(now.time_since_epoch()).count(); };
  job.wall_offset = since_epoch(std::chrono::system_clock::now()) - since_epoch(std::chrono::steady_clock::now());
  char name[256] = {};
  job.host = ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

std::chrono::milliseconds bounded(std::chrono::milliseconds deadline) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::milliseconds>(deadline, 0ms, 24h * 365 * 100);
}

void add_types(caf::actor_system_config& config) {
  config.add_message_types<caf::id_block::troupe>();
}

bool has_types(const caf::actor_system& system) {
  // The block is added as a whole, so that its last type is there only if all are.
  using last = caf::type_by_id<caf::id_block::troupe::end - 1>::type;
  return system.config().value_factories_by_rtti.count(std::type_index(typeid(last))) == 1;
}

void node_watch::started(const caf::strong_actor_ptr& node) {
  std::lock_guard lock{guard_};
  nodes_.emplace_back(node->get()->address());
}

void node_watch::kill_all() {
  std::lock_guard lock{guard_};
  for (const auto& address : nodes_)
    if (auto node = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send_exit(node, caf::exit_reason::kill);
}

bool node_watch::all_ended(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  const auto alive = [](const caf::actor_addr& address) {
    const auto node = caf::actor_cast<caf::strong_actor_ptr>(address);
    return node && !node->get()->getf(caf::abstract_actor::is_terminated_flag);
  };
  std::unique_lock lock{guard_};
  while (std::any_of(nodes_.begin(), nodes_.end(), alive))
    if (nobody_calls_.wait_until(lock, std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds{1})) == std::cv_status::timeout
        && std::chrono::steady_clock::now() >= end)
      return false;
  return true;
}

expected<std::unique_ptr<local_system>> local_system::make() {
  auto threads = scheduler_threads::start();
  if (!threads)
    return fail(threads.error());
  return std::unique_ptr<local_system>{new local_system{std::move(*threads)}};
}

local_system::local_system(scheduler_threads threads) : config_(std::make_unique<caf::actor_system_config>()) {
  add_types(*config_);
  config_->set("scheduler.max-threads", size_t{1});
  config_->set("scheduler.max-throughput", size_t{64});  // CAF's turns are unbounded.
  config_->set("logger.verbosity", caf::atom("quiet"));
  job_scheduler::use(*config_, std::move(threads));
  system_ = std::make_unique<caf::actor_system>(*config_);
}

void local_system::leave_behind() {
  static_cast<void>(system_.release());
  static_cast<void>(config_.release());
}

}  // namespace troupe
