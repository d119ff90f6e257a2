#include "pipeline/random_faults/run.hpp"

#include "pipeline/random_faults/described_job.hpp"
#include "pipeline/random_faults/protocol_watch.hpp"
#include "pipeline/random_faults/slow_disk.hpp"
#include "pipeline/random_faults/troubled_input.hpp"
#include "support/small_job.hpp"

#include <caf/type_erased_tuple.hpp>

#include <map>
#include <memory>

namespace troupe::test::random_faults {

namespace {

/// More than ten times as many as the longest undisturbed job takes.
constexpr int64_t turns_max = 300'000;
constexpr std::chrono::hours virtual_time_max{3};

/// Plays one process of a story, and observes it.
class process {
 public:
  process(const recipe& r, const run_recipe& run, std::shared_ptr<memory_disk> disk, std::string* messages)
    : recipe_(r), disk_(std::move(disk)), files_(faulty_file_system::around(disk_)),
      hook_(std::make_shared<watching_hook>(recipe_)), listener_(std::make_shared<watching_listener>(recipe_)) {
    seen_.run = run;
    auto d = describe(r, std::make_shared<slow_disk>(files_, [this] { spend_on_disk(); }), given_);
    d.input = troubled_input_of(r, input_);
    for (auto& e : d.evaluations)
      e.data.input = troubled(e.data.input, input_, true);
    if (r.hooks)
      d.hooks.push_back(hook_);
    if (r.listens)
      d.saving_listeners.push_back(listener_);
    auto job = prepared(r, std::move(d));
    job->wall_offset = 1.7e9 + static_cast<double>(run.wall_clock_s);
    job_ = std::make_unique<simulated_job>(std::move(job), run.schedule, r.conditions);
    job_->watch([this, messages](const auto& from, const auto& to, const auto& content) {
      protocol_.saw(from, to, content);
      watch_.saw(to, content);
      if (messages)
        *messages += std::to_string(job_->turns()) + " " + std::to_string(job_->now().count()) + " " + from + " to "
                     + to + ": " + content.stringify() + "\n";
    });
    if (!r.slow_node.empty())
      job_->slow_down(r.slow_node, 20);
    input_->reading = [this] { take(recipe_.read_ms); };
    input_->now = [this] { return job_->now(); };
    hook_->working = [this] { take(recipe_.hook_ms); };
  }

  observation live() {
    while (!job_->ended() && !seen_.power_lost) {
      bring_what_is_due();
      if (seen_.power_lost)
        break;
      if (!job_->crank()) {
        seen_.stuck = !job_->ended();
        break;
      }
      note_what_happened();
      watch_.look(*job_);
      if (job_->turns() > turns_max || job_->now() > last_trouble() + virtual_time_max) {
        seen_.endless = true;
        break;
      }
    }
    seen_.turns = job_->turns();
    seen_.ended = job_->now();
    seen_.trace_hash = job_->trace_hash();
    if (job_->ended())
      seen_.result = job_->wait(std::chrono::milliseconds{0});
    if (seen_.result)
      seen_.left = job_->left();
    seen_.events = job_->events();
    seen_.calls = hook_->calls();
    seen_.needs = hook_->needs();
    seen_.given = *given_;
    seen_.stopped_on = hook_->stopped_on();
    seen_.listened = listener_->calls();
    seen_.listener_stopped_at = listener_->stopped_at();
    seen_.gauge = job_->gauge();
    seen_.breaches = protocol_.breaches();
    seen_.inside = watch_.seen();
    input_->reading = hook_->working = [] {};
    input_->now = [] { return std::chrono::nanoseconds{}; };
    job_->watch({});
    job_.reset();
    return std::move(seen_);
  }

 private:
  std::chrono::nanoseconds last_trouble() const {
    return seen_.happened.empty() ? std::chrono::nanoseconds{} : seen_.happened.back().at;
  }

  void take(int64_t ms) {
    if (recipe_.conditions.timed())
      job_->spend(std::chrono::milliseconds{ms});  // Other actors run meanwhile.
    else
      job_->pass(std::chrono::milliseconds{ms});
    seen_.taken += std::chrono::milliseconds{ms};
  }

  void happened(const trouble& t) {
    seen_.taken = {};
    seen_.happened.push_back({t, job_->turns(), job_->now()});
    last_turn_ = job_->turns();
  }

