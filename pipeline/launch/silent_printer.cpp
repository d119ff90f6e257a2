#include "pipeline/launch/silent_printer.hpp"

#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

namespace troupe {

namespace {

class printer final : public caf::monitorable_actor {
 public:
  explicit printer(caf::actor_config& config) : monitorable_actor(config) {}
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
};

}  // namespace

caf::actor silent_printer(caf::actor_system& system) {
  caf::actor_config config;
  return caf::make_actor<printer, caf::actor>(system.next_actor_id(), system.node(), &system, config);
}

}  // namespace troupe
