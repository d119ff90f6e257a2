#include "estimator/describe.hpp"
#include "estimator/launched_by.hpp"
#include "estimator/session_start.hpp"
#include "pipeline/launch/local_system.hpp"

#include <troupe/caf.hpp>

namespace troupe {

namespace {

expected<void> check_types(const caf::actor_system& system) {
  if (has_types(system))
    return {};
  return fail(errc::failed_precondition,
              "the actor system does not know Troupe's messages: call troupe::add_troupe_types on its configuration "
              "before it is made");
}

}  // namespace

void add_troupe_types(caf::actor_system_config& config) { add_types(config); }

expected<job> start(caf::actor_system& system, const estimator& e, const train_spec& training,
                    const eval_specs& evaluations, const start_options& options) {
  if (auto known = check_types(system); !known)
    return fail(known.error());
  hosted_launcher hosted{system};
  return start_by(hosted, e, training, evaluations, options);
}

expected<session> open_session(caf::actor_system& system, const estimator& e, const train_spec& training,
                               const session_options& options) {
  if (auto known = check_types(system); !known)
    return fail(known.error());
  hosted_launcher hosted{system};
  return open_by(hosted, describe(e, training, {}), options);
}

expected<evaluation_result> evaluate(caf::actor_system& system, const estimator& e, const eval_spec& evaluation,
                                     const checkpoint_ref& which) {
  if (auto known = check_types(system); !known)
    return fail(known.error());
  hosted_launcher hosted{system};
  return evaluate_by(hosted, e, evaluation, which);
}

expected<prediction_stream> predict(caf::actor_system& system, const estimator& e, const predict_spec& spec) {
  if (auto known = check_types(system); !known)
    return fail(known.error());
  return predict_by(std::make_shared<hosted_launcher>(system), e, spec);
}

}  // namespace troupe
