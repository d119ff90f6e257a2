#include "pipeline/launch/local_system.hpp"

#include <typeindex>

namespace troupe {

void add_types(caf::actor_system_config& config) { config.add_message_types<caf::id_block::troupe>(); }

bool has_types(const caf::actor_system& system) {
  // The types are added as one block, so the last type is present only if all are.
  using last = caf::type_by_id<caf::id_block::troupe::end - 1>::type;
  return system.config().value_factories_by_rtti.count(std::type_index(typeid(last))) == 1;
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
  config_->set("scheduler.max-throughput", size_t{64});  // Limits a turn to 64 messages; CAF sets no limit.
  config_->set("logger.verbosity", caf::atom("quiet"));
  job_scheduler::use(*config_, std::move(threads));
  system_ = std::make_unique<caf::actor_system>(*config_);
}

void local_system::leave_behind() {
  static_cast<void>(system_.release());
  static_cast<void>(config_.release());
}

}  // namespace troupe