  bool is_due(const moment& m) {
    switch (m.after) {
      case moment::beginning: return job_->turns() >= m.turns;
      case moment::trouble_before: return job_->turns() >= last_turn_ + m.turns;
      case moment::progress:
        if (!reached_ && job_->progress().step >= m.step)
          reached_ = job_->turns();
        return reached_ && job_->turns() >= *reached_ + m.turns;
    }
    return false;
  }

  /// Troubles happen in order: one that waits for its node to exist delays the later ones, but not the job.
  void bring_what_is_due() {
    while (next_ < seen_.run.troubles.size()) {
      const auto& t = seen_.run.troubles[next_];
      if (!is_due(t.when) || !bring(t))
        return;
      reached_.reset();
      last_turn_ = job_->turns();
      ++next_;
    }
  }

  bool bring(const trouble& t) {
    switch (t.what) {
      case trouble_kind::kill:
        if (!job_->kill(t.node))
          return false;
        break;
      case trouble_kind::stop: job_->ask(request::stop); break;
      case trouble_kind::signal: job_->ask(request::stop, stop_reason::signal); break;
      case trouble_kind::save: job_->ask(request::save); break;
      case trouble_kind::abort: job_->ask(request::abort); break;
      case trouble_kind::power_loss:
        if (job_->turns() == 0)
          return false;
        files_->fail_after(0);  // The dying process writes nothing more.
        disk_->crash({.torn_tails = t.tears, .entries_may_survive = t.tears, .seed = recipe_.seed});
        seen_.power_lost = true;
        break;
      case trouble_kind::disk_fault:
        files_->inject({.operation = t.operation,
                        .nth = t.nth,
                        .category = errc::unavailable,
                        .reason = "input/output error",
                        .path_contains = t.path_contains});
        return armed_disk(t);
      case trouble_kind::disk_full:
        files_->inject({.operation = file_operation::create, .for_ever = true});
        files_->inject({.operation = file_operation::append, .for_ever = true});
        return armed_disk(t);
      case trouble_kind::disk_death: files_->fail_after(0, t.tears); return armed_disk(t);
      case trouble_kind::input_fault: input_->arm(t); return true;
      case trouble_kind::hook_fault: hook_->arm(t); return true;
      case trouble_kind::busy: job_->occupy(t.node, t.lasts); break;
      case trouble_kind::suspended: job_->pass(t.lasts); break;
      case trouble_kind::cut:
        job_->cut(t.place);
        job_->after(t.lasts, [this, place = t.place] { job_->heal(place); });
        break;
      case trouble_kind::slow_disk:
        disk_call_ = t.each;
        job_->after(t.lasts, [this] { disk_call_ = {}; });
        break;
      case trouble_kind::host_death:
        if (!job_->kill_place(t.place))
          return false;
        break;
      case trouble_kind::late_block:
        if (!watch_.send_late_block(*job_, t.node))
          return false;
        break;
    }
    happened(t);
    seen_.taken += t.lasts;
    return true;
  }

  void spend_on_disk() {
    if (disk_call_.count() > 0 && job_) {
      job_->spend(disk_call_);
      seen_.taken += disk_call_;
    }
  }

  bool armed_disk(const trouble& t) {
    disk_troubles_.push_back(t);
    return true;
  }

  void note_what_happened() {
    for (; input_seen_ < input_->happened().size(); ++input_seen_)
      happened(input_->happened()[input_seen_]);
    for (; hook_seen_ < hook_->happened().size(); ++hook_seen_)
      happened(hook_->happened()[hook_seen_]);
    if (const auto failures = files_->failures(); failures > failures_) {
      for (const auto& t : disk_troubles_)  // All of them, since the disk does not say which one failed.
        happened(t);
      failures_ = failures;
    }
    if (seen_.ended_turn == 0 && !job_->events().empty() && is_last(job_->events().back().what))
      seen_.ended_turn = job_->turns();
  }

  static bool is_last(job_event::kind k) {
    return k == job_event::kind::finished || k == job_event::kind::stopped || k == job_event::kind::failed;
  }

