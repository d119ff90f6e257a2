// For programs that run CAF already: a job whose actors live in the program's own actor system. The one header that mentions
// CAF; it needs the version that Troupe was built with (0.17).
//
//   caf::actor_system_config config;
//   tr::add_troupe_types(config);
//   caf::actor_system system{config};
//   auto job = tr::start(system, estimator, {.input = train, .max_steps = 3000});
#pragma once

#include <troupe/job.hpp>

#include <caf/fwd.hpp>

namespace troupe {

/// Makes the messages of Troupe's actors known to the system that will be made from `config`. Their type ids start at
/// caf::first_custom_type_id + 2000; a block of the program's own must end before.
TROUPE_API void add_troupe_types(caf::actor_system_config& config);

/// As `start` of job.hpp, with the job's actors in `system`, which has to outlive the handle. What may block has a thread of
/// its own there too; the chief shares the system's workers and needs a moment of one every few milliseconds.
/// The actors end with the job and the system goes on. An actor that is inside a call of the program's that never returns is
/// left behind after the deadline for stopping, and then keeps the system from ending.
/// failed_precondition when the messages are not known to `system`; otherwise as there.
TROUPE_API expected<job> start(caf::actor_system& system, const estimator& e, const train_spec& training,
                               std::optional<eval_spec> evaluation = {}, const start_options& options = {});

}  // namespace troupe
