#include "storage/events/event_log.hpp"
#include "storage/events/event_message.hpp"
#include "storage/records/record_framing.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

constexpr int64_t seconds_max = 9'999'999'999;  // The largest number of ten digits.

/// The seconds in the name of an event file; absent if it has none.
std::optional<int64_t> seconds_of(std::string_view name) {
  name.remove_prefix(event_file_prefix.size());
  if (name.size() < 11 || name[10] != '.'
      || !std::all_of(name.begin(), name.begin() + 10, [](char c) { return c >= '0' && c <= '9'; }))
    return {};
  return std::stoll(std::string{name.substr(0, 10)});
}

/// A name that sorts after `last`, the greatest existing one: with the current second if that is enough, else with the
/// second after the last file's, else (if there is none) the last name with a suffix.
std::string name_after(const std::string& last, int64_t now, const std::string& host) {
  const auto of_second = [&](int64_t s) { return std::string{event_file_prefix} + zero_padded(s, 10) + "." + host; };
  if (auto name = of_second(now); name > last)
    return name;
  const auto seconds = seconds_of(last);
  return seconds && *seconds < seconds_max ? of_second(*seconds + 1) : last + ".1";
}

expected<void> check(const event_log_options& options) {
  if (options.host.empty() || options.host.find('/') != std::string::npos
      || options.host.find('\0') != std::string::npos)
    return fail(errc::invalid_argument, "\"" + options.host + "\" cannot be the host in the name of an event file");
  if (!(options.wall_time >= 0 && options.wall_time <= static_cast<double>(seconds_max)))
    return fail(errc::invalid_argument, "an event file is created between second 0 and " + std::to_string(seconds_max)
                                            + ", not at " + std::to_string(options.wall_time));
  return {};
}

/// Checks that the directory is still the one that the job has locked. Succeeds if there is no claim.
expected<void> owned(const std::shared_ptr<const directory_claim>& claim) {
  return claim ? claim->check() : expected<void>{};
}

/// Creates the file and sets `path`. If another writer takes the name first, tries the next one.
expected<std::unique_ptr<writable_file>> create_after_others(file_system& files, const std::string& directory,
                                                             const event_log_options& options, std::string& path) {
  if (auto made = files.create_directories(directory); !made)
    return fail(std::move(made.error()));
  constexpr int attempts_max = 100;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    const auto there = list_event_logs(files, directory);
    if (!there)
      return fail(there.error());
    const std::string last = there->empty() ? "" : file_name_of(there->back());
    path = join_path(directory, name_after(last, static_cast<int64_t>(options.wall_time), options.host));
    auto file = files.create_new(path);
    if (!file || *file)
      return file;
  }
  return fail(errc::failed_precondition, "cannot create an event file in " + directory + ": each of "
                                             + std::to_string(attempts_max) + " names was taken meanwhile, at last "
                                             + path);
}

}  // namespace

struct event_log_writer::impl {
  std::shared_ptr<file_system> files;
  event_log_options options;  // `wall_time` is that of the newest event.
  std::string directory;
  std::string path = {};
  std::unique_ptr<writable_file> file = {};  // Null while it is released.
  int64_t released = 0;                      // `file_info::changed` of the released file.
  proto::Event message = {};                 // A member, since clearing a message keeps its memory.
  std::string pending = {};                  // Whole records that are not yet written.
  std::optional<error> failed = {};
  std::optional<std::string> remark = {};

