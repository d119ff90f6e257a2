#include "estimator/describe.hpp"
#include "golden/checksums.hpp"
#include "golden/facts/fact_job.hpp"
#include "storage/exports/export_directory.hpp"
#include "support/plans.hpp"
#include "support/troubled_dataset.hpp"
#include "support/whole_event_log.hpp"

#include <troupe/metrics.hpp>

#include <algorithm>

namespace troupe::test::golden_facts {

namespace {

constexpr int64_t batch_rows = 24;
constexpr const char* observed = "mean";

std::string crc(const tensor& t) { return std::string{to_string(t.type())} + " " + std::to_string(crc32c(t.bytes())); }

std::string metric_lines(const std::string& of, const std::map<std::string, double>& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics)
    text += of + " " + name + " " + bits(value) + "\n";
  return text;
}

/// Notes what it is shown, and acts under its gates.
class fact_hook final : public hook {
 public:
  fact_hook(const fact_job& job, std::string& to) : job_(job), to_(to) {}

  needs begin(int64_t step) override {
    start_ = step;
    needs all{.last = job_.sees_last, .holds = {.saved = job_.stops_on_saved_from.has_value()}};
    if (job_.gate_every > 0)
      all.steps.push_back({job_.gate_every, job_.gate_every, true});
    if (job_.watch_every > 0)
      all.steps.push_back({0, job_.watch_every, false});
    for (const auto& at : {job_.saves_at, job_.scales_at, job_.stops_at})
      if (at)
        all.steps.push_back({*at, 0, true});
    if (job_.observes)
      all.values = {observed};
    to_ += "begin " + std::to_string(step) + "\n";
    return all;
  }
  void on_step(const step_facts& facts, job_control& control) override {
    to_ += "at " + std::to_string(facts.step);
    for (const auto& [name, value] : facts.values)
      to_ += " " + name + " " + crc(value);
    to_ += "\n";
    if (facts.step == start_)  // Where a job begins it has done so before.
      return;
    if (job_.scales_at == facts.step)
      control.scale_rate(0.5);
    if (job_.saves_at == facts.step)
      control.save();
    if (job_.stops_at == facts.step)
      control.stop();
  }
  void on_event(const job_event& event, job_control& control) override {
    if (event.what == job_event::kind::saved && event.step > start_
        && event.step >= job_.stops_on_saved_from.value_or(INT64_MAX) && !asked_) {
      asked_ = true;
      control.stop();
    }
  }
  void end(int64_t step) override { to_ += "end " + std::to_string(step) + "\n"; }

 private:
  const fact_job& job_;
  std::string& to_;
  int64_t start_ = 0;
  bool asked_ = false;
};

class fact_listener final : public saving_listener {
 public:
  fact_listener(const fact_job& job, std::string& to) : stops_from_(*job.listener_stops_from), to_(to) {}

  void begin(int64_t step) override { start_ = step; }
  void before_save(int64_t step) override { to_ += "before the save of " + std::to_string(step) + "\n"; }
  answer after_save(int64_t step, const std::string& prefix) override {
    to_ += "saved " + prefix + "\n";
    return step > start_ && step >= stops_from_ ? answer::stop : answer::go_on;
  }
  void end(int64_t step) override { to_ += "end " + std::to_string(step) + "\n"; }

