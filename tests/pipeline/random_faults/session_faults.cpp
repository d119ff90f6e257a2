#include "pipeline/random_faults/session_faults.hpp"

#include "actors/chief/decisions.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/dice.hpp"
#include "support/ended_jobs.hpp"
#include "support/simulated_session.hpp"

#include <map>

namespace troupe::test::random_faults {

namespace {

session_tally seen_in_all;

// -- the undisturbed job -----------------------------------------------------------

struct reference {
  checkpoint_content state;                  ///< At its end.
  std::map<int64_t, tensor> losses = {};     ///< By the state that the step led to.
  std::map<int64_t, tensor> variables = {};  ///< `read_name` by the state.
};

const std::string read_name = "dense/kernel";

struct loss_book final : hook {
  std::map<int64_t, tensor> losses = {};
  needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
  void on_step(const step_facts& facts, job_control&) override { losses[facts.step] = facts.values.at("loss"); }
};

small_job_options options_of(const session_recipe& r) {
  return {.max_steps = r.max_steps,
          .save_steps = r.save_steps,
          .replicas = r.replicas,
          .hosts = r.hosts,
          .recovers = r.attempts};
}

const reference& reference_of(const session_recipe& r) {
  static std::map<std::tuple<int32_t, int64_t, int64_t>, reference> known;
  auto& found = known[{r.hosts, r.replicas, r.max_steps}];
  if (found.losses.empty()) {
    auto o = options_of(r);
    o.files = memory_disk::make();
    const auto book = std::make_shared<loss_book>();
    o.hooks = {book};
    run_to_end(o);
    found = {newest_checkpoint(o.files).content, book->losses};
    o.files = memory_disk::make();
    o.hooks.clear();
    simulated_session s{o};
    for (int64_t step = 0; !s->should_stop(); step = s.run().step)
      found.variables[step] = s->variables({read_name})->values.at(read_name);
    s.close();
  }
  return found;
}

// -- one process -------------------------------------------------------------------

int64_t newest_step(const std::shared_ptr<file_system>& disk) {
  auto store = checkpoint_store::open(disk, "/run", {.read_only = true});
  if (!store)
    return 0;
  auto found = (*store)->restore_newest();
  return found ? found->content.id.step : 0;
}

/// Sees every state in order, from each state to which the job goes back.
struct watching final : hook {
  int64_t at = 0;
  std::vector<std::string> wrong = {};
  needs begin(int64_t step) override {
    at = step;
    return {.steps = {{.first = step + 1, .every = 1}}};
  }
  void on_step(const step_facts& facts, job_control&) override {
    if (facts.step != at + 1)
      wrong.push_back("a hook was shown state " + std::to_string(facts.step) + " after " + std::to_string(at));
    at = facts.step;
  }
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::recovered)
      at = e.step;
  }
};

class session_life {
 public:
  session_life(const session_recipe& r, const session_process& p, std::shared_ptr<memory_disk> disk)
    : recipe_(r), process_(p), disk_(std::move(disk)), files_(faulty_file_system::around(disk_)), caller_(p.caller) {}

  /// Lives until the session has no further run, and returns what went wrong.
  std::vector<std::string> live() {
    ++seen_in_all.processes;
    const int64_t stood = newest_step(disk_);
    session_.emplace(described(), process_.schedule);
    if (!session_->opened()) {
      wrong("the session was not opened: " + to_text(session_->opened().error()));
      return std::move(wrong_);
    }
    if (const auto at = (*session_)->progress().step; at != stood)
      wrong("the session begins at " + std::to_string(at) + " and not at the newest checkpoint, "
            + std::to_string(stood));
    at_ = stood;
    if (!process_.troubles.empty())
      session_->watch([this](const std::string&, const std::string&, const caf::type_erased_tuple&) { count(); });
    for (int calls = 0; calls < 200 && !power_lost_ && !(*session_)->should_stop(); ++calls)
      call();
    if (power_lost_ || !process_.closes)
      session_->watch({});
    else
      close();
    for (const auto& e : session_->events())
      if (e.what == job_event::kind::warning && e.text == forgotten_text)
        wrong(e.text);
    const bool unbroken = failed_as_.empty() && !power_lost_;
    check_books(unbroken);
    session_.reset();
    if (watching_)
      wrong_.insert(wrong_.end(), watching_->wrong.begin(), watching_->wrong.end());
    return std::move(wrong_);
  }

 private:
  void wrong(std::string what) { wrong_.push_back(std::move(what)); }

  training_job described() {
    auto o = options_of(recipe_);
    o.files = files_;
    for (int64_t i = 0; i < recipe_.run_hooks; ++i) {
      hooks_.push_back(std::make_shared<signing_hook>(std::to_string(i), books_.emplace_back(),
                                                      i > 0 ? run_arguments{.fetches = {"loss"}} : run_arguments{}));
      o.hooks.push_back(hooks_.back());
    }
    if (recipe_.watches)
      o.hooks.push_back(watching_ = std::make_shared<watching>());
    return describe_small(o);
  }

