#include "actors/crew.hpp"

#include <caf/local_actor.hpp>

namespace troupe {

roster start_all(crew& nodes, caf::local_actor& driver) {
  roster all{nodes.members()};
  const auto me = caf::actor_cast<caf::strong_actor_ptr>(&driver);
  for (const auto& m : nodes.members()) {
    auto handle = nodes.start(m.id, me);
    driver.monitor(caf::actor_cast<caf::actor>(handle));
    all.started(m.id, std::move(handle));
  }
  neighbourhood{driver, nodes.plan(), all}.connect();
  return all;
}

}  // namespace troupe