 private:
  int64_t stops_from_, start_ = 0;
  std::string& to_;
};

model measured_model(bool measures) {
  auto source = small_model();
  source.build = [inner = source.build, measures](graph& g, const features& x, const labels& y, mode m) {
    g.observe(observed, reduce_mean(x["x"]));
    auto spec = inner(g, x, y, m);
    if (m == mode::train && measures)
      spec.metrics["first"] = metrics::mean(x["x"]);
    return spec;
  };
  return source;
}

std::vector<exporter> exporters() {
  return {
      {.name = "latest"}, {.name = "best", .rule = export_rule::best}, {.name = "final", .rule = export_rule::final}};
}

training_job describe(const fact_job& j, const std::shared_ptr<file_system>& files, std::string& hooks,
                      std::string& listeners) {
  const auto data = small_dataset(j.batches.value_or(7) * batch_rows + (j.batches ? 0 : 5)).shuffle().batch(batch_rows);
  auto input = j.batches ? data : data.repeat();
  if (j.breaks_at)
    input = dataset{std::make_shared<troubled_stage>(input.last_stage(), *j.breaks_at, [] {
      return expected<void>{fail(error{.category = errc::data_loss, .message = "a broken batch"})};
    })};
  const bool reducers = std::any_of(j.deaths.begin(), j.deaths.end(),
                                    [](const auto& d) { return d.node == "reducer"; });
  auto d = describe_small({.max_steps = j.max_steps,
                           .save_steps = j.save_steps,
                           .replicas = j.replicas,
                           .hosts = j.hosts,
                           .reducers = reducers,
                           .shards = j.shards,
                           .input = std::move(input),
                           .files = files,
                           .source = measured_model(j.measures),
                           .recovers = j.deaths.empty() ? 0 : 20});
  d.basis.config.keep_checkpoint_max = static_cast<int32_t>(j.keep_max);
  d.basis.config.summary_steps = j.summary_steps;
  d.basis.config.log_steps = j.log_steps;
  if (j.measures)
    d.basis.config.train_metrics = train_metrics::all;
  if (j.evaluates) {
    auto& waits = d.evaluations.emplace_back(
        evaluation_policy{.data = small_evaluation(), .throttle_secs = 0, .every_steps = j.eval_every});
    waits.data.steps = j.eval_steps;
    if (j.exports) {
      waits.exports = exporting_of({*d.basis.source, {.model_dir = "/run", .seed = 7}},
                                   {.input = small_evaluation().input, .exporters = exporters()});
      waits.exports_at_end = true;
    }
    if (j.evaluates_beside) {
      d.evaluations.push_back({.data = small_evaluation(), .throttle_secs = 0, .when = evaluation_mode::beside});
      d.evaluations.back().data.name = "beside";
    }
    if (j.keeps_best)
      d.keep_best = keep_best{};
    if (j.patience)
      d.stop_early = {stop_if_no_decrease("loss", *j.patience)};
  }
  if (j.gate_every > 0 || j.watch_every > 0 || j.sees_last || j.saves_at || j.scales_at || j.stops_at
      || j.stops_on_saved_from)
    d.hooks = {std::make_shared<fact_hook>(j, hooks)};
  if (j.listener_stops_from)
    d.saving_listeners = {std::make_shared<fact_listener>(j, listeners)};
  return d;
}

std::shared_ptr<prepared_job> prepared(const fact_job& j, training_job d) {
  if (j.groups) {
    auto w = two_candidates(d.input, static_cast<int32_t>(j.replicas));
    w.plan.groups[1].retires_at = j.retires_at;
    if (j.leaves) {
      w.plan.groups[2].leaves = leaves_on::numbers_and_death;
      w.resources.models[2] = std::make_shared<const model>(
          model{"b", [tame = candidate("b", 7)](graph& g, const features& x, const labels& y, mode m) {
                  auto spec = tame.build(g, x, y, m);
                  spec.optimizer = gradient_descent{.rate = 1e18f};
                  return spec;
                }});
    }
    return w.prepared(std::move(d));
  }
  auto job = prepare(std::move(d));
  if (!job)
    throw std::runtime_error("a job that cannot be prepared: " + to_text(job.error()));
  return *job;
}

void note_result(const fact_job& j, const expected<train_result>& result, std::string& to) {
  if (!result) {
    const auto& e = result.error();  // Of two nodes that fail at a step either may be told first.
    to += "failed: " + std::string{to_string(e.category)} + " step " + std::to_string(e.step.value_or(-1)) + "\n";
    return;
  }
  to += "step " + std::to_string(result->global_step) + (result->stopped ? " stopped" : "") + "\n";
  to += "checkpoint " + result->checkpoint + "\nbest " + result->best_checkpoint + "\n";
  if (j.deaths.empty())
    to += "remark " + result->remark + "\n";
  if (j.groups)
    return;
  to += metric_lines("metric", result->metrics);
  for (const auto& [name, metrics] : result->evaluations)
    if (name != "beside")
      to += metric_lines("evaluation " + name, metrics);
}

void note_commit(const checkpoint_content& c, std::string& to) {
  const auto at = to_string(c.id) + " ";
  for (const auto& t : c.tensors)
    to += at + t.name + " " + crc(t.value) + "\n";
  for (const auto& [name, bytes] : c.blobs)
    to += at + "blob " + name + " " + std::to_string(crc32c(bytes)) + "\n";
  for (const auto& [name, text] : c.properties)
    if (name != "rate_factor" || text != "1")  // Said only in a verdict on the state where an attempt began, and the
                                               // same as silence.
      to += at + name + " " + text + "\n";
}

/// Notes the `newest` newest commits; 0: all. Where old checkpoints are deleted, it depends on the order of turns which
/// of them are still held.
void note_commits(const std::shared_ptr<file_system>& files, int64_t newest, std::string& to) {
  auto store = checkpoint_store::open(files, "/run", {.read_only = true});
  if (!store)
    throw std::runtime_error(to_text(store.error()));
  const auto listed = (*store)->listed();
  const size_t all = listed.size(), from = newest > 0 ? all - std::min(all, static_cast<size_t>(newest)) : 0;
  for (size_t i = from; i < all; ++i) {
    auto found = (*store)->restore(listed[i]);
    if (!found)
      throw std::runtime_error(to_text(found.error()));
    note_commit(found->content, to);
  }
}

/// Values with neither times nor rates, by step and tag; with `files_too`, and the number of their file.
void note_events(file_system& files, const std::string& directory, bool files_too, std::string& to) {
  const auto paths = list_event_logs(files, directory);
  if (!paths)
    return;
  std::map<std::pair<int64_t, std::string>, std::string> seen;
  for (size_t i = 0; i < paths->size(); ++i) {
    const auto log = read_whole_log(files, (*paths)[i]);
    if (!log || log->damage || log->truncated)
      throw std::runtime_error("a damaged event file: " + (*paths)[i]);
    for (const auto& e : log->events) {
      if (e.note && e.note->what == session_note::kind::start)
        seen.erase(seen.lower_bound({e.step, ""}), seen.end());
      for (const auto& v : e.values)
        if (!v.tag.ends_with("/sec"))
          seen[{e.step, v.tag}] = (files_too ? "file " + std::to_string(i) + " " : "") + std::to_string(checksum(v));
    }
  }
  for (const auto& [at, what] : seen)
    to += directory + " step " + std::to_string(at.first) + " " + at.second + " " + what + "\n";
}

/// Notes exports by their steps, since their names are times.
void note_exports(file_system& files, std::string& to) {
  for (const auto& by : exporters()) {
    const auto base = "/run/export/" + by.name;
    const auto numbers = exports_in(files, base);
    if (!numbers)
      continue;
    for (const int64_t n : *numbers) {
      const auto read = read_export(files, join_path(base, std::to_string(n)));
      if (!read)
        throw std::runtime_error(to_text(read.error()));
      const auto at = by.name + " of step " + std::to_string(read->origin.global_step) + " ";
      for (const auto& [name, value] : read->tensors)
        to += at + name + " " + crc(value) + "\n";
    }
  }
}

}  // namespace

