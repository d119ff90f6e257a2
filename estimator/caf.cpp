#include <troupe/caf.hpp>

#include "estimator/start_job.hpp"
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
  return start_job(e, training, evaluation, options,
                   [&system](std::shared_ptr<prepared_job> prepared) { return launch_local(std::move(prepared), &system); });
}

}  // namespace troupe
