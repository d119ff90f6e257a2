#include "words/json_text.hpp"
#include "words/text.hpp"

#include <troupe/job_status.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe {

namespace {

using json_text::as_json;
using json_text::json;

constexpr std::array phases{job_progress::phase::starting,   job_progress::phase::restoring,
                            job_progress::phase::training,   job_progress::phase::draining,
                            job_progress::phase::recovering, job_progress::phase::finished,
                            job_progress::phase::failed};

job_progress::phase phase_in(const json_text::entry& e) {
  const auto text = e.text();
  for (const auto p : phases)
    if (to_string(p) == text)
      return p;
  e.refuse("a phase of a job, such as \"training\"");
}

std::map<std::string, double> metrics_in(const json_text::entry& e) {
  std::map<std::string, double> all;
  for (const auto& [name, value] : e.members())
    all[name] = value.number();
  return all;
}

actor_report actor_in(const json_text::entry& e) {
  e.require_members({"name", "role", "answered", "busy_seconds", "waiting_seconds", "messages", "bytes", "queued",
                     "queued_max", "mailbox", "mailbox_max"},
                    {"driver"});
  e.at("waiting_seconds").require_members({"input", "peers", "room", "arena", "horizon"});
  actor_report a{.name = e.at("name").text(),
                 .role = e.at("role").text(),
                 .driver = e.has("driver") ? e.at("driver").text() : std::string{},
                 .answered = e.at("answered").boolean(),
                 .busy_seconds = e.at("busy_seconds").number()};
  const auto waits = e.at("waiting_seconds");
  a.waiting_seconds = {waits.at("input").number(), waits.at("peers").number(), waits.at("room").number(),
                       waits.at("arena").number(), waits.at("horizon").number()};
  a.messages = e.at("messages").integer();
  a.bytes = e.at("bytes").integer();
  a.queued = e.at("queued").integer();
  a.queued_max = e.at("queued_max").integer();
  a.mailbox = e.at("mailbox").integer();
  a.mailbox_max = e.at("mailbox_max").integer();
  return a;
}

job_status status_in(const json_text::entry& e) {
  e.require_members({"written", "process", "host", "phase", "step", "loss", "steps_per_second", "committed_step",
                     "paused", "evaluations", "report"},
                    {"max_steps"});
  e.at("report").require_members({"seconds", "step", "actors"}, {"bound_by"});
  job_status s{.written = e.at("written").number(), .process = e.at("process").integer(), .host = e.at("host").text()};
  auto& p = s.progress;
  p.now = phase_in(e.at("phase"));
  p.step = e.at("step").integer();
  if (e.has("max_steps"))
    p.max_steps = e.at("max_steps").integer();
  p.loss = e.at("loss").number();
  p.steps_per_second = e.at("steps_per_second").number();
  p.committed_step = e.at("committed_step").integer();
  p.paused = e.at("paused").boolean();
  for (const auto& [name, metrics] : e.at("evaluations").members())
    p.evaluations[name] = metrics_in(metrics);
  const auto report = e.at("report");
  s.report.seconds = report.at("seconds").number();
  s.report.step = report.at("step").integer();
  for (const auto& a : report.at("actors").elements())
    s.report.actors.push_back(actor_in(a));
  return s;
}

std::string age_text(double seconds) {
  if (!(seconds < 1e12))
    return "at an unknown time";
  return seconds < 1.5 ? "just now" : std::to_string(std::lround(seconds)) + " s ago";
}

}  // namespace

std::string to_json(const job_status& s) {
  const auto& p = s.progress;
  json all{{"written", as_json(s.written)},
           {"process", s.process},
           {"host", s.host},
           {"phase", std::string{to_string(p.now)}},
           {"step", p.step},
           {"loss", as_json(p.loss)},
           {"steps_per_second", as_json(p.steps_per_second)},
           {"committed_step", p.committed_step},
           {"paused", p.paused},
           {"evaluations", json::object()},
           {"report", json::parse(to_json(s.report))}};
  if (p.max_steps)
    all["max_steps"] = *p.max_steps;
  for (const auto& [name, metrics] : p.evaluations) {
    auto& into = all["evaluations"][name] = json::object();
    for (const auto& [metric, value] : metrics)
      into[metric] = as_json(value);
  }
  return json_text::text_of(all);
}

expected<job_status> parse_status(std::string_view text, const std::string& file) {
  return json_text::read(text, file, status_in);
}

std::string to_text(const job_status& s, double now) {
  const auto& p = s.progress;
  std::string text = std::string{to_string(p.now)} + (p.paused ? ", paused" : "") + ", step " + std::to_string(p.step);
  if (p.max_steps && *p.max_steps > 0)
    text += " of " + std::to_string(*p.max_steps) + " ("
            + std::to_string(std::lround(
                std::clamp(100 * static_cast<double>(p.step) / static_cast<double>(*p.max_steps), 0.0, 100.0)))
            + " %)";
  if (p.now == job_progress::phase::training || p.now == job_progress::phase::draining)
    text += ", " + std::to_string(std::lround(p.steps_per_second)) + " steps/s";
  text += ", loss " + shortest_text(static_cast<float>(p.loss));
  text += p.committed_step >= 0 ? ", saved at " + std::to_string(p.committed_step) : ", not saved yet";
  text += "\nprocess " + std::to_string(s.process) + " on " + s.host + ", " + age_text(now - s.written) + "\n";
  for (const auto& [name, metrics] : p.evaluations)
    text += (name.empty() ? "evaluation" : name) + ": " + metrics_text(metrics) + "\n";
  return s.report.actors.empty() ? text : text + "\n" + to_text(s.report);
}

}  // namespace troupe
