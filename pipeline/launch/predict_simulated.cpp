#include "pipeline/launch/predict_simulated.hpp"

#include "pipeline/launch/job_crew.hpp"
#include "pipeline/launch/simulated_world.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

struct simulated_prediction::impl {
  impl(std::shared_ptr<prepared_job> prepared, uint64_t seed, std::shared_ptr<prediction_board> board) : job(std::move(prepared)), world(seed) {
    predictor = start_predictor(world.system(), job, std::move(board), false,
                                [this](const std::string& name, const caf::strong_actor_ptr& node) { world.started(name, node); });
  }

  std::shared_ptr<prepared_job> job;
  simulated_world world;
  predictor_actor predictor;
};

simulated_prediction::simulated_prediction(std::shared_ptr<prepared_job> job, uint64_t seed)
  : running_prediction(job->prediction().batches_ahead), impl_(std::make_unique<impl>(job, seed, queue())) {}

simulated_prediction::~simulated_prediction() {
  impl_->predictor = predictor_actor{};
  impl_->world.end_all();
}

void simulated_prediction::cancel() {
  running_prediction::cancel();
  impl_->job->switch_of(role::predictor).all();
  caf::anon_send_exit(impl_->predictor, caf::exit_reason::user_shutdown);
}

bool simulated_prediction::crank() {
  return impl_->world.crank();
}

bool simulated_prediction::kill(const std::string& node) {
  return impl_->world.kill(node);
}

std::vector<std::string> simulated_prediction::left() {
  return impl_->world.left();
}

std::chrono::nanoseconds simulated_prediction::now() const {
  return impl_->world.now();
}

void simulated_prediction::ask(int64_t until) {
  caf::anon_send(impl_->predictor, pull{.until_step = until});
}

bool simulated_prediction::wait() {
  return impl_->world.crank_until([this] { return queue()->wait(std::chrono::milliseconds{0}); });
}

}  // namespace troupe
