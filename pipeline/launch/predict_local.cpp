#include "actors/predictor.hpp"
#include "pipeline/launch/job_crew.hpp"
#include "pipeline/launch/launch.hpp"
#include "pipeline/launch/local_system.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

class local_prediction final : public running_prediction {
 public:
  local_prediction(std::shared_ptr<prepared_job> job, std::unique_ptr<local_system> system)
    : running_prediction(job->prediction().batches_ahead), job_(std::move(job)), system_(std::move(system)),
      predictor_(start_predictor(**system_, job_, queue(), true,
                                 [watch = nodes_](const std::string&, const caf::strong_actor_ptr& node) { watch->started(node); })) {}

  ~local_prediction() override {
    cancel();
    if (!nodes_->all_ended(job_->basis().deadlines.stop))
      system_->leave_behind();
  }

  void cancel() override {
    running_prediction::cancel();
    job_->switch_of(role::predictor).all();
    caf::anon_send_exit(predictor_, caf::exit_reason::user_shutdown);
  }

 private:
  void ask(int64_t until) override { caf::anon_send(predictor_, pull{.until_step = until}); }
  /// The predictor has a deadline of its own; this one covers a predictor that a disk or a model blocks.
  bool wait() override { return queue()->wait(job_->basis().deadlines.silence + 2 * job_->basis().deadlines.stop); }

  std::shared_ptr<prepared_job> job_;
  std::unique_ptr<local_system> system_;
  std::shared_ptr<node_watch> nodes_ = std::make_shared<node_watch>();
  predictor_actor predictor_;
};

/// A prediction that failed before it began.
class failed_prediction final : public running_prediction {
 public:
  explicit failed_prediction(error cause) : running_prediction(0) { queue()->ended(std::move(cause)); }

 private:
  void ask(int64_t) override {}
  bool wait() override { return true; }
};

}  // namespace

std::unique_ptr<running_prediction> predict_local(std::shared_ptr<prepared_job> job) {
  auto system = local_system::make();
  if (!system)
    return std::make_unique<failed_prediction>(system.error());
  return std::make_unique<local_prediction>(std::move(job), std::move(*system));
}

}  // namespace troupe