  // -- what disturbs it --

  void count() {
    if (next_ == process_.troubles.size() || busy_ || ++messages_ < process_.troubles[next_].messages)
      return;
    busy_ = true;  // A trouble sends messages, too.
    bring(process_.troubles[next_++]);
    messages_ = 0;
    busy_ = false;
  }

  void bring(const session_happening& t) {
    using enum session_trouble;
    troubled_ = true;
    switch (t.what) {
      case kill: session_->kill(t.node); break;
      case throws: session_->throw_in(t.node); break;
      case hangs: session_->hang(t.node); break;
      case disk_fault: files_->inject({.category = errc::unavailable, .reason = "input/output error"}); break;
      case disk_death: files_->fail_after(0); break;
      case power_loss:
        files_->fail_after(0);
        disk_->crash({.torn_tails = true, .entries_may_survive = true, .seed = recipe_.seed});
        power_lost_ = true;
        break;
      case stop: (*session_)->request_stop(); break;
      case preempted: fail_beside(errc::aborted); break;
      case broken: fail_beside(errc::not_found); break;
      case suspended: session_->pass(std::chrono::hours{1}); break;
    }
  }
  void fail_beside(errc category) {
    static_cast<void>((*session_)->beside().request_stop(error{category, "work beside the runs"}));
  }

  // -- what its caller does --

  void call() {
    switch (caller_.between(0, 9)) {
      case 0: save(); break;
      case 1: step_alone(); break;
      case 2: stay_away(); break;
      case 3: read(); break;
      default: run(caller_.between(1, 6), caller_.in_percent(60)); break;
    }
  }

  void stay_away() {
    session_->pass(std::chrono::minutes{10});
    for (auto turns = caller_.between(0, 200); turns > 0; --turns)
      session_->crank();
  }

  void failed(const char* what, const error& e) {
    if (!troubled_)
      wrong(std::string{what} + " failed, and nothing had happened: " + to_text(e));
    if (e.category == errc::deadline_exceeded && to_text(e).find("has not answered") != std::string::npos)
      wrong(std::string{what} + " had no end: " + to_text(e));
    failed_as_ = to_text(e);
    if (!power_lost_ && !(*session_)->should_stop())
      wrong(std::string{what} + " failed, and the session does not stop: " + to_text(e));
  }

  void ran(const run_result& made, int64_t asked, bool fetches) {
    ++seen_in_all.runs;
    seen_in_all.recoveries += made.recoveries;
    seen_in_all.steps_taken_back += made.steps_taken_back;
    const auto begins = at_ - made.steps_taken_back;
    const bool ends = (*session_)->should_stop();
    if (made.step != begins + made.steps_run || made.steps_taken_back < 0 || begins < 0
        || made.step > recipe_.max_steps)
      wrong("a run of " + std::to_string(asked) + " from " + std::to_string(at_) + " ended at "
            + std::to_string(made.step) + " after " + std::to_string(made.steps_run) + " steps, "
            + std::to_string(made.steps_taken_back) + " taken back");
    if (made.steps_run > asked || (made.steps_run < asked && !ends && made.step < recipe_.max_steps))
      wrong("a run of " + std::to_string(asked) + " made " + std::to_string(made.steps_run));
    if (made.recoveries == 0 && made.steps_taken_back != 0)
      wrong("steps were taken back without a recovery");
    at_ = made.step;
    if (!fetches || made.steps_run == 0)
      return;
    const auto loss = made.values.find("loss");
    if (loss == made.values.end() && made.steps_run < asked)
      return;  // A stop has cut the run short.
    if (loss == made.values.end())
      wrong("the loss of state " + std::to_string(made.step) + " is missing");
    else if (!(loss->second == reference_of(recipe_).losses.at(made.step)))
      wrong("the loss of state " + std::to_string(made.step) + " is another one");
  }

  void run(int64_t steps, bool fetches) {
    std::vector<std::string> wanted;
    if (fetches)
      wanted.push_back("loss");
    const auto made = (*session_)->run({.what = {.fetches = wanted}, .steps = steps});
    if (!made)
      return failed("a run", made.error());
    told_ += 1;
    ran(*made, steps, fetches);
  }

  /// A step function of two runs, the second one without hooks.
  void step_alone() {
    int64_t told = 0;
    std::optional<run_result> first, second;
    const auto done = (*session_)->run_step_fn([&](step_context& step) -> expected<void> {
      first.reset(), second.reset();
      auto made = step.run({.steps = 2});
      if (!made)
        return fail(made.error());
      ++told;
      first = std::move(*made);
      auto alone = step.run_alone({.what = {.fetches = {"loss"}}});
      if (!alone)
        return fail(alone.error());
      second = std::move(*alone);
      return {};
    });
    told_ += told;
    if (first)
      at_ = first->step;
    if (second) {
      const auto loss = second->values.find("loss");
      if (second->steps_run > 0
          && (loss == second->values.end() || !(loss->second == reference_of(recipe_).losses.at(second->step))))
        wrong("the loss in a step function is another one");
      at_ = second->step;
    }
    if (!done && !(*session_)->should_stop() && !power_lost_)
      wrong("a step function failed, and the session does not stop: " + to_text(done.error()));
    if (!done && done.error().category != errc::state)
      failed("a step function", done.error());
  }

