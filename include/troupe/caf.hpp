// For programs that already run CAF: jobs whose actors live in the program's own actor system. This is the only header
// that mentions CAF; it needs the version that Troupe was built with (0.17).
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
#include <troupe/session.hpp>

#include <caf/fwd.hpp>

namespace troupe {

/// Registers the messages of Troupe's actors in `config`; call it before the system is made. Their type ids start at
/// caf::first_custom_type_id + 2000, so the program's own type ids must end before that.
TROUPE_API void add_troupe_types(caf::actor_system_config& config);

/// Like `start` of job.hpp, but the job's actors run in `system`, which must outlive the handle. Actors that may block
/// have threads of their own; the chief shares the system's workers and needs one for a moment every few milliseconds.
/// The actors end with the job. If an actor has called a function of the program and the function never returns, the
/// actor is abandoned after the stop deadline, and then keeps the system from ending. failed_precondition: the messages
/// are not registered in `system`; other errors as in job.hpp.
TROUPE_API expected<job> start(caf::actor_system& system, const estimator& e, const train_spec& training,
                               const eval_specs& evaluations = {}, const start_options& options = {});

/// Like `session::open` of session.hpp, with the job's actors in `system`, as of `start` above. Calls of the session
/// block; make them on a thread of the program or in a detached actor. Errors: those of `start` and `session::open`.
TROUPE_API expected<session> open_session(caf::actor_system& system, const estimator& e, const train_spec& training,
                                          const session_options& options = {});

/// Like `evaluate` of estimator.hpp, with its actors in `system`. All of them have ended when it returns, except for
/// one that is inside a call that never returns. It blocks and needs one of the system's workers, so call it from
/// detached actors only. failed_precondition: the messages are not registered in `system`; other errors as in
/// estimator.hpp.
TROUPE_API expected<evaluation_result> evaluate(caf::actor_system& system, const estimator& e,
                                                const eval_spec& evaluation, const checkpoint_ref& which = {});

/// Like `predict` of predict.hpp, with its actors in `system`, which must outlive the stream. They end with the stream,
/// with the same exception. `next` blocks; the actors have threads of their own and need no worker.
/// failed_precondition: the messages are not registered in `system`; other errors as in predict.hpp.
TROUPE_API expected<prediction_stream> predict(caf::actor_system& system, const estimator& e, const predict_spec& spec);

}  // namespace troupe
