// Launches a job that has a handle: starts its head, which starts all other nodes and writes to a board. The head of a
// training is its chief; that of a process beside a training is a follower.
#include "actors/exit_reason.hpp"
#include "messages/session.hpp"
#include "pipeline/launch/agent.hpp"
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/node_options.hpp"
#include "pipeline/launch/spawn.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

namespace troupe {

namespace {

class board final : public job_board {
 public:
  explicit board(std::shared_ptr<job_listener> listener) : listener_(std::move(listener)) {}
  void status(const job_progress& x) override {
    bool awaited = false;
    {
      std::lock_guard lock{guard_};
      now_ = x;
      awaited = !awaited_.empty() && *awaited_.begin() <= x.step;
    }
    if (awaited)
      listener_->changed();
  }
  void event(const job_event& x) override {
    if (x.what == job_event::kind::warning) {
      std::lock_guard lock{guard_};
      if (std::ssize(warnings_) < warnings_max)
        warnings_.push_back(x.text);
      else
        ++further_warnings_;
    }
    listener_->happened(x);
  }
  void report(const job_report& x) override {
    {
      std::lock_guard lock{guard_};
      report_ = x;
      ++reports_;
    }
    listener_->changed();
  }
  void run_ended(run_end x) override {
    {
      std::lock_guard lock{guard_};
      run_ = std::move(x);
    }
    listener_->changed();
  }
  /// Dropped if nobody waits for it any more.
  void variables(reading x) override {
    {
      std::lock_guard lock{guard_};
      if (const auto wanted = readings_.find(x.number); wanted != readings_.end())
        wanted->second = std::move(x);
    }
    listener_->changed();
  }
  /// Threads that wait look at what they wait for.
  void wake() { listener_->changed(); }
  void expect_reading(uint64_t number) {
    std::lock_guard lock{guard_};
    readings_[number];
  }
  bool has_reading(uint64_t number) const {
    std::lock_guard lock{guard_};
    return readings_.at(number).has_value();
  }
  std::optional<reading> take_reading(uint64_t number) {
    std::lock_guard lock{guard_};
    return std::move(readings_.extract(number).mapped());
  }
  std::optional<run_end> take_run_end(uint64_t number) {
    std::lock_guard lock{guard_};
    return run_ && run_->number == number ? std::exchange(run_, std::nullopt) : std::nullopt;
  }
  bool has_run_end(uint64_t number) const {
    std::lock_guard lock{guard_};
    return run_ && run_->number == number;
  }
  void finished(expected<train_result> x) override {
    {
      std::lock_guard lock{guard_};
      if (result_)
        return;
      if (x) {
        std::erase(warnings_, x->remark);
        if (further_warnings_ > 0)
          warnings_.push_back("and " + std::to_string(further_warnings_) + " more warning"
                              + (further_warnings_ == 1 ? "" : "s"));
        x->warnings = std::move(warnings_);
      }
      result_ = std::move(x);
    }
    listener_->changed();
  }
  /// Kills the nodes if the head dies without a result, which only a defect or lack of memory can cause.
  void head_ended(const std::string& name, const caf::error& reason) {
    if (has_result())
      return;
    listener_->kill_all();
    finished(fail(category_of(reason), "the " + name + " ended without a result: " + describe(reason)));
  }
  job_progress progress() const {
    std::lock_guard lock{guard_};
    return now_;
  }
  job_report report() const {
    std::lock_guard lock{guard_};
    return report_;
  }
  int64_t reports() const {
    std::lock_guard lock{guard_};
    return reports_;
  }
  /// While the object exists, the listener hears of a state at `step` or beyond.
  auto await(int64_t step) {
    {
      std::lock_guard lock{guard_};
      awaited_.insert(step);
    }
    const auto forget = [this, step](void*) {
      std::lock_guard lock{guard_};
      awaited_.erase(awaited_.find(step));
    };
    return std::unique_ptr<void, decltype(forget)>{this, forget};
  }
  bool has_result() const {
    std::lock_guard lock{guard_};
    return result_.has_value();
  }
  std::optional<expected<train_result>> result() const {
    std::lock_guard lock{guard_};
    return result_;
  }

