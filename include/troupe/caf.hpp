// For programs that run CAF already: jobs whose actors live in the program's own actor system. The one header that mentions
// CAF; it needs the version that Troupe was built with (0.17).
// Not needed to begin with.
//
//   caf::actor_system_config config;
//   tr::add_troupe_types(config);
//   caf::actor_system system{config};
//   auto job = tr::start(system, estimator, {.input = train, .max_steps = 3000});
//   ...
//   auto result = tr::evaluate(system, estimator, {.input = test});
//   auto predictions = tr::predict(system, estimator, {.input = images.batch(500)});
#pragma once

#include <troupe/job.hpp>
#include <troupe/predict.hpp>

#include <caf/fwd.hpp>

namespace troupe {

/// Makes the messages of Troupe's actors known to the system that will be made from `config`. Their type ids start at
/// caf::first_custom_type_id + 2000; a block of the program's own must end before.
TROUPE_API void add_troupe_types(caf::actor_system_config& config);

/// Like `start` of job.hpp, but the job's actors run in `system`, which must outlive the handle. Actors that may block
/// have threads of their own there too; the chief shares the system's workers and needs one for a moment every few
/// milliseconds.
/// The actors end with the job; the system goes on. An actor inside a call into the program that never returns is left
/// behind after the stop deadline, and then keeps the system from ending.
/// failed_precondition when the messages are not known to `system`; other errors as in job.hpp.
TROUPE_API expected<job> start(caf::actor_system& system, const estimator& e, const train_spec& training,
                               const eval_specs& evaluations = {}, const start_options& options = {});

/// Like `evaluate` of estimator.hpp, with its actors in `system`, all of which have ended when it returns, but for one that is inside
/// a call that never returns. Blocks, and needs one of the system's workers meanwhile: an actor that calls it is a detached one.
/// failed_precondition when the messages are not known to `system`; other errors as in estimator.hpp.
TROUPE_API expected<evaluation_result> evaluate(caf::actor_system& system, const estimator& e, const eval_spec& evaluation,
                                                const checkpoint_ref& which = {});

/// Like `predict` of predict.hpp, with its actors in `system`, which must outlive the stream. They end with the stream, with the same
/// exception. `next` blocks; the actors have threads of their own and need no worker.
/// failed_precondition when the messages are not known to `system`; other errors as in predict.hpp.
TROUPE_API expected<prediction_stream> predict(caf::actor_system& system, const estimator& e, const predict_spec& spec);

}  // namespace troupe
