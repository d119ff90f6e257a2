#include "storage/events/event_log.hpp"
#include "storage/examination/examination.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

std::string_view to_string(session_note::kind k) {
  switch (k) {
    case session_note::kind::start: return "start";
    case session_note::kind::stop: return "stop";
    case session_note::kind::checkpoint: return "checkpoint";
  }
  return "unknown";
}

std::string_view to_string(event_attachment::kind k) {
  switch (k) {
    case event_attachment::kind::graph: return "graph";
    case event_attachment::kind::meta_graph: return "meta graph";
    case event_attachment::kind::run_metadata: return "run metadata";
    case event_attachment::kind::message: return "message";
  }
  return "unknown";
}

/// All values of one tag and kind, by both.
using tag_reports = std::map<std::string, tag_report>;

tag_report& report_of(tag_reports& tags, int64_t step, const std::string& tag, std::string_view kind) {
  auto& found = tags.try_emplace(tag + '\0' + std::string{kind}, tag_report{tag, 0, step, step}).first->second;
  ++found.count;
  found.first_step = std::min(found.first_step, step);
  found.last_step = std::max(found.last_step, step);
  return found;
}

void add_values(tag_reports& tags, const log_event& e) {
  for (const auto& value : e.values)
    report_of(tags, e.step, value.tag, to_string(value.what)).last = value;
  for (const auto& value : e.others)
    report_of(tags, e.step, value.tag, to_string(value.as)).other = value;
}

}  // namespace

expected<event_report> examine_event_file(file_system& fs, const std::string& path) {
  const auto info = fs.info(path);
  if (!info)
    return fail(info.error());
  auto log = read_event_log(fs, path);
  if (!log)
    return fail(std::move(log.error()));
  event_report report{.path = path, .events = static_cast<int64_t>(log->events.size()), .bytes = info->size, .bytes_read = log->bytes_read,
                      .truncated = log->truncated};
  tag_reports tags;
  for (const auto& e : log->events) {
    if (!e.file_version.empty())
      report.file_version = e.file_version;
    if (report.first_wall_time == 0)
      report.first_wall_time = e.wall_time;
    report.last_wall_time = e.wall_time;
    add_values(tags, e);
    if (e.attachment)
      report.attachments.push_back({std::string{to_string(e.attachment->what)}, e.step, e.wall_time, e.attachment->name,
                                    std::ssize(e.attachment->bytes), e.attachment->nodes});
    if (e.note)
      report.sessions.push_back({std::string{to_string(e.note->what)}, e.step, e.wall_time, e.note->checkpoint_path, e.note->message});
  }
  for (auto& [key, tag] : tags)
    report.tags.push_back(std::move(tag));
  if (log->damage)
    report.damages.push_back({path, "", log->bytes_read, log->damage->message});
  return report;
}

expected<evaluation_history> read_evaluations(file_system& fs, const std::string& directory) {
  const auto info = fs.info(directory);
  if (!info)
    return info.error().category == errc::not_found ? expected<evaluation_history>{} : fail(info.error());
  const auto paths = list_event_logs(fs, directory);
  if (!paths)
    return fail(paths.error());
  std::map<int64_t, std::map<std::string, double>> by_step;
  for (const auto& path : *paths) {
    const auto log = read_event_log(fs, path);
    if (!log)
      return fail(log.error());
    for (const auto& e : log->events)
      for (const auto& value : e.values)
        if (value.what == summary_value::kind::scalar)
          by_step[e.step].insert_or_assign(value.tag, static_cast<double>(value.scalar));
  }
  evaluation_history history;
  for (auto& [step, metrics] : by_step)
    history.push_back({step, std::move(metrics)});
  return history;
}

expected<event_points_report> examine_event_points(file_system& fs, const std::string& path, std::string_view tag) {
  const auto info = fs.info(path);
  if (!info)
    return fail(info.error());
  auto paths = info->directory ? list_event_logs(fs, path) : expected<std::vector<std::string>>{std::vector{path}};
  if (!paths)
    return fail(std::move(paths.error()));
  if (paths->empty())
    return fail(errc::not_found, path + " has no event file");
  event_points_report report;
  std::set<std::string> others;
  for (const auto& file : *paths) {
    auto log = read_event_log(fs, file);
    if (!log)
      return fail(std::move(log.error()));
    for (auto& e : log->events) {
      if (e.note && e.note->what == session_note::kind::start)
        std::erase_if(report.points, [&](const event_point& p) { return p.step >= e.step; });
      for (auto& value : e.values)
        if (value.tag == tag)
          report.points.push_back({.step = e.step, .wall_time = e.wall_time, .value = std::move(value)});
        else
          others.insert(value.tag);
      for (auto& value : e.others)
        if (value.tag == tag)
          report.points.push_back({.step = e.step, .wall_time = e.wall_time, .other = std::move(value)});
        else
          others.insert(value.tag);
    }
    if (log->damage)
      report.damages.push_back({file, "", log->bytes_read, log->damage->message});
  }
  if (report.points.empty() && report.damages.empty()) {
    std::string names;
    for (const auto& name : others)
      names.append(names.empty() ? "'" : ", '").append(name).append("'");
    return fail(errc::not_found, path + " has no value of the tag '" + std::string{tag} + "'; there are: " + (names.empty() ? "none" : names));
  }
  return report;
}

}  // namespace troupe