 private:
  mutable std::mutex guard_;
  job_progress now_;
  job_report report_;
  int64_t reports_ = 0;
  std::multiset<int64_t> awaited_;
  std::optional<run_end> run_;
  std::map<uint64_t, std::optional<reading>> readings_;  ///< Those that are awaited.
  std::optional<expected<train_result>> result_;
  /// A job of months may warn at every save: its result keeps the first.
  static constexpr int64_t warnings_max = 100;
  std::vector<std::string> warnings_;
  int64_t further_warnings_ = 0;
  std::shared_ptr<job_listener> listener_;
};

/// A follower drives nodes, but is none itself: it is the same in every plan.
caf::strong_actor_ptr start_follower(job_world& world, const std::shared_ptr<prepared_job>& job) {
  const launched_nodes nodes{world, job};
  auto options = follower_options_of(*job);
  options.nodes = nodes.driven();
  options.board = job->board;
  auto head = caf::actor_cast<caf::strong_actor_ptr>(spawn_actor(
      world.system(), {.own_thread = world.threads(), .messages = world.messages()}, follower, std::move(options)));
  world.listener()->started(follower_state::name, head);
  nodes.end_with(head);
  return head;
}

class launched_job final : public running_job {
 public:
  launched_job(std::shared_ptr<prepared_job> job, std::shared_ptr<job_world> world)
    : deadlines_(job->basis().deadlines), world_(std::move(world)),
      board_(std::make_shared<board>(world_->listener())) {
    world_->tell_time_and_host(*job);
    job->board = board_;
    const bool follows = std::holds_alternative<follower_job>(job->job);
    if (!follows)
      hook_thread_ = job->training().hook_thread;
    const auto head = follows ? start_follower(*world_, job)
                              : launched_nodes{*world_, job}.start_head<caf::strong_actor_ptr>(role::chief);
    head_ = caf::actor_cast<head_actor>(head);
    if (!follows)
      chief_ = caf::actor_cast<chief_actor>(head);
    // If the head dies, threads that wait for the job still get a result.
    head_->attach_functor([board = board_, name = std::string{follows ? follower_state::name : chief_state::name}](
                              const caf::error& reason) { board->head_ended(name, reason); });
  }

  ~launched_job() override {
    if (hook_thread_)
      hook_thread_->withdraw();  // The thread that would call hooks may be this one.
    ask(request::abort, stop_reason::request);
    // The longest time that the chief itself waits for its hooks and actors.
    const bool ended = world_->wait_until([this] { return board_->has_result(); },
                                          2 * deadlines_.stop + deadlines_.hooks + std::chrono::seconds{5});
    world_->end(ended ? deadlines_.stop : std::chrono::milliseconds{0});
  }

  job_progress progress() const override { return board_->progress(); }
  bool ended() const override { return board_->has_result(); }
  void ask(uint8_t kind, stop_reason reason) override {
    caf::anon_send(head_, request{kind, reason == stop_reason::signal});
  }
  expected<job_report> report(std::chrono::milliseconds deadline) override {
    const auto before = board_->reports();
    ask(request::report, stop_reason::request);
    const auto there = [this, before] { return board_->reports() > before || board_->has_result(); };
    if (!world_->wait_until(there, deadline))
      return fail(errc::deadline_exceeded, "the job did not report within " + std::to_string(deadline.count()) + " ms");
    if (board_->reports() == before)
      return fail(errc::state, "the job has ended, so that none of its actors can report");
    return board_->report();
  }
  /// Without a deadline, the chief's own deadlines limit the wait.
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) override {
    if (const auto own = hook_thread_ && !deadline ? hook_thread_->under_way.name_here() : std::string{}; !own.empty())
      return fail(errc::state, own + " cannot wait for its own job, which waits for it to return");
    world_->wait_until([this] { return board_->has_result(); }, deadline);
    return board_->result();
  }
  bool reach(int64_t step, std::optional<std::chrono::milliseconds> deadline) override {
    const auto noted = board_->await(step);
    const auto there = [this, step] { return board_->progress().step >= step || board_->has_result(); };
    return world_->wait_until(there, deadline);
  }

