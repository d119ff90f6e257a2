#include "storage/events/event_log.hpp"
#include "storage/examination/examination.hpp"

#include <algorithm>

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

void add_value(std::map<std::string, tag_report>& tags, int64_t step, const summary_value& value) {
  const auto [place, fresh] = tags.try_emplace(value.tag + '\0' + std::string{to_string(value.what)}, tag_report{value.tag, 0, step, step});
  auto& tag = place->second;
  ++tag.count;
  tag.first_step = std::min(tag.first_step, step);
  tag.last_step = std::max(tag.last_step, step);
  tag.last = value;
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
  std::map<std::string, tag_report> tags;
  for (const auto& e : log->events) {
    if (!e.file_version.empty())
      report.file_version = e.file_version;
    if (report.first_wall_time == 0)
      report.first_wall_time = e.wall_time;
    report.last_wall_time = e.wall_time;
    for (const auto& value : e.values)
      add_value(tags, e.step, value);
    if (e.note)
      report.sessions.push_back({std::string{to_string(e.note->what)}, e.step, e.wall_time, e.note->checkpoint_path, e.note->message});
  }
  for (auto& [key, tag] : tags)
    report.tags.push_back(std::move(tag));
  if (log->damage)
    report.damages.push_back({path, "", log->bytes_read, log->damage->message});
  return report;
}

}  // namespace troupe
