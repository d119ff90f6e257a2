// Launches a prediction: starts its predictor, which starts all other nodes when the consumer first asks for a batch.
#include "actors/exit_reason.hpp"
#include "actors/predictor.hpp"
#include "pipeline/launch/agent.hpp"
#include "pipeline/launch/launcher.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

class launched_prediction final : public running_prediction {
 public:
  launched_prediction(std::shared_ptr<prepared_job> job, std::shared_ptr<job_world> world)
    : running_prediction(job->prediction().batches_ahead, [listener = world->listener()] { listener->changed(); }),
      deadlines_(job->basis().deadlines), world_(std::move(world)) {
    world_->tell_time_and_host(*job);
    job->predictions = queue();
    nodes_.emplace(*world_, std::move(job));
    predictor_ = nodes_->start_head<predictor_actor>(role::predictor);
    // If the predictor dies, for lack of a thread or by a defect, the consumer receives an error and does not wait.
    predictor_->attach_functor([queue = queue()](const caf::error& reason) {
      queue->ended(error{category_of(reason), "the predictor ended: " + describe(reason)});
    });
  }

  ~launched_prediction() override {
    cancel();
    world_->end(deadlines_.stop);
  }

  void cancel() override {
    running_prediction::cancel();
    nodes_->interrupt();
    caf::anon_send_exit(predictor_, caf::exit_reason::user_shutdown);
  }

 private:
  void ask(int64_t until) override { caf::anon_send(predictor_, pull{.until_step = until}); }
  /// The predictor has its own deadline. This one is for a predictor that is blocked by a disk or a model.
  bool wait() override {
    return world_->wait_until([this] { return queue()->ready(); }, deadlines_.silence + 2 * deadlines_.stop);
  }

  chief_deadlines deadlines_;
  std::shared_ptr<job_world> world_;
  std::optional<launched_nodes> nodes_;
  predictor_actor predictor_;
};

/// The handle of a prediction that failed before it began.
class failed_prediction final : public running_prediction {
 public:
  explicit failed_prediction(error cause) : running_prediction(0) { queue()->ended(std::move(cause)); }

 private:
  void ask(int64_t) override {}
  bool wait() override { return true; }
};

}  // namespace

std::unique_ptr<running_prediction> launcher::predict(std::shared_ptr<prepared_job> job) {
  auto world = make_world();
  if (!world)
    return std::make_unique<failed_prediction>(world.error());
  return std::make_unique<launched_prediction>(std::move(job), std::move(*world));
}

}  // namespace troupe