  std::optional<run_end> ready(std::optional<std::chrono::milliseconds> deadline) override {
    world_->wait_until([this] { return board_->has_run_end(0) || board_->has_result(); }, deadline);
    return board_->take_run_end(0);
  }
  std::optional<run_end> call(const session_call& x) override {
    const bool goes_on = x.what == session_call::kind::begun_anew;
    run_until news{.number = goes_on ? calls_ : ++calls_,
                   .count = x.count,
                   .tells_hooks = x.tells_hooks,
                   .repeats = x.repeats,
                   .first = x.first};
    news.what = goes_on                               ? run_until::begun_anew
                : x.what == session_call::kind::steps ? run_until::steps
                : x.what == session_call::kind::save  ? run_until::save
                                                      : run_until::renew;
    if (x.values)
      news.fetches = x.observed ? fetch_values | fetch_observed : fetch_values;
    news.cause = x.cause;
    caf::anon_send(chief_, news);
    world_->wait_until([this] { return board_->has_run_end(calls_) || board_->has_result(); }, {});
    return board_->take_run_end(calls_);
  }
  std::optional<reading> read(const std::vector<std::string>& names, std::chrono::milliseconds deadline,
                              const std::function<bool()>& given_up) override {
    const auto number = ++readings_;
    board_->expect_reading(number);
    caf::anon_send(chief_, read_variables{0, number, names});
    const auto over = [&] { return board_->has_reading(number) || board_->has_result() || given_up(); };
    world_->wait_until(over, deadline);
    auto found = board_->take_reading(number);
    if (!found)
      caf::anon_send(chief_, read_variables{0, number, {}});
    return found;
  }
  void look_again() override { board_->wake(); }

 private:
  using head_actor = caf::typed_actor<caf::reacts_to<request>>;

  uint64_t calls_ = 0;
  std::atomic<uint64_t> readings_ = 0;
  chief_deadlines deadlines_;
  std::shared_ptr<hook_calls> hook_thread_;  ///< Null if the job calls no hooks.
  std::shared_ptr<job_world> world_;
  std::shared_ptr<board> board_;
  head_actor head_;
  chief_actor chief_;  ///< The head, unless that is a follower.
};

/// The handle of a job that ended before it began.
class failed_job final : public running_job {
 public:
  explicit failed_job(error cause) : cause_(std::move(cause)) {}
  job_progress progress() const override { return {.now = job_progress::phase::failed}; }
  bool ended() const override { return true; }
  void ask(uint8_t, stop_reason) override {}
  expected<job_report> report(std::chrono::milliseconds) override { return fail(cause_); }
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds>) override {
    return expected<train_result>{fail(cause_)};
  }
  bool reach(int64_t, std::optional<std::chrono::milliseconds>) override { return true; }
  std::optional<run_end> ready(std::optional<std::chrono::milliseconds>) override { return {}; }
  std::optional<run_end> call(const session_call&) override { return {}; }
  std::optional<reading> read(const std::vector<std::string>&, std::chrono::milliseconds,
                              const std::function<bool()>&) override {
    return {};
  }
  void look_again() override {}

 private:
  error cause_;
};

}  // namespace

void running_job::save() { ask(request::save); }
void running_job::pause() { ask(request::pause); }
void running_job::resume() { ask(request::resume); }
void running_job::stop(stop_reason reason) { ask(request::stop, reason); }
void running_job::abort() { ask(request::abort); }

std::unique_ptr<running_job> launcher::follow(std::shared_ptr<prepared_job> job) { return train(std::move(job)); }

std::unique_ptr<running_job> launcher::train(std::shared_ptr<prepared_job> job) {
  auto world = make_world();
  if (!world)
    return std::make_unique<failed_job>(world.error());
  return std::make_unique<launched_job>(std::move(job), std::move(*world));
}

}  // namespace troupe