  void save() {
    const auto saved = (*session_)->save();
    if (!recipe_.save_steps) {
      if (saved || saved.error().category != errc::failed_precondition)
        wrong("a session that does not save has saved");
      return;
    }
    if (!saved)
      return failed("a save", saved.error());
    ++seen_in_all.saves;
    const auto step = std::stoll(saved->substr(saved->rfind('-') + 1));
    if (step > at_ || (!troubled_ && step != at_))
      wrong("a save at " + std::to_string(at_) + " is " + *saved);
    if (!power_lost_ && newest_step(disk_) < step)
      wrong(*saved + " is not on the disk");
  }

  void read() {
    const auto found = (*session_)->variables({read_name});
    if (!found) {
      if (!troubled_)
        wrong("variables were not read, and nothing had happened: " + to_text(found.error()));
      return;
    }
    ++seen_in_all.readings;
    const auto& known = reference_of(recipe_).variables;
    const auto right = known.find(found->step);
    if (found->step > at_ || (right == known.end() && found->step != recipe_.max_steps))
      wrong("variables were read of state " + std::to_string(found->step) + ", and the session stands at "
            + std::to_string(at_));
    else if (right != known.end() && !(found->values.at(read_name) == right->second))
      wrong("the variables of state " + std::to_string(found->step) + " are others");
  }

  void close() {
    const auto result = (*session_)->close();
    session_->watch({});
    if (const auto left = session_->left(); !left.empty())
      wrong("left behind: " + left.front());
    if (!result) {
      ++seen_in_all.failures;
      failed_as_ = to_text(result.error());
      if (!troubled_)
        wrong("the close failed, and nothing had happened: " + failed_as_);
      return;
    }
    if (result->global_step > recipe_.max_steps)
      wrong("the session ends at " + std::to_string(result->global_step));
    if (recipe_.save_steps && newest_step(disk_) != result->global_step)
      wrong("the session ends at " + std::to_string(result->global_step) + ", its newest checkpoint is of "
            + std::to_string(newest_step(disk_)));
  }

  /// Each hook: begin, then before and after in turns, where a run that was disturbed has no after.
  void check_books(bool unbroken) {
    for (const auto& book : books_) {
      int64_t after = 0;
      bool asked = false;
      for (size_t i = 0; i < book.size(); ++i) {
        const auto& line = book[i];
        if (line.starts_with("begin") != (i == 0))
          wrong("begin is not the first call, or not called once: " + line);
        if (line.starts_with("after")) {
          if (!asked)
            wrong("after_run without before_run: " + line);
          ++after;
        }
        // A run that has passed the state to which the job goes back is not asked for again.
        asked = line.starts_with("before") || (asked && line.starts_with("create"));
        if ((line.starts_with("end") || line.starts_with("abort")) && i + 1 != book.size())
          wrong("a call after the last one: " + book[i + 1]);
      }
      // A run whose hooks were told may still fail, since the job ends before it has answered.
      if (after < told_ || (unbroken && after > told_ + 1))
        wrong("after_run was called " + std::to_string(after) + " times for " + std::to_string(told_) + " runs");
    }
  }

  const session_recipe& recipe_;
  const session_process& process_;
  std::shared_ptr<memory_disk> disk_;
  std::shared_ptr<faulty_file_system> files_;
  dice caller_;
  std::deque<texts> books_;
  std::vector<std::shared_ptr<signing_hook>> hooks_;
  std::shared_ptr<watching> watching_;
  std::optional<simulated_session> session_;
  int64_t at_ = 0;    ///< Where the last run has ended.
  int64_t told_ = 0;  ///< Runs with calls of hooks that were made.
  int64_t messages_ = 0;
  size_t next_ = 0;
  bool busy_ = false, troubled_ = false, power_lost_ = false;
  std::string failed_as_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> findings_of(const session_recipe& r) {
  const auto disk = memory_disk::make();
  for (const auto& p : r.disturbed)
    if (auto wrong = session_life{r, p, disk}.live(); !wrong.empty()) {
      wrong.front() += " (process " + std::to_string(&p - r.disturbed.data() + 1) + ")";
      return wrong;
    }
  const session_process calm{.schedule = r.seed, .caller = r.seed};
  auto wrong = session_life{r, calm, disk}.live();
  if (wrong.empty() && r.save_steps && !same_state(newest_checkpoint(disk).content, reference_of(r).state))
    wrong.push_back("the state in the end is another one");
  return wrong;
}

const session_tally& sessions_seen() { return seen_in_all; }

}  // namespace troupe::test::random_faults
