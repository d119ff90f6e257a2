#include "pipeline/launch.hpp"

#include "pipeline/job_crew.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace troupe {

namespace {

/// CAF's own defaults are unbounded turns and at least four workers; a job needs one, for those who never block.
class system_config final : public caf::actor_system_config {
 public:
  system_config() {
    add_message_types<caf::id_block::troupe>();
    set("scheduler.max-threads", size_t{1});
    set("scheduler.max-throughput", size_t{64});
    set("logger.verbosity", caf::atom("quiet"));
  }
};

class board final : public job_board {
 public:
  void status(const job_progress& x) override {
    std::lock_guard lock{guard_};
    now_ = x;
  }
  void event(const job_event&) override {}  // Hooks hear of events; the board keeps only the newest state.
  void finished(expected<train_result> x) override {
    std::lock_guard lock{guard_};
    if (!result_)
      result_ = std::move(x);
    changed_.notify_all();
  }
  void started(const caf::strong_actor_ptr& node) {
    std::lock_guard lock{guard_};
    nodes_.emplace_back(node->get()->address());
  }
  /// Whether every node has ended, those of an evaluation too, which the chief does not count. Waits for them at most so long.
  bool all_ended(std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    const auto alive = [](const caf::actor_addr& address) {
      const auto node = caf::actor_cast<caf::strong_actor_ptr>(address);
      return node && !node->get()->getf(caf::abstract_actor::is_terminated_flag);
    };
    std::unique_lock lock{guard_};
    while (std::any_of(nodes_.begin(), nodes_.end(), alive))
      if (changed_.wait_until(lock, std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds{1})) == std::cv_status::timeout
          && std::chrono::steady_clock::now() >= end)
        return false;
    return true;
  }
  /// A chief that dies, which only a defect can bring about, takes its crew with it.
  void chief_ended() {
    {
      std::lock_guard lock{guard_};
      if (result_)
        return;
      for (const auto& address : nodes_)
        if (auto node = caf::actor_cast<caf::strong_actor_ptr>(address))
          caf::anon_send_exit(node, caf::exit_reason::kill);
    }
    finished(fail(errc::aborted, "the chief ended without a result"));
  }
  job_progress progress() const {
    std::lock_guard lock{guard_};
    return now_;
  }
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) const {
    std::unique_lock lock{guard_};
    const auto there = [this] { return result_.has_value(); };
    if (!deadline)
      changed_.wait(lock, there);  // The chief's own deadlines bound this.
    else if (!changed_.wait_for(lock, *deadline, there))
      return std::nullopt;
    return result_;
  }

 private:
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  job_progress now_;
  std::optional<expected<train_result>> result_;
  std::vector<caf::actor_addr> nodes_;
};

/// What an actor of this process needs to tell wall time from its own clock, which is the steady one.
void tell_time_and_place(prepared_job& job) {
  const auto since_epoch = [](auto now) { return std::chrono::duration<double>(now.time_since_epoch()).count(); };
  job.wall_offset = since_epoch(std::chrono::system_clock::now()) - since_epoch(std::chrono::steady_clock::now());
}

class local_job final : public running_job {
 public:
  explicit local_job(std::shared_ptr<prepared_job> job)
    : deadlines_(job->description.deadlines), system_(std::make_unique<caf::actor_system>(*config_)), board_(std::make_shared<board>()) {
    tell_time_and_place(*job);
    auto nodes = make_crew(*system_, job, true, [board = board_](const std::string&, const caf::strong_actor_ptr& node) { board->started(node); });
    chief_ = system_->spawn(chief, make_chief_options(*job, std::move(nodes), board_));
    // Whatever becomes of the chief, whoever waits for the job is told.
    chief_->attach_functor([board = board_] { board->chief_ended(); });
  }

  ~local_job() override {
    ask(request::abort, false);
    // The chief waits for its actors at most so long itself; one that is still inside a call that never returns would
    // keep the actor system, and with it this thread, for ever. It is left behind instead.
    if (!board_->wait(deadlines_.stop + deadlines_.hooks + std::chrono::seconds{5}) || !board_->all_ended(deadlines_.stop)) {
      static_cast<void>(system_.release());
      static_cast<void>(config_.release());
    }
  }

  job_progress progress() const override { return board_->progress(); }
  void ask(uint8_t kind, bool by_signal) override { caf::anon_send(chief_, request{kind, by_signal}); }
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) override {
    return board_->wait(deadline);
  }

 private:
  chief_deadlines deadlines_;
  std::unique_ptr<system_config> config_ = std::make_unique<system_config>();
  std::unique_ptr<caf::actor_system> system_;
  std::shared_ptr<board> board_;
  chief_actor chief_;
};

}  // namespace

std::unique_ptr<running_job> launch_local(std::shared_ptr<prepared_job> job) {
  return std::make_unique<local_job>(std::move(job));
}

expected<evaluation_result> evaluate_local(std::shared_ptr<prepared_job> job, int64_t step) {
  system_config config;
  caf::actor_system system{config};
  caf::scoped_actor me{system};
  auto worker = spawn_evaluator(system, job, true, caf::actor_cast<caf::strong_actor_ptr>(me));
  me->monitor(worker);
  me->send(worker, evaluate_at{0, step, {}});
  expected<evaluation_result> result = fail(errc::aborted, "the evaluator ended without a result");
  // Bounded by the evaluator's own deadline between batches.
  me->receive(
    [&](const evaluated& x) {
      if (x.ok)
        result = evaluation_result{x.step, x.metrics, x.batches, x.seconds, x.checkpoint};
      else
        result = fail(x.cause);
    },
    [&](const caf::down_msg&) {});
  // Whatever it is still reading or computing, nobody waits for it any more.
  job->evaluation->cancel->store(true);
  job->evaluation->stop.request_stop();
  me->send_exit(worker, caf::exit_reason::user_shutdown);
  return result;
}

}  // namespace troupe
