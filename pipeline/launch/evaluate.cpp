// Launching an evaluation alone: the evaluator, the writer of an event file for its results, and their driver, which waits for
// both so that a thread outside need not be an actor.
#include "pipeline/launch/launcher.hpp"

#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"
#include "pipeline/launch/job_crew.hpp"
#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/spawn.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <mutex>

namespace troupe {

namespace {

/// Shows the state of an evaluation to the thread that waits for it.
class evaluation_board {
 public:
  explicit evaluation_board(std::shared_ptr<job_listener> listener) : listener_(std::move(listener)) {}
  /// The first call counts.
  void answered(expected<evaluated> x) {
    {
      std::lock_guard lock{guard_};
      if (answer_)
        return;
      answer_ = std::move(x);
    }
    listener_->changed();
  }
  /// The event file was not written as it should be: the result is valid all the same.
  void warned(std::string text) {
    std::lock_guard lock{guard_};
    warnings_.push_back(std::move(text));
  }
  /// Nothing follows.
  void written() {
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

using evaluation_driver_actor = caf::typed_actor<
  caf::reacts_to<evaluated>,  // The result, or why there is none.
  caf::reacts_to<failure>,    // The summary writer could not write.
  caf::reacts_to<log_replaced>,  // Its event file was lost, and has a successor.
  caf::reacts_to<record_credit>>; // Ignored: an evaluation has a few records.

/// Has no deadlines: the waiting thread has them, and they cover an evaluator that is inside a call that does not return.
struct evaluation_driver_state {
  evaluation_driver_state() = default;
  evaluation_driver_state(const evaluation_driver_state&) = delete;
  ~evaluation_driver_state() {
    if (nodes)
      for (const auto& m : nodes->members())
        nodes->end(m.id);
  }

  static inline const char* name = "evaluation";
  evaluation_driver_actor::stateful_pointer<evaluation_driver_state> self = nullptr;
  std::shared_ptr<crew> nodes;
  std::shared_ptr<evaluation_board> board;
  evaluator_actor worker;
  summary_writer_actor writer;  ///< Null if the job has none.
  bool answered = false;

  void on_evaluated(const evaluated& x) {
    if (answered)
      return;
    answered = true;
    board->answered(x.ok ? expected<evaluated>{x} : fail(x.cause));
    // Without a checkpoint the model directory may not exist, and an evaluation does not create it.
    if (!x.ok || !writer || x.checkpoint.empty())
      return board->written();
    for (auto& r : evaluation_records(x))
      self->send(writer, std::move(r));
    self->send(writer, finish_log{});
  }
  /// A `writer` that could not be started is an error before the evaluation has ended, and a warning afterwards.
  void on_down(const caf::down_msg& x) {
    const bool of_worker = x.source == worker->address();
    if (!answered) {
      answered = true;
      board->answered(fail(category_of(x.reason), (of_worker ? "the evaluator ended: " : "the summary writer ended: ") + describe(x.reason)));
    } else if (of_worker) {
      return;
    } else if (x.reason) {
      board->warned("the event file was not written: the summary writer ended: " + describe(x.reason));
    }
    board->written();
  }
};

evaluation_driver_actor::behavior_type evaluation_driver(evaluation_driver_actor::stateful_pointer<evaluation_driver_state> self,
                                                         std::shared_ptr<crew> nodes, checkpoint_choice which,
                                                         std::shared_ptr<evaluation_board> board) {
  auto& state = self->state;
  state.self = self;
  state.nodes = std::move(nodes);
  state.board = std::move(board);
  const auto myself = caf::actor_cast<caf::strong_actor_ptr>(self);
  state.writer = start_head<summary_writer_actor>(*state.nodes, role::eval_summary_writer, myself);
  state.worker = start_head<evaluator_actor>(*state.nodes, role::evaluator, myself);
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  self->monitor(state.worker);
  if (state.writer)
    self->monitor(state.writer);
  self->send(state.worker, evaluate_at{0, which, {}});
  return {
    [&state](const evaluated& x) { state.on_evaluated(x); },
    [&state](const failure& x) { state.board->warned(to_string(x.what)); },
    [&state](const log_replaced& x) { state.board->warned(x.text); },
    [](const record_credit&) {},
  };
}

class launched_evaluation final : public running_evaluation {
 public:
  launched_evaluation(std::shared_ptr<prepared_job> job, std::shared_ptr<job_world> world)
    : job_(std::move(job)), world_(std::move(world)), board_(std::make_shared<evaluation_board>(world_->listener())) {
    world_->tell_time_and_host(*job_);
    const auto& wanted = std::get<evaluation_job>(job_->job);
    const auto which = wanted.from ? checkpoint_choice{wanted.from->id.step, wanted.from->id.iteration}
                                   : checkpoint_choice{wanted.step.value_or(-1)};  // The evaluator takes -1 for the newest.
    driver_ = spawn_actor(world_->system(), {.messages = world_->messages()}, evaluation_driver, make_crew(*world_, job_, no_node), which, board_);
    world_->listener()->started(evaluation_driver_state::name, caf::actor_cast<caf::strong_actor_ptr>(driver_));
    driver_->attach_functor([board = board_](const caf::error& reason) {
      board->answered(fail(category_of(reason), "the evaluation ended: " + describe(reason)));
      board->written();
    });
  }

  ~launched_evaluation() override {
    job_->switch_of(role::evaluator).all();  // Cancels steps and reads in progress, whose results are no longer awaited.
    caf::anon_send_exit(driver_, caf::exit_reason::user_shutdown);
    world_->end(job_->basis().deadlines.stop);
  }

  expected<evaluation_result> wait() override {
    if (!result_)
      result_ = await();
    return *result_;
  }

 private:
  expected<evaluation_result> await() {
    const auto seconds = [](std::chrono::milliseconds x) { return std::to_string(x.count() / 1000) + " s"; };
    const auto& deadlines = job_->basis().deadlines;
    // The evaluator has a deadline for each batch itself.
    if (!world_->wait_until([this] { return board_->answer().has_value(); }, deadlines.evaluation))
      return fail(errc::deadline_exceeded, "the evaluation did not end within " + seconds(deadlines.evaluation) + ", waiting for the evaluator");
    const auto x = *board_->answer();
    if (!x)
      return fail(x.error());
    const bool written = world_->wait_until([this] { return board_->is_written(); }, deadlines.stop);
    evaluation_result result{x->id.step, x->metrics, x->batches, x->seconds, x->checkpoint, board_->warnings(), x->arrays};
    if (!written)
      result.warnings.push_back("the event file was not written within " + seconds(deadlines.stop) + ", waiting for the summary writer");
    return result;
  }

  std::shared_ptr<prepared_job> job_;
  std::shared_ptr<job_world> world_;
  std::shared_ptr<evaluation_board> board_;
  evaluation_driver_actor driver_;
  std::optional<expected<evaluation_result>> result_;
};

/// An evaluation that failed before it began.
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
