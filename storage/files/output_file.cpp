#include "storage/files/output_file.hpp"

#include "words/text.hpp"

namespace troupe {

expected<output_file> output_file::create(std::shared_ptr<file_system> files, const std::string& name) {
  const auto kept_as = files->replaceable(name);
  if (!kept_as)
    return fail(kept_as.error());
  if (const auto there = files->info(name); there && there->directory)
    return fail(errc::failed_precondition, "cannot write to " + name + ": it is a directory");
  const auto path = *kept_as ? **kept_as + ".tmp" : name;
  auto made = *kept_as ? create_temporary(*files, path) : files->create(path);
  if (!made)
    return fail(made.error());
  return output_file{std::move(files), path, kept_as->value_or(""), std::move(*made)};
}

output_file::~output_file() {
  if (!file_)
    return;
  const bool is_ours = file_->is_in_place().value_or(true);
  file_.reset();
  if (!name_.empty() && is_ours)
    static_cast<void>(files_->remove(path_));
}

expected<void> output_file::append(std::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size < buffer_bytes) {
    buffer_ += bytes;
    return static_cast<int64_t>(buffer_.size()) < buffer_bytes ? expected<void>{} : flush();
  }
  return flush().and_then([&] { return file_->append(std::as_bytes(std::span{bytes})); });
}

expected<void> output_file::flush() {
  const auto bytes = std::exchange(buffer_, {});
  return bytes.empty() ? expected<void>{} : file_->append(std::as_bytes(std::span{bytes}));
}

expected<void> output_file::complete() {
  return flush().and_then([&] {  // Pipes cannot be synced.
    return name_.empty() ? file_->close() : complete_temporary(*file_, path_, name_);
  });
}

expected<void> output_file::keep() {
  auto kept = name_.empty() ? expected<void>{} : files_->rename(path_, name_);
  if (kept)
    file_.reset();
  return kept;
}

expected<void> output_file::settle() {
  return name_.empty() ? expected<void>{} : files_->sync_directory(parent_of(name_));
}

expected<void> output_file::finish() {
  return complete().and_then([&] { return keep(); }).and_then([&] { return settle(); });
}

}  // namespace troupe
