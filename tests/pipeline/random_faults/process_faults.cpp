#include "pipeline/random_faults/process_faults.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "support/dice.hpp"
#include "support/followed_job.hpp"

namespace troupe::test::random_faults {

namespace {

using namespace std::chrono_literals;

process_tally seen_in_all;

/// One of the two processes, which is started again when it has ended badly.
class kept_alive {
 public:
  kept_alive(two_processes& both, bool is_chief, std::shared_ptr<file_system> disk)
    : both_(both), is_chief_(is_chief), disk_(std::move(disk)) {}

  faulty_file_system& files() { return *files_; }
  bool runs() { return handle() && !handle()->ended(); }
  bool has_succeeded() {
    const auto result = handle() && handle()->ended() ? handle()->wait(0ms) : std::nullopt;
    return result && *result;
  }
  train_result result() { return **handle()->wait(0ms); }
  std::string last_failure() {
    const auto result = handle() && handle()->ended() ? handle()->wait(0ms) : std::nullopt;
    return result && !*result ? to_text(result->error()) : "";
  }
  void kill() {
    release();  // A node that hangs cannot be killed here.
    if (handle())
      is_chief_ ? both_.kill_chief() : both_.kill_evaluator();
  }
  /// A process exits once its job has ended, whatever its nodes do: they hold no lock any more.
  void exit_if_ended() {
    if (!hanging_.empty() && !runs())
      release();
  }
  bool kill_node(const std::string& node) { return runs() && both_.world->kill(named(node)); }
  bool throw_in(const std::string& node) { return runs() && both_.world->throw_in(named(node)); }
  void hang(const std::string& node) {
    hanging_.push_back(named(node));
    both_.world->hang(hanging_.back());
  }
  /// Starts it, on a disk that works; what is left of the one before is killed.
  template <class Start>
  void start(Start by) {
    kill();
    files_ = faulty_file_system::around(disk_);
    by(files_);
  }

 private:
  running_job* handle() { return (is_chief_ ? both_.chief : both_.evaluator).get(); }
  std::string named(const std::string& node) const { return (is_chief_ ? "chief/" : "evaluator/") + node; }
  void release() {
    for (const auto& node : hanging_)
      both_.world->unhang(node);
    hanging_.clear();
  }

  two_processes& both_;
  bool is_chief_;
  std::shared_ptr<file_system> disk_;
  std::shared_ptr<faulty_file_system> files_;
  std::vector<std::string> hanging_;
};

class process_life {
 public:
  explicit process_life(const process_recipe& r)
    : recipe_(r), both_(r.seed, slow_training(std::chrono::milliseconds{r.step_ms})) {}

  std::vector<std::string> live() {
    start_chief();
    start_evaluator();
    for (const auto& t : recipe_.troubles) {
      auto turns = t.turns;
      both_.world->crank_until([&] {
        exit_if_ended();
        return --turns < 0 || both_have_succeeded();
      });
      bring(t);
      ++seen_in_all.happened;
      keep_alive();
    }
    for (int rounds = 0; rounds < 20 && !both_have_succeeded(); ++rounds) {
      both_.world->wait_until([&] { return !chief_.runs() || !evaluator_.runs(); }, 24h);
      exit_if_ended();
      if (chief_.has_succeeded() && evaluator_.runs())
        both_.world->wait_until([&] { return !evaluator_.runs(); }, 24h);
      if (evaluator_.has_succeeded() && chief_.runs())
        both_.world->wait_until([&] { return !chief_.runs(); }, 24h);
      if (chief_.runs() && evaluator_.runs()) {
        wrong("neither process ends");
        break;
      }
      keep_alive();
    }
    if (wrong_.empty() && !both_have_succeeded())
      wrong("they do not end well: chief " + (chief_.has_succeeded() ? "well" : chief_.last_failure()) + ", evaluator "
            + (evaluator_.has_succeeded() ? "well" : evaluator_.last_failure()));
    if (wrong_.empty())
      check();
    return std::move(wrong_);
  }

 private:
  void wrong(std::string what) { wrong_.push_back(std::move(what)); }
  void exit_if_ended() { chief_.exit_if_ended(), evaluator_.exit_if_ended(); }
  bool both_have_succeeded() { return chief_.has_succeeded() && evaluator_.has_succeeded(); }

  keep_best best() const { return {.goal = {.metric = "loss", .smaller_is_better = recipe_.smaller_is_better}}; }
  stop_rule rule() const {
    return recipe_.asks ? stop_if("any", [](const evaluation_history&) { return true; }, {.min_steps = 10})
                        : stop_if_higher("loss", -1, {.min_steps = 10});
  }
  small_job_options options(std::shared_ptr<file_system> files) const {
    return {.max_steps = recipe_.max_steps,
            .save_steps = recipe_.save_steps,
            .throttle_secs = recipe_.throttle_secs,
            .files = std::move(files),
            .recovers = recipe_.attempts};
  }