  /// Starts a new file, with the version event before the pending records.
  expected<void> begin_file() {
    auto made = create_after_others(*files, directory, options, path);
    if (!made)
      return fail(std::move(made.error()));
    file = std::move(*made);
    const auto waiting = std::exchange(pending, {});
    auto begun = append({.wall_time = options.wall_time, .file_version = std::string{event_file_version}});
    pending += waiting;
    return begun;
  }
  /// Opens the released file again. False if somebody has changed, replaced or removed it.
  expected<bool> reopen() {
    const auto there = files->info(path);
    if (!there && there.error().category != errc::not_found)
      return fail(there.error());
    if (!there || there->changed != released)
      return false;
    return files->open_to_append(path).map([&](std::unique_ptr<writable_file> opened) {
      file = std::move(opened);
      return true;
    });
  }
  /// Whether the file is open and in its place. If that cannot be checked, the next write will show the problem.
  expected<bool> is_in_place() { return file ? expected<bool>{file->is_in_place().value_or(true)} : reopen(); }
  /// Starts a new file if the present one is no longer in its place.
  expected<void> stay_in_place() {
    const auto stays = is_in_place();
    if (!stays)
      return fail(stays.error());
    if (*stays)
      return {};
    const auto lost = path;
    return begin_file().map([&] {
      remark = lost
               + " was removed, replaced or truncated by another program, and what it had may be lost; events go on in "
               + path;
    });
  }
  expected<void> append(const log_event& event) {
    if (auto ok = to_message(event, message); !ok)
      return ok;
    const size_t size = message.ByteSizeLong();
    if (size > static_cast<size_t>(std::numeric_limits<int>::max()))
      return fail(errc::invalid_argument, "the event of step " + std::to_string(event.step) + " has "
                                              + std::to_string(size)
                                              + " bytes, and a protobuf message at most 2147483647");
    const size_t begin = begin_record(pending), payload = pending.size();
    pending.resize(payload + size);
    message.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(pending.data() + payload));
    end_record(pending, begin);
    return {};
  }
  expected<void> write() {
    return file->append(std::as_bytes(std::span{pending})).map([&] { pending.clear(); });
  }
  expected<void> finish() {
    if (!file)
      if (const auto opened = reopen(); !opened)
        return fail(opened.error());
    // A released file that is not in its place any more has nothing to sync.
    const auto last = std::exchange(file, nullptr);
    auto done = last ? last->sync().and_then([&] { return last->close(); }) : expected<void>{};
    return done.and_then([&] { return files->sync_directory(directory); });
  }
  /// Remembers the first failure: nothing after an incomplete record can be read, so every later call fails too.
  expected<void> attempt(expected<void> done) {
    if (!done)
      failed = done.error();
    return done;
  }
};

event_log_writer::event_log_writer(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
event_log_writer::~event_log_writer() = default;

expected<std::unique_ptr<event_log_writer>> event_log_writer::create(std::shared_ptr<file_system> files,
                                                                     std::string directory, event_log_options options) {
  if (auto ok = check(options); !ok)
    return fail(std::move(ok.error()));
  if (directory.empty())
    directory = ".";
  if (auto ours = owned(options.claim); !ours)
    return fail(std::move(ours.error()));
  std::unique_ptr<event_log_writer> writer{new event_log_writer{std::make_unique<impl>(
      impl{.files = std::move(files), .options = std::move(options), .directory = std::move(directory)})}};
  auto begun = writer->impl_->begin_file().and_then([&] { return writer->impl_->write(); });
  if (!begun)
    return fail(std::move(begun.error()));
  return writer;
}

expected<void> event_log_writer::add(const log_event& event) {
  if (impl_->failed)
    return fail(*impl_->failed);
  if (!event.file_version.empty())
    return fail(errc::invalid_argument, impl_->path + " has its file version, and was given another event with one");
  if (event.wall_time <= static_cast<double>(seconds_max))
    impl_->options.wall_time = std::max(impl_->options.wall_time, event.wall_time);
  return impl_->append(event);
}

expected<void> event_log_writer::flush() {
  if (impl_->failed)
    return fail(*impl_->failed);
  if (impl_->pending.empty())
    return {};
  return impl_->attempt(owned(impl_->options.claim).and_then([&] { return impl_->stay_in_place(); }).and_then([&] {
    return impl_->write();
  }));
}

expected<void> event_log_writer::release() {
  return flush().and_then([&]() -> expected<void> {
    if (!impl_->file)
      return {};
    return impl_->attempt(std::exchange(impl_->file, nullptr)
                              ->close()
                              .and_then([&] { return impl_->files->info(impl_->path); })
                              .map([&](const file_info& there) { impl_->released = there.changed; }));
  });
}

expected<void> event_log_writer::close() {
  return flush().and_then([&] {
    auto done = impl_->attempt(impl_->finish());
    if (done)
      impl_->failed = error{errc::state, impl_->path + " is closed"};
    return done;
  });
}

const std::string& event_log_writer::path() const noexcept { return impl_->path; }
std::optional<std::string> event_log_writer::take_remark() { return std::exchange(impl_->remark, {}); }
bool event_log_writer::is_released() const noexcept { return !impl_->file; }
int64_t event_log_writer::unflushed_bytes() const noexcept { return std::ssize(impl_->pending); }

}  // namespace troupe