  std::shared_ptr<std::vector<given_call>> given_ = std::make_shared<std::vector<given_call>>();
  const recipe& recipe_;
  std::shared_ptr<memory_disk> disk_;
  std::shared_ptr<faulty_file_system> files_;
  std::shared_ptr<input_troubles> input_ = std::make_shared<input_troubles>();
  std::shared_ptr<watching_hook> hook_;
  std::shared_ptr<watching_listener> listener_;
  std::unique_ptr<simulated_job> job_;
  observation seen_;
  state_watch watch_;
  size_t next_ = 0, input_seen_ = 0, hook_seen_ = 0;
  int64_t failures_ = 0, last_turn_ = 0;
  std::optional<int64_t> reached_;
  std::vector<trouble> disk_troubles_;
  std::chrono::milliseconds disk_call_{0};  // The time that each file call takes.
  protocol_watch protocol_;
};

observation live(const recipe& r, const run_recipe& run, const std::shared_ptr<memory_disk>& disk, int64_t stands_at,
                 std::string* messages = nullptr) {
  if (messages)
    *messages += "-- schedule " + std::to_string(run.schedule) + "\n";
  auto seen = process{r, run, disk, messages}.live();
  seen.stood_at = stands_at;
  if (r.keeps)
    look_at(disk, prefix_of_survivor(r) + "loss", seen);
  return seen;
}

}  // namespace

story play(const recipe& r, std::string* messages) {
  story all{r, {}, {}};
  const auto disk = memory_disk::make();
  int64_t stands_at = -1;
  for (const auto& run : r.disturbed) {
    all.disturbed.push_back(live(all.of, run, disk, stands_at, messages));
    const auto& last = all.disturbed.back();
    stands_at = last.newest ? last.newest->id.step : -1;
    const bool finished = last.newest && last.newest->properties.at("finished") == "true";
    if (finished && stands_at < r.max_steps)
      return all;  // A further process would read the data from the beginning.
  }
  recipe calm = r;
  calm.hook_stops_at.reset();
  calm.hook_stops_on_fact_from.reset();
  calm.listener_stops_from.reset();
  all.undisturbed = live(calm, {.schedule = r.seed}, disk, stands_at, messages);
  return all;
}

namespace {

std::string to_text(const observation& o) {
  std::string text = "  run with schedule " + std::to_string(o.run.schedule) + " from step "
                     + std::to_string(o.stood_at) + ": "
                     + (o.power_lost ? "power lost"
                        : !o.result  ? "no result"
                        : *o.result  ? "well, at step " + std::to_string((**o.result).global_step)
                                     : to_text(o.result->error()))
                     + "; " + std::to_string(o.turns) + " turns, trace " + std::to_string(o.trace_hash) + "\n";
  for (const auto& h : o.happened)
    text += "    turn " + std::to_string(h.turn) + ": " + to_text(h.what) + "\n";
  for (const auto& e : o.events)
    text += "    " + std::string{to_string(e.what)} + " " + std::to_string(e.step) + " " + e.text + "\n";
  return text;
}

}  // namespace

std::string to_text(const story& s) {
  std::string text = to_text(s.of) + "\n";
  for (const auto& o : s.disturbed)
    text += to_text(o);
  if (s.undisturbed)
    text += to_text(*s.undisturbed);
  return text;
}

const checkpoint_content& reference_of(const recipe& r) {
  static std::map<std::string, checkpoint_content> known;
  const auto key = std::to_string(r.hosts) + " " + std::to_string(r.replicas) + " "
                   + std::to_string(r.shards.value_or(0)) + " " + std::to_string(r.max_steps) + " "
                   + std::to_string(r.batches.value_or(0)) + " " + std::to_string(r.hook_scales_at.value_or(0))
                   + std::string{to_string(r.input_mode)} + (r.input_function ? " of a function" : "")
                   + (r.carries ? " loops of " + std::to_string(r.loop) : "") + key_of(r.groups);
  if (const auto found = known.find(key); found != known.end())
    return found->second;
  recipe calm;
  calm.hosts = r.hosts;
  calm.replicas = r.replicas;
  calm.shards = r.shards;
  calm.input_mode = r.input_mode;
  calm.input_function = r.input_function;
  calm.carries = r.carries;
  calm.loop = r.carries ? r.loop : 100;
  calm.max_steps = r.max_steps;
  calm.groups = r.groups;
  calm.batches = r.batches;
  calm.save_steps = r.max_steps;
  calm.hooks = r.hook_scales_at.has_value();
  calm.hook_scales_at = r.hook_scales_at;
  const auto seen = live(calm, {.schedule = 1}, memory_disk::make(), -1);
  if (!seen.newest)
    throw std::runtime_error("the undisturbed job left no checkpoint: "
                             + (!seen.result    ? "no result"
                                : !*seen.result ? to_text(seen.result->error())
                                                : "it ended well")
                             + " after " + std::to_string(seen.turns) + " turns; " + to_text(calm));
  return known.emplace(key, *seen.newest).first->second;
}

}  // namespace troupe::test::random_faults
