#include "pipeline/launch/launch.hpp"

#include "actors/exit_reason.hpp"
#include "pipeline/launch/job_crew.hpp"
#include "pipeline/launch/local_system.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

class board final : public job_board {
 public:
  explicit board(std::shared_ptr<node_watch> nodes) : nodes_(std::move(nodes)) {}
  void status(const job_progress& x) override {
    std::lock_guard lock{guard_};
    const auto step = now_.evaluating;
    const auto batches = now_.evaluated_batches;
    now_ = x;
    now_.evaluating = step;
    now_.evaluated_batches = batches;
  }
  void evaluating(std::optional<int64_t> step, int64_t batches) override {
    std::lock_guard lock{guard_};
    now_.evaluating = step;
    now_.evaluated_batches = batches;
  }
  void event(const job_event&) override {}  // Events are for hooks; the board keeps only the newest state.
  void finished(expected<train_result> x) override {
    std::lock_guard lock{guard_};
    if (!result_)
      result_ = std::move(x);
    changed_.notify_all();
  }
  /// Ends the crew of a chief that died, which only a defect or lack of memory can cause.
  void chief_ended(const caf::error& reason) {
    {
      std::lock_guard lock{guard_};
      if (result_)
        return;
    }
    nodes_->kill_all();
    finished(fail(category_of(reason), "the chief ended without a result: " + describe(reason)));
  }
  job_progress progress() const {
    std::lock_guard lock{guard_};
    return now_;
  }
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) const {
    std::unique_lock lock{guard_};
    const auto there = [this] { return result_.has_value(); };
    if (!deadline)
      changed_.wait(lock, there);  // The chief's own deadlines limit this wait.
    else if (!changed_.wait_for(lock, bounded(*deadline), there))
      return std::nullopt;
    return result_;
  }

 private:
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  job_progress now_;
  std::optional<expected<train_result>> result_;
  std::shared_ptr<node_watch> nodes_;
};

class local_job final : public running_job {
 public:
  /// Starts the job in `host`, or in `own` if `host` is null.
  local_job(std::shared_ptr<prepared_job> job, caf::actor_system* host, std::unique_ptr<local_system> own)
    : deadlines_(job->basis().deadlines), turns_(job->training().turns), own_(std::move(own)), board_(std::make_shared<board>(nodes_)) {
    tell_time_and_place(*job);
    job->board = board_;
    auto& system = host ? *host : **own_;
    const auto nodes = make_crew(system, job, no_node, true, [watch = nodes_](const std::string&, const caf::strong_actor_ptr& node) { watch->started(node); });
    chief_ = start_head<chief_actor>(*nodes, role::chief);
    // Threads that wait for the job get a result even if the chief dies.
    chief_->attach_functor([board = board_](const caf::error& reason) { board->chief_ended(reason); });
  }

  ~local_job() override {
    turns_->withdraw();  // The thread that would call hooks may be this one.
    ask(request::abort, false);
    // The longest time that the chief itself waits for its hooks and actors.
    if (!board_->wait(deadlines_.stop + deadlines_.hooks + std::chrono::seconds{5}) || !nodes_->all_ended(deadlines_.stop))
      if (own_)
        own_->leave_behind();
  }

  job_progress progress() const override { return board_->progress(); }
  void ask(uint8_t kind, bool by_signal) override { caf::anon_send(chief_, request{kind, by_signal}); }
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) override {
    return board_->wait(deadline);
  }

 private:
  chief_deadlines deadlines_;
  std::shared_ptr<hook_turns> turns_;
  std::unique_ptr<local_system> own_;  // Null in an actor system of the caller.
  std::shared_ptr<node_watch> nodes_ = std::make_shared<node_watch>();  // Includes the nodes of an evaluation, which the chief does not count.
  std::shared_ptr<board> board_;
  chief_actor chief_;
};

/// A job that ended before it began.
class failed_job final : public running_job {
 public:
  explicit failed_job(error cause) : cause_(std::move(cause)) {}
  job_progress progress() const override { return {.now = job_progress::phase::failed}; }
  void ask(uint8_t, bool) override {}
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds>) override { return expected<train_result>{fail(cause_)}; }

 private:
  error cause_;
};

}  // namespace

std::unique_ptr<running_job> launch_local(std::shared_ptr<prepared_job> job, caf::actor_system* host) {
  if (host)
    return std::make_unique<local_job>(std::move(job), host, nullptr);
  auto own = local_system::make();
  if (!own)
    return std::make_unique<failed_job>(own.error());
  return std::make_unique<local_job>(std::move(job), nullptr, std::move(*own));
}

}  // namespace troupe