  void start_chief() {
    ++seen_in_all.chiefs;
    chief_.start([this](std::shared_ptr<file_system> files) {
      auto job = describe_judged_elsewhere(options(std::move(files)));
      job.basis.config.keep_checkpoint_max = recipe_.keeps;
      if (recipe_.keeps_best)
        job.keep_best = best();
      if (recipe_.ends_by_rule)
        job.stop_early = {rule()};
      both_.start_chief(std::move(job));
    });
  }
  void start_evaluator() {
    ++seen_in_all.evaluators;
    evaluator_.start([this](std::shared_ptr<file_system> files) {
      auto job = describe_follower_small(options(std::move(files)));
      if (recipe_.keeps_best)
        job.keep_best = best();
      if (recipe_.ends_by_rule)
        job.stop_early = {rule()};
      if (recipe_.exports)
        job.evaluations.front().exports = exporter();
      both_.start_evaluator(std::move(job));
    });
  }
  decltype(evaluation_policy::exports) exporter() {
    return [this](const export_surroundings&, const export_occasion& now) -> expected<std::vector<std::string>> {
      if (std::exchange(export_fails_, false))
        return fail(errc::unavailable, "the export server is away");
      // An occasion that comes again may find the export of the one before.
      if (!now.again || exported_.count(now.checkpoint) == 0)
        ++exported_[now.checkpoint];
      return std::vector<std::string>{now.checkpoint};
    };
  }
  void keep_alive() {
    if (!chief_.runs() && !chief_.has_succeeded())
      start_chief();
    if (!evaluator_.runs() && !evaluator_.has_succeeded()) {
      if (!evaluator_troubled_)
        wrong("nothing troubled the evaluator, which ended: " + evaluator_.last_failure());
      start_evaluator();
    }
  }

  void bring(const process_happening& t) {
    using enum process_trouble;
    auto& of = t.of_chief ? chief_ : evaluator_;
    // A chief's process that is away long enough ends an evaluator, too.
    evaluator_troubled_ = evaluator_troubled_ || !t.of_chief || t.what == power_loss || t.what == suspended;
    if (of.has_succeeded() && t.what != suspended)
      return;
    switch (t.what) {
      case process: of.kill(); break;
      case kill: of.kill_node(t.node); break;
      case throws: of.throw_in(t.node); break;
      case hangs: of.hang(t.node); break;
      case disk_fault: of.files().inject({.category = errc::unavailable, .reason = "input/output error"}); break;
      case disk_death: of.files().fail_after(0); break;
      case power_loss:
        if (chief_.has_succeeded() || evaluator_.has_succeeded())
          return;  // What has ended well is not started again.
        chief_.kill();
        evaluator_.kill();
        disk_->crash({.torn_tails = true, .entries_may_survive = true, .seed = recipe_.seed});
        break;
      case exporter: export_fails_ = true; break;
      case suspended: both_.world->pass(1h); break;
    }
  }

  void check() {
    const auto chief = chief_.result(), evaluator = evaluator_.result();
    const auto newest = newest_checkpoint(disk_).content;
    const auto books = read_books(newest.properties);
    if (newest.id.step != chief.global_step || evaluator.global_step != chief.global_step)
      wrong("the chief ends at " + std::to_string(chief.global_step) + ", the evaluator at "
            + std::to_string(evaluator.global_step) + ", the newest checkpoint is of "
            + std::to_string(newest.id.step));
    const bool by_rule = books.ended.has_value();
    seen_in_all.ended_by_rule += by_rule ? 1 : 0;
    if (by_rule ? !recipe_.ends_by_rule : chief.global_step != recipe_.max_steps)
      wrong("the job ends at " + std::to_string(chief.global_step));
    const auto records = records_in(*disk_, true);
    seen_in_all.evaluations += std::ssize(records);
    if (!records.contains(chief.global_step))
      wrong("the last checkpoint was not evaluated");
    for (const auto& [step, count] : records)
      if (count != 1)
        wrong("step " + std::to_string(step) + " has " + std::to_string(count) + " records");
    for (const auto& [path, count] : exported_) {
      ++seen_in_all.exports;
      if (count != 1)
        wrong(path + " was exported " + std::to_string(count) + " times");
    }
    if (recipe_.exports && !exported_.contains("/run/model.ckpt-" + std::to_string(chief.global_step)))
      wrong("the last checkpoint was not exported");
    if (!recipe_.keeps_best)
      return;
    if (!books.best) {
      const auto warned = warnings_in(both_.evaluators.process().events());
      wrong("the books name no best checkpoint; the evaluator "
            + (warned.empty() ? "warns of nothing" : warned.back()));
      return;
    }
    const auto named = "/run/model.ckpt-" + std::to_string(books.best->id.step);
    if (named != evaluator.best_checkpoint)
      wrong("the best checkpoint is " + named + " by the books and " + evaluator.best_checkpoint + " by the evaluator");
    auto store = checkpoint_store::open(disk_, "/run", {.read_only = true});
    if (!store || !(*store)->restore_step(books.best->id.step))
      wrong(named + " cannot be restored");
    // Event files have float32.
    const auto best = static_cast<double>(static_cast<float>(books.best->value.value_or(0)));
    for (const auto& [step, loss] : losses_in(*disk_))
      if (recipe_.smaller_is_better ? loss < best : loss > best)
        wrong("the loss was " + std::to_string(loss) + " at step " + std::to_string(step) + " and "
              + std::to_string(best) + " at " + named);
  }

