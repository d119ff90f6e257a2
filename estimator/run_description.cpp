// The hook that writes the record of a run and its description for TensorBoard into the model directory, and the
// versions that the record names.
#include "compute/kernels/numerics.hpp"
#include "storage/events/event_log.hpp"
#include "storage/events/hyperparameters.hpp"
#include "storage/runs/run_record.hpp"
#include "words/text.hpp"

#include <troupe/run_description.hpp>

#include <unistd.h>

#include <chrono>
#include <set>

namespace troupe {

namespace {

run_record with_versions(run_record record) {
  record.versions["troupe"] = TROUPE_VERSION;
  record.versions["numerics"] = std::to_string(numerics_version);
  record.versions["cpu"] = TROUPE_CPU_LEVEL;
  return record;
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

/// Its files are for people and for later commands: if writing fails, the job goes on and the caller is warned.
class run_describer final : public hook {
 public:
  run_describer(std::string model_dir, run_description what)
    : files_(posix_file_system()), directory_(std::move(model_dir)), what_(std::move(what)) {}

  needs begin(int64_t step) override {
    const auto before = load_run_record(*files_, directory_);
    replaces_ = before && !differences(*before, what_.record).empty();
    return replaces_ ? needs{.steps = {{.first = step + 1}}} : needs{};
  }

  /// A record of other values is replaced once a step was made with this one's: a job that is refused before that, such
  /// as one whose data cannot go on so, leaves what the directory was trained with.
  void on_step(const step_facts&, job_control&) override {
    if (std::exchange(replaces_, false))
      begin_record();
  }
  void on_event(const job_event& event, job_control&) override {
    // The job holds the directory's lock from before this event until after the last one.
    const bool trains = event.what == job_event::kind::started && event.step < event.max_steps.value_or(event.step + 1);
    if (trains && !replaces_)  // Otherwise the state is that of an earlier run, whose record is kept.
      begin_record();
    else if (event.what == job_event::kind::evaluated)
      for (const auto& [name, value] : event.metrics)
        if (name != "global_step")
          metrics_.emplace(what_.evaluation, name);
  }
  void end(int64_t) override { finish(false); }
  void on_abort(const error&) override { finish(true); }

 private:
  void begin_record() {
    const auto before = load_run_record(*files_, directory_);
    if (what_.record.wall_time == 0)
      what_.record.wall_time = now();
    tell(write_run_record(*files_, directory_, with_versions(what_.record)), "the record of the run is not kept");
    if (!before || !differences(*before, what_.record).empty())
      tell(begin_events(), "TensorBoard is told neither of the hyperparameters nor of the graph");
  }

  expected<void> begin_events() {
    if (what_.values.empty() && !what_.graph)
      return {};
    auto graph = what_.graph
                     ? what_.graph().map([](const graph_description& g) { return std::optional{to_graph_def(g)}; })
                     : expected<std::optional<std::string>>{std::nullopt};
    auto log = event_log_writer::create(files_, directory_, {.host = host_name() + ".description", .wall_time = now()});
    if (!log)
      return fail(std::move(log.error()));
    log_ = std::move(*log);
    expected<void> added;
    if (graph && *graph)
      added = log_->add(
          {.wall_time = now(), .attachment = event_attachment{event_attachment::kind::graph, {}, std::move(**graph)}});
    if (added && !what_.values.empty())
      added = log_->add({.wall_time = now(), .others = {session_start_summary(what_.values, directory_, now())}});
    if (added)
      added = log_->flush();
    return added && !graph ? fail(std::move(graph.error())) : added;
  }

  /// Written at the end because the names of the metrics are known only then, and TensorBoard takes the first
  /// experiment that it reads.
  void finish(bool failed) {
    if (!log_)
      return;
    if (!what_.values.empty()) {
      std::vector<std::pair<std::string, std::string>> metrics{{"", "loss"}};
      metrics.insert(metrics.end(), metrics_.begin(), metrics_.end());
      tell(
          log_->add({.wall_time = now(),
                     .others = {experiment_summary(what_.values, metrics, now()), session_end_summary(failed, now())}}),
          "TensorBoard is not told of the metrics");
    }
    tell(log_->close(), "TensorBoard is not told how the job ended");
    if (const auto remark = log_->take_remark(); remark && what_.warn)
      what_.warn(*remark);
    log_.reset();
  }

  void tell(const expected<void>& done, const std::string& what_follows) {
    if (!done && what_.warn)
      what_.warn(done.error().message + ": " + what_follows);
  }

  std::shared_ptr<file_system> files_;
  std::string directory_;
  run_description what_;
  std::unique_ptr<event_log_writer> log_;
  bool replaces_ = false;  ///< The directory's record says something else, and no step was made yet.
  std::set<std::pair<std::string, std::string>> metrics_;
};

}  // namespace

expected<void> keep_run_record(const std::string& model_dir, const run_record& record) {
  return write_run_record(*posix_file_system(), model_dir, with_versions(record));
}

expected<run_record> read_run_record(const std::string& model_dir) {
  return load_run_record(*posix_file_system(), model_dir);
}

std::shared_ptr<hook> describe_run(std::string model_dir, run_description what) {
  return std::make_shared<run_describer>(std::move(model_dir), std::move(what));
}

}  // namespace troupe
