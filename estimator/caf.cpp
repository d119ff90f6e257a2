#include <troupe/caf.hpp>

#include "estimator/launched_by.hpp"
#include "pipeline/launch/local_system.hpp"

namespace troupe {

void add_troupe_types(caf::actor_system_config& config) {
  add_types(config);
}

expected<job> start(caf::actor_system& system, const estimator& e, const train_spec& training, std::optional<eval_spec> evaluation,
                    const start_options& options) {
  if (!has_types(system))
    return fail(errc::failed_precondition,
                "the actor system does not know Troupe's messages: call troupe::add_troupe_types on its configuration before it is made");
  hosted_launcher hosted{system};
  return start_by(hosted, e, training, evaluation, options);
}

}  // namespace troupe