std::map<std::string, std::string> facts_of(const fact_job& j, uint64_t schedule) {
  const auto files = memory_disk::make();
  std::map<std::string, std::string> facts;
  const bool undisturbed = j.deaths.empty();
  auto &result = facts["result"], &evaluations = facts["evaluations"], &hooks = facts["hooks"],
       &listeners = facts["listeners"];
  for (int process = 0; process < 2; ++process) {
    auto of_process = j;
    if (process == 1)
      of_process.stops_at = of_process.stops_on_saved_from = {};
    if (process == 1 && of_process.listener_stops_from)
      of_process.listener_stops_from = INT64_MAX;
    simulated_job job{prepared(of_process, describe(of_process, files, hooks, listeners)),
                      schedule + static_cast<uint64_t>(process)};
    for (const auto& d : j.deaths)
      if (job.crank_until([&] { return job.progress().step >= d.step || job.ended(); }) && !job.ended())
        job.kill(d.node);
    const auto ended = job.wait(std::chrono::hours{3});
    if (!ended)
      throw std::runtime_error("seed " + std::to_string(j.seed) + ": the job does not end");
    note_result(j, *ended, result);
    for (const auto& e : job.events())
      if (undisturbed && e.what == job_event::kind::evaluated && e.evaluation.empty())
        evaluations += metric_lines("evaluation of step " + std::to_string(e.step), e.metrics);
    if (!*ended || !(*ended)->stopped || (*ended)->global_step >= j.max_steps)
      break;
  }
  note_commits(files, undisturbed ? j.keep_max : 1, facts["commits"]);
  if (!j.groups)
    for (const std::string directory : {"/run", "/run/eval"})
      note_events(*files, directory, undisturbed, facts["events"]);
  if (j.exports)
    note_exports(*files, facts["exports"]);
  std::erase_if(facts, [](const auto& of) { return of.second.empty(); });
  return facts;
}

}  // namespace troupe::test::golden_facts
