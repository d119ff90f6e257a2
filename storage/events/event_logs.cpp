#include "storage/events/event_logs.hpp"

#include "words/expect.hpp"

namespace troupe {

event_logs::event_logs(std::shared_ptr<file_system> files, event_logs_options options)
  : files_(std::move(files)), options_(std::move(options)) {
  expect(options_.open_max > 0, "event files can be written only if one may be open");
}

expected<void> event_logs::add(const std::string& directory, const log_event& event) {
  auto to = entry_of(directory, event.wall_time);
  if (!to)
    return fail(std::move(to.error()));
  return add_to(**to, event);
}

expected<event_logs::entry*> event_logs::entry_of(const std::string& directory, double wall_time) {
  if (const auto found = all_.find(directory); found != all_.end())
    return &found->second;
  auto made = event_log_writer::create(files_, directory, {options_.host, wall_time, options_.claim});
  if (!made)
    return fail(std::move(made.error()));
  auto& fresh = all_[directory];
  fresh = {std::move(*made), ++uses_};
  auto begun = release_least_used();
  if (begun && beginning_) {
    auto first = *beginning_;
    first.wall_time = wall_time;
    begun = add_to(fresh, first);
  }
  if (!begun)
    return fail(std::move(begun.error()));
  return &fresh;
}

expected<void> event_logs::add_to(entry& to, const log_event& event) {
  to.used = ++uses_;
  const auto before = to.log->unflushed_bytes();
  auto added = to.log->add(event);
  unflushed_ += to.log->unflushed_bytes() - before;
  return added;
}

expected<void> event_logs::release_least_used() {
  for (;;) {
    size_t open = 0;
    entry* least = nullptr;
    for (auto& [directory, e] : all_)
      if (!e.log->is_released()) {
        ++open;
        least = least && least->used < e.used ? least : &e;
      }
    if (open <= options_.open_max)
      return {};
    unflushed_ -= least->log->unflushed_bytes();
    if (auto released = least->log->release(); !released)
      return released;
  }
}

expected<void> event_logs::flush() {
  for (auto& [directory, e] : all_) {
    if (e.log->unflushed_bytes() == 0)
      continue;
    unflushed_ -= e.log->unflushed_bytes();
    if (auto flushed = e.log->flush(); !flushed)
      return flushed;
    if (auto released = release_least_used(); !released)
      return released;
  }
  return {};
}

expected<void> event_logs::close() {
  for (auto& [directory, e] : all_)
    if (auto closed = e.log->close(); !closed)
      return closed;
  all_.clear();
  unflushed_ = 0;
  return {};
}

std::vector<std::string> event_logs::take_remarks() {
  std::vector<std::string> all;
  for (auto& [directory, e] : all_)
    if (auto remark = e.log->take_remark())
      all.push_back(std::move(*remark));
  return all;
}

}  // namespace troupe
