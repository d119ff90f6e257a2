#include <troupe/evaluation_listener.hpp>
#include <troupe/job.hpp>
#include <troupe/run_hook.hpp>
#include <troupe/saving_listener.hpp>

namespace troupe {

std::string_view to_string(job_event::kind k) noexcept {
  switch (k) {
    case job_event::kind::started: return "started";
    case job_event::kind::progress: return "progress";
    case job_event::kind::saved: return "saved";
    case job_event::kind::evaluated: return "evaluated";
    case job_event::kind::warning: return "warning";
    case job_event::kind::recovering: return "recovering";
    case job_event::kind::recovered: return "recovered";
    case job_event::kind::chosen: return "chosen";
    case job_event::kind::grown: return "grown";
    case job_event::kind::finished: return "finished";
    case job_event::kind::stopped: return "stopped";
    case job_event::kind::failed: return "failed";
  }
  return "unknown";
}

std::string_view to_string(job_progress::phase p) noexcept {
  switch (p) {
    case job_progress::phase::starting: return "starting";
    case job_progress::phase::restoring: return "restoring";
    case job_progress::phase::training: return "training";
    case job_progress::phase::draining: return "draining";
    case job_progress::phase::recovering: return "recovering";
    case job_progress::phase::finished: return "finished";
    case job_progress::phase::failed: return "failed";
  }
  return "unknown";
}

job_control::~job_control() = default;
void job_control::scale_rate(double) {}
hook::~hook() = default;

needs hook::begin(int64_t) { return {}; }
void hook::on_step(const step_facts&, job_control&) {}
void hook::on_loop(const loop_facts&, job_control&) {}
void hook::on_trace(const job_trace&, job_control&) {}
void hook::on_event(const job_event&, job_control&) {}
void hook::end(int64_t) {}
void hook::on_abort(const error&) {}

run_hook::~run_hook() = default;
void run_hook::after_create(int64_t) {}
run_arguments run_hook::before_run(const run_context&, job_control&) { return {}; }
void run_hook::after_run(const run_facts&, job_control&) {}

saving_listener::~saving_listener() = default;
void saving_listener::begin(int64_t) {}
void saving_listener::before_save(int64_t) {}
saving_listener::answer saving_listener::after_save(int64_t, const std::string&) { return answer::go_on; }
void saving_listener::end(int64_t) {}

std::string_view to_string(evaluation_outcome o) noexcept {
  switch (o) {
    case evaluation_outcome::evaluated: return "evaluated";
    case evaluation_outcome::no_new: return "no_new";
    case evaluation_outcome::missing: return "missing";
  }
  return "unknown";
}

evaluation_listener::~evaluation_listener() = default;
bool evaluation_listener::before() { return true; }
bool evaluation_listener::after(evaluation_outcome, const evaluation_result*) { return true; }

}  // namespace troupe
