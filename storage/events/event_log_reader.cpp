#include "storage/events/event_log.hpp"
#include "storage/events/event_message.hpp"
#include "storage/records/record_framing.hpp"

#include <limits>

namespace troupe {

namespace {

/// The message of an error is only the reason.
expected<log_event> parse_event(std::string_view payload, bool first, plugins_of_tags& plugins) {
  proto::Event message;
  if (payload.size() > std::numeric_limits<int>::max()
      || !message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return fail(errc::data_loss, "its " + std::to_string(payload.size()) + " bytes are no event");
  auto event = from_message(message, plugins);
  // Without this check, records of another kind could be read as empty events.
  if (event && first && event->file_version != event_file_version)
    return fail(errc::data_loss, "the first event of a file has to say " + std::string{event_file_version});
  return event;
}

}  // namespace

expected<event_log_reading> read_event_log(file_system& files, const std::string& path,
                                           const std::function<void(log_event)>& take) {
  const auto file = files.open(path);
  if (!file)
    return fail(file.error());
  const auto content = open_source(**file, path, compression::none);
  if (!content)
    return fail(content.error());
  event_log_reading log;
  plugins_of_tags plugins;
  record_parser records{**content, path};
  for (;;) {
    log.bytes_read = records.offset();
    const auto payload = records.next();
    if (payload && !*payload)
      return log;
    if (!payload && records.torn()) {
      log.truncated = true;
      return log;
    }
    if (!payload && payload.error().category != errc::data_loss)
      return fail(payload.error());
    if (!payload) {
      log.damage = payload.error();
      return log;
    }
    auto event = parse_event(**payload, log.events == 0, plugins);
    if (!event) {
      log.damage = error{event.error().category, path + ": the record at offset " + std::to_string(log.bytes_read)
                                                     + " is damaged: " + event.error().message};
      return log;
    }
    ++log.events;
    take(std::move(*event));
  }
}

expected<std::vector<std::string>> list_event_logs(file_system& files, const std::string& directory) {
  const auto found = files.list(directory.empty() ? "." : directory);
  if (!found && found.error().category == errc::not_found)
    return std::vector<std::string>{};
  if (!found)
    return fail(found.error());
  std::vector<std::string> paths;
  for (const auto& info : *found)
    if (!info.directory && info.name.starts_with(event_file_prefix))
      paths.push_back(join_path(directory, info.name));
  return paths;
}

}  // namespace troupe