  const process_recipe& recipe_;
  std::shared_ptr<memory_disk> disk_ = memory_disk::make();
  two_processes both_;
  kept_alive chief_{both_, true, disk_}, evaluator_{both_, false, disk_};
  std::map<std::string, int> exported_;
  bool export_fails_ = false, evaluator_troubled_ = false;
  std::vector<std::string> wrong_;
};

process_happening draw_trouble(dice& d) {
  using enum process_trouble;
  process_happening t{d.of({process, process, process, kill, kill, kill, throws, hangs, disk_fault, disk_fault,
                            disk_death, power_loss, exporter, suspended}),
                      20 + d.up_to(1500), d.in_percent(50), ""};
  static const std::vector<std::string> of_chief{"infeed/0",          "replica/0",          "outfeed", "summary_writer",
                                                 "checkpoint_writer", "checkpoint_watcher", "chief"},
      of_evaluator{"evaluator",         "evaluator/infeed/0",  "evaluator/replica/0",
                   "evaluator/outfeed", "summary_writer/eval", "checkpoint_watcher",
                   "follower"};
  const auto& nodes = t.of_chief ? of_chief : of_evaluator;
  t.node = nodes[static_cast<size_t>(d.between(0, std::ssize(nodes) - 1))];
  if (t.what == hangs && (t.node == "chief" || t.node == "follower"))
    t.what = kill;  // No actor waits for a driver, so one that hangs is never found.
  return t;
}

}  // namespace

process_recipe draw_processes(uint64_t seed) {
  dice d{seed};
  process_recipe r{.seed = seed};
  r.max_steps = d.of<int64_t>({10, 20, 40});
  r.save_steps = d.of<int64_t>({1, 3, 5, 50});
  r.attempts = d.in_percent(30) ? 0 : d.between(1, 5);
  r.step_ms = d.of<int64_t>({0, 50, 500, 5000});
  r.throttle_secs = d.in_percent(30) ? static_cast<double>(d.between(1, 60)) : 0;
  r.ends_by_rule = d.in_percent(25);
  r.keeps_best = d.in_percent(60);
  r.smaller_is_better = d.in_percent(50);
  for (auto troubles = d.between(0, 6); troubles > 0; --troubles)
    r.troubles.push_back(draw_trouble(d));
  r.exports = d.in_percent(70);
  r.keeps = d.of<int64_t>({1, 1, 2, 3});
  r.asks = d.in_percent(50);
  return r;
}

std::string to_text(const process_recipe& r) {
  static constexpr const char* names[] = {"process",    "kill",       "throws",   "hangs",    "disk_fault",
                                          "disk_death", "power_loss", "exporter", "suspended"};
  std::string text = "seed " + std::to_string(r.seed) + ": " + std::to_string(r.max_steps) + " steps, saves every "
                     + std::to_string(r.save_steps) + ", " + std::to_string(r.attempts) + " attempts, "
                     + std::to_string(r.step_ms) + " ms, throttle " + std::to_string(r.throttle_secs)
                     + (r.ends_by_rule ? r.asks ? ", a predicate" : ", a rule" : "") + ", keeps "
                     + std::to_string(r.keeps) + (r.exports ? "" : ", no exporters")
                     + (r.keeps_best ? ", keeps the best" : "");
  for (const auto& t : r.troubles)
    text += "\n  after " + std::to_string(t.turns) + ": " + names[static_cast<size_t>(t.what)] + " of the "
            + (t.of_chief ? "chief " : "evaluator ") + t.node;
  return text;
}

std::vector<std::string> findings_of(const process_recipe& r) { return process_life{r}.live(); }

const process_tally& processes_seen() { return seen_in_all; }

}  // namespace troupe::test::random_faults
