#include "storage/predictions/growing_file.hpp"

#include "words/text.hpp"

namespace troupe {

expected<growing_file> growing_file::create(std::shared_ptr<file_system> files, const std::string& name) {
  const auto kept_as = files->replaceable(name);
  if (!kept_as)
    return fail(kept_as.error());
  if (const auto there = files->info(name); there && there->directory)
    return fail(errc::failed_precondition, "cannot write to " + name + ": it is a directory");
  const auto path = *kept_as ? **kept_as + ".tmp" : name;
  auto made = files->create(path);
  if (!made)
    return fail(made.error());
  return growing_file{std::move(files), path, kept_as->value_or(""), std::move(*made)};
}

growing_file::~growing_file() {
  if (!file_)
    return;
  file_.reset();
  if (!name_.empty())
    static_cast<void>(files_->remove(path_));
}

expected<void> growing_file::append(std::string_view bytes) {
  buffer_ += bytes;
  return static_cast<int64_t>(buffer_.size()) < buffer_bytes ? expected<void>{} : flush();
}

expected<void> growing_file::flush() {
  const auto bytes = std::exchange(buffer_, {});
  return file_->append(std::as_bytes(std::span{bytes}));
}

expected<void> growing_file::complete() {
  auto written = flush();
  if (written && !name_.empty())  // Pipes cannot be synced.
    written = file_->sync();
  return written ? file_->close() : written;
}

expected<void> growing_file::keep() {
  auto kept = name_.empty() ? expected<void>{} : files_->rename(path_, name_);
  if (kept)
    file_.reset();
  return kept;
}

expected<void> growing_file::settle() { return name_.empty() ? expected<void>{} : files_->sync_directory(parent_of(name_)); }

}  // namespace troupe
