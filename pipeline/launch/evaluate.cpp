// Launches an evaluation that runs alone: starts its evaluator, which starts all other nodes and writes the result to a
// board.
#include "actors/exit_reason.hpp"
#include "actors/lone_evaluation.hpp"
#include "pipeline/launch/agent.hpp"
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/spawn.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <mutex>

namespace troupe {

namespace {

class board final : public evaluation_board {
 public:
  explicit board(std::shared_ptr<job_listener> listener) : listener_(std::move(listener)) {}
  void answered(expected<evaluated> x) override {
    {
      std::lock_guard lock{guard_};
      if (answer_)
        return;
      answer_ = std::move(x);
    }
    listener_->changed();
  }
  void warned(std::string text) override {
    std::lock_guard lock{guard_};
    warnings_.push_back(std::move(text));
  }
  void written() override {
    {
      std::lock_guard lock{guard_};
      written_ = true;
    }
    listener_->changed();
  }

  std::optional<expected<evaluated>> answer() const {
    std::lock_guard lock{guard_};
    return answer_;
  }
  bool is_written() const {
    std::lock_guard lock{guard_};
    return written_;
  }
  std::vector<std::string> warnings() const {
    std::lock_guard lock{guard_};
    return warnings_;
  }

 private:
  mutable std::mutex guard_;
  std::optional<expected<evaluated>> answer_;
  std::vector<std::string> warnings_;
  bool written_ = false;
  std::shared_ptr<job_listener> listener_;
};

class launched_evaluation final : public running_evaluation {
 public:
  launched_evaluation(std::shared_ptr<prepared_job> job, std::shared_ptr<job_world> world)
    : deadlines_(job->basis().deadlines), world_(std::move(world)),
      board_(std::make_shared<board>(world_->listener())) {
    world_->tell_time_and_host(*job);
    const auto which = std::get<evaluation_job>(job->job).checkpoint.which;
    nodes_.emplace(*world_, std::move(job));
    driver_ = spawn_actor(world_->system(), {.messages = world_->messages()}, lone_evaluation,
                          lone_evaluation_options{nodes_->driven(), board_, which});
    const auto handle = caf::actor_cast<caf::strong_actor_ptr>(driver_);
    world_->listener()->started(lone_evaluation_state::name, handle);
    nodes_->end_with(handle);
    driver_->attach_functor([board = board_](const caf::error& reason) {
      board->answered(fail(category_of(reason), "the evaluation ended: " + describe(reason)));
      board->written();
    });
  }

  ~launched_evaluation() override {
    nodes_->interrupt();  // Stops waiting for steps and reads in progress.
    caf::anon_send_exit(driver_, caf::exit_reason::user_shutdown);
    world_->end(deadlines_.stop);
  }

  expected<evaluation_result> wait() override {
    if (!result_)
      result_ = await();
    return *result_;
  }

 private:
  expected<evaluation_result> await() {
    const auto seconds = [](std::chrono::milliseconds x) { return std::to_string(x.count() / 1000) + " s"; };
    // This limit is for the whole evaluation; the evaluator itself has a deadline for each batch.
    if (!world_->wait_until([this] { return board_->answer().has_value(); }, deadlines_.evaluation))
      return fail(errc::deadline_exceeded, "the evaluation did not end within " + seconds(deadlines_.evaluation)
                                               + ", waiting for the evaluator");
    const auto x = *board_->answer();
    if (!x)
      return fail(x.error());
    const bool written = world_->wait_until([this] { return board_->is_written(); }, deadlines_.stop);
    evaluation_result result{static_cast<int64_t>(x->metrics.at("global_step")),
                             x->metrics,
                             x->batches,
                             x->seconds,
                             x->checkpoint,
                             board_->warnings(),
                             x->arrays};
    if (!written)
      result.warnings.push_back("the event file was not written within " + seconds(deadlines_.stop)
                                + ", waiting for the summary writer");
    return result;
  }

  chief_deadlines deadlines_;
  std::shared_ptr<job_world> world_;
  std::shared_ptr<board> board_;
  std::optional<launched_nodes> nodes_;
  lone_evaluation_actor driver_;
  std::optional<expected<evaluation_result>> result_;
};

/// The handle of an evaluation that failed before it began.
class failed_evaluation final : public running_evaluation {
 public:
  explicit failed_evaluation(error cause) : cause_(std::move(cause)) {}
  expected<evaluation_result> wait() override { return fail(cause_); }

 private:
  error cause_;
};

}  // namespace

std::unique_ptr<running_evaluation> launcher::evaluate(std::shared_ptr<prepared_job> job) {
  auto world = make_world();
  if (!world)
    return std::make_unique<failed_evaluation>(world.error());
  return std::make_unique<launched_evaluation>(std::move(job), std::move(*world));
}

}  // namespace troupe
