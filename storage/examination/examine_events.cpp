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

std::string_view to_string(event_attachment::kind k) {
  switch (k) {
    case event_attachment::kind::graph: return "graph";
    case event_attachment::kind::meta_graph: return "meta graph";
    case event_attachment::kind::run_metadata: return "run metadata";
    case event_attachment::kind::message: return "message";
  }
  return "unknown";
}

/// Descriptions by tag and kind of value.
using tag_descriptions = std::map<std::string, tag_description>;

tag_description& report_of(tag_descriptions& tags, int64_t step, const std::string& tag, std::string_view kind) {
  auto& found = tags.try_emplace(tag + '\0' + std::string{kind}, tag_description{tag, 0, step, step}).first->second;
  ++found.count;
  found.first_step = std::min(found.first_step, step);
  found.last_step = std::max(found.last_step, step);
  return found;
}

void add_values(tag_descriptions& tags, log_event e) {
  for (auto& value : e.values)
    report_of(tags, e.step, value.tag, to_string(value.what)).last = std::move(value);
  for (auto& value : e.others)
    report_of(tags, e.step, value.tag, to_string(value.as)).other = std::move(value);
}

}  // namespace

expected<event_file_description> examine_event_file(file_system& fs, const std::string& path) {
  const auto info = fs.info(path);
  if (!info)
    return fail(info.error());
  event_file_description description{.path = path, .bytes = info->size};
  tag_descriptions tags;
  const auto reading = read_event_log(fs, path, [&](log_event e) {
    if (!e.file_version.empty())
      description.file_version = e.file_version;
    if (description.first_wall_time == 0)
      description.first_wall_time = e.wall_time;
    description.last_wall_time = e.wall_time;
    if (e.attachment)
      description.attachments.push_back({std::string{to_string(e.attachment->what)}, e.step, e.wall_time,
                                         e.attachment->name, std::ssize(e.attachment->bytes), e.attachment->nodes});
    if (e.note)
      description.sessions.push_back(
          {std::string{to_string(e.note->what)}, e.step, e.wall_time, e.note->checkpoint_path, e.note->message});
    add_values(tags, std::move(e));
  });
  if (!reading)
    return fail(reading.error());
  description.events = reading->events;
  description.bytes_read = reading->bytes_read;
  description.truncated = reading->truncated;
  for (auto& [key, tag] : tags)
    description.tags.push_back(std::move(tag));
  if (reading->damage)
    description.damages.push_back({path, "", reading->bytes_read, reading->damage->message});
  return description;
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
    const auto reading = read_event_log(fs, path, [&by_step](const log_event& e) {
      for (const auto& value : e.values)
        if (value.what == summary_value::kind::scalar)
          by_step[e.step].insert_or_assign(value.tag, static_cast<double>(value.scalar));
    });
    if (!reading)
      return fail(reading.error());
  }
  evaluation_history history;
  for (auto& [step, metrics] : by_step)
    history.push_back({step, std::move(metrics)});
  return history;
}

namespace {

/// The points of one tag, and the names of other tags with values, without those that a later start has made invalid.
struct tag_points {
  std::string_view tag;
  std::vector<event_point> points = {};
  std::map<std::string, int64_t> others = {};  ///< The least step of each tag.
  bool taken_back = false;                     ///< There were points, but a start has made them invalid.

  void add(log_event e) {
    if (e.note && e.note->what == session_note::kind::start) {
      taken_back = std::erase_if(points, [&](const event_point& p) { return p.step >= e.step; }) > 0 || taken_back;
      std::erase_if(others, [&](const auto& other) { return other.second >= e.step; });
    }
    const auto has = [&](const std::string& name) {
      if (name != tag) {
        auto& least = others.try_emplace(name, e.step).first->second;
        least = std::min(least, e.step);
      }
      return name == tag;
    };
    for (auto& value : e.values)
      if (has(value.tag))
        points.push_back({.step = e.step, .wall_time = e.wall_time, .value = std::move(value)});
    for (auto& value : e.others)
      if (has(value.tag))
        points.push_back({.step = e.step, .wall_time = e.wall_time, .other = std::move(value)});
  }

  error none_in(const std::string& path) const {
    std::string names;
    for (const auto& [name, least] : others)
      names.append(names.empty() ? "'" : ", '").append(name).append("'");
    return {errc::not_found, path + " has no value of the tag '" + std::string{tag} + "'"
                                 + (taken_back ? " left, since a job went on from a step before them" : "")
                                 + "; there are: " + (names.empty() ? "none" : names)};
  }
};

}  // namespace

expected<event_history> examine_event_points(file_system& fs, const std::string& path, std::string_view tag) {
  const auto info = fs.info(path);
  if (!info)
    return fail(info.error());
  auto paths = info->directory ? list_event_logs(fs, path) : expected<std::vector<std::string>>{std::vector{path}};
  if (!paths)
    return fail(std::move(paths.error()));
  if (paths->empty())
    return fail(errc::not_found, path + " has no event file");
  tag_points found{.tag = tag};
  std::vector<damage> damages;
  for (const auto& file : *paths) {
    const auto reading = read_event_log(fs, file, [&found](log_event e) { found.add(std::move(e)); });
    if (!reading)
      return fail(reading.error());
    if (reading->damage)
      damages.push_back({file, "", reading->bytes_read, reading->damage->message});
  }
  if (found.points.empty() && damages.empty())
    return fail(found.none_in(path));
  return event_history{std::move(found.points), std::move(damages)};
}

}  // namespace troupe
