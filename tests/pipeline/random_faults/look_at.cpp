// Reads the files that an ended process left, as the next process or a reader of curves would.
#include "pipeline/random_faults/run.hpp"
#include "tests/support/whole_event_log.hpp"

#include <algorithm>
#include <set>

namespace troupe::test::random_faults {

namespace {

/// The step in "model.ckpt-20.manifest.json" and similar names; none for other files.
std::optional<int64_t> step_of_file(const std::string& name) {
  constexpr std::string_view prefix = "model.ckpt-";
  return name.starts_with(prefix) ? std::optional{std::strtoll(name.c_str() + prefix.size(), nullptr, 10)}
                                  : std::nullopt;
}

/// The steps at which `tag` has a value. A START note withdraws values of earlier processes from its step on. A torn
/// record at the end of a file is ignored.
std::vector<int64_t> steps_of_curve(file_system& disk, const std::string& directory, const std::string& tag) {
  std::set<int64_t> steps;
  const auto paths = list_event_logs(disk, directory);
  if (!paths)
    return {};
  for (const auto& path : *paths)
    if (const auto log = read_whole_log(disk, path))
      for (const auto& e : log->events) {
        if (e.note && e.note->what == session_note::kind::start)
          steps.erase(steps.lower_bound(e.step), steps.end());
        if (std::any_of(e.values.begin(), e.values.end(), [&](const auto& v) { return v.tag == tag; }))
          steps.insert(e.step);
      }
  return {steps.begin(), steps.end()};
}

void look_at_exports(file_system& disk, observation& o) {
  for (const std::string name : {"latest", "best", "final"}) {
    const auto base = "/run/export/" + name;
    const auto numbers = exports_in(disk, base);
    if (!numbers)
      throw std::runtime_error("exports that cannot be listed: " + to_text(numbers.error()));
    for (const int64_t n : *numbers) {
      auto& sight = o.exports.emplace_back(export_sight{name, join_path(base, std::to_string(n)), {}, {}});
      if (auto read = read_export(disk, sight.path))
        sight.content = std::move(*read);
      else
        sight.trouble = to_text(read.error());
    }
  }
}

}  // namespace

void look_at(const std::shared_ptr<file_system>& disk, const std::string& curve, observation& o) {
  if (!disk->info("/run"))
    return;
  auto store = checkpoint_store::open(disk, "/run", {.read_only = true});
  if (!store)
    throw std::runtime_error("a directory that cannot be opened: " + to_text(store.error()));
  if (auto found = (*store)->restore_newest())
    o.newest = std::move(found->content);
  const auto listed = (*store)->listed();
  if (const auto files = disk->list("/run"))
    for (const auto& file : *files)
      if (const auto step = step_of_file(file.name);
          step && std::find(listed.begin(), listed.end(), checkpoint_id{*step}) == listed.end())
        o.unlisted.push_back(file.name);
  look_at_exports(*disk, o);
  o.curve = steps_of_curve(*disk, "/run", curve);
}

}  // namespace troupe::test::random_faults
