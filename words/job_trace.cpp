#include "words/job_trace.hpp"

#include "words/json_text.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

namespace troupe {

namespace {

constexpr double seconds_per_ns = 1e-9;

double total(const std::vector<trace_span>& spans, bool works) {
  return std::accumulate(spans.begin(), spans.end(), 0.0,
                         [works](double sum, const trace_span& s) { return s.works == works ? sum + s.seconds : sum; });
}

bool is_replica(const recorded_lane& lane) { return lane.actor.find("replica/") != std::string::npos; }

/// The window in which replicas make the steps; none if they made only others. Where they take no time, all that was
/// recorded.
std::pair<int64_t, int64_t> window_of(int64_t first, int64_t end, const std::vector<recorded_lane>& lanes) {
  int64_t begins = INT64_MAX, ends = INT64_MIN, recorded_from = INT64_MAX, recorded_to = INT64_MIN;
  bool takes_time = false;
  for (const auto& lane : lanes)
    for (const auto& s : lane.recorded.spans) {
      recorded_from = std::min(recorded_from, s.begin_ns);
      recorded_to = std::max(recorded_to, s.end_ns);
      takes_time = takes_time || (is_replica(lane) && s.step >= 0);
      if (!is_replica(lane) || s.step < first || s.step >= end)
        continue;
      begins = std::min(begins, s.begin_ns);
      ends = std::max(ends, s.end_ns);
    }
  return takes_time ? std::pair{begins, ends} : std::pair{recorded_from, recorded_to};
}

json_text::json complete_event(std::string name, std::string_view category, double begin, double seconds, size_t lane) {
  return {{"name", std::move(name)}, {"cat", category}, {"ph", "X"},      {"ts", begin * 1e6},
          {"dur", seconds * 1e6},    {"pid", 1},        {"tid", lane + 1}};
}

}  // namespace

job_trace trace_of(int64_t first, int64_t end, const std::vector<recorded_lane>& lanes) {
  job_trace all{.first = first, .end = end};
  const auto [from, to] = window_of(first, end, lanes);
  for (const auto& lane : lanes) {
    auto& made = all.lanes.emplace_back(trace_lane{.actor = lane.actor, .left_out = lane.recorded.left_out});
    for (const auto& s : lane.recorded.spans) {
      const int64_t begins = std::max(s.begin_ns, from), ends = std::min(s.end_ns, to);
      if (begins < ends)
        made.spans.push_back({static_cast<double>(begins - from) * seconds_per_ns,
                              static_cast<double>(ends - begins) * seconds_per_ns, s.works,
                              s.works ? lane.recorded.messages[s.message] : std::string{to_string(s.cause)}, s.step});
    }
  }
  if (from < to)
    all.seconds = static_cast<double>(to - from) * seconds_per_ns;
  return all;
}

double trace_lane::busy_seconds() const { return total(spans, true); }
double trace_lane::waiting_seconds() const { return total(spans, false); }

std::string to_chrome_trace(const job_trace& t) {
  using json_text::json;
  json events = json::array();
  for (size_t lane = 0; lane < t.lanes.size(); ++lane) {
    const auto& [actor, spans, left_out] = t.lanes[lane];
    const auto name = left_out < 0   ? actor + " (does not answer)"
                      : left_out > 0 ? actor + " (" + std::to_string(left_out) + " spans left out)"
                                     : actor;
    events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", lane + 1}, {"args", {{"name", name}}}});
    events.push_back(
        {{"name", "thread_sort_index"}, {"ph", "M"}, {"pid", 1}, {"tid", lane + 1}, {"args", {{"sort_index", lane}}}});
    for (size_t i = 0; i < spans.size();) {
      size_t last = i;
      while (last + 1 < spans.size() && spans[last + 1].step == spans[i].step)
        ++last;
      if (spans[i].step >= 0)
        events.push_back(complete_event("step " + std::to_string(spans[i].step), "step", spans[i].begin,
                                        spans[last].begin + spans[last].seconds - spans[i].begin, lane));
      for (; i <= last; ++i)
        events.push_back(complete_event((spans[i].works ? "" : "waits for ") + spans[i].what,
                                        spans[i].works ? "work" : "wait", spans[i].begin, spans[i].seconds, lane));
    }
  }
  return json{{"traceEvents", std::move(events)},
              {"displayTimeUnit", "ms"},
              {"otherData", {{"first_step", t.first}, {"end_step", t.end}}}}
      .dump(-1, ' ', true, json::error_handler_t::replace);
}

namespace {

char sign_of(const trace_span& s) { return s.works ? '#' : s.what == "horizon" || s.what.empty() ? ' ' : s.what[0]; }

/// What each of `columns` parts of the time of a lane is spent on.
std::string drawn(const trace_lane& lane, double seconds, size_t columns) {
  const double width = seconds / static_cast<double>(columns);
  std::vector<std::map<char, double>> parts(columns);
  for (const auto& s : lane.spans) {
    const double end = s.begin + s.seconds;
    const auto first = static_cast<size_t>(s.begin / width);
    for (size_t i = first; i < columns && static_cast<double>(i) * width < end; ++i) {
      const double from = static_cast<double>(i) * width;
      parts[i][sign_of(s)] += std::max(0.0, std::min(end, from + width) - std::max(s.begin, from));
    }
  }
  std::string line(columns, ' ');
  for (size_t i = 0; i < columns; ++i)
    if (!parts[i].empty())
      line[i] = std::max_element(parts[i].begin(), parts[i].end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  return line;
}

}  // namespace

std::string to_text(const job_trace& t, size_t columns) {
  size_t width = 0;
  for (const auto& lane : t.lanes)
    width = std::max(width, lane.actor.size());
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", t.seconds * 1e3);
  std::string text = "steps " + std::to_string(t.first) + " to " + std::to_string(t.end - 1) + ", " + seconds + " ms\n";
  columns = std::max<size_t>(columns, 1);
  for (const auto& lane : t.lanes) {
    text += lane.actor + std::string(width - lane.actor.size(), ' ') + " |";
    text += lane.left_out < 0 ? " does not answer" : t.seconds > 0 ? drawn(lane, t.seconds, columns) : "";
    text += "|\n";
  }
  return text + "# works, waits for: i input, p peers, r room, a arena, blank: a grant\n";
}

}  // namespace troupe
