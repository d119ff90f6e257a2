#include "storage/records/record_file.hpp"
#include "words/moved_from.hpp"

#include <troupe/tfrecord.hpp>

namespace troupe {

std::string_view to_string(compression how) noexcept {
  switch (how) {
    case compression::none: return "none";
    case compression::zlib: return "zlib";
    case compression::gzip: return "gzip";
  }
  return "unknown";
}

// -- writer --------------------------------------------------------------------

struct record_writer::impl {
  std::unique_ptr<record_file_writer> file;
};

record_writer::record_writer(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
record_writer::~record_writer() = default;
record_writer::record_writer(record_writer&&) noexcept = default;
record_writer& record_writer::operator=(record_writer&&) noexcept = default;

expected<record_writer> record_writer::create(const std::string& path, compression how) {
  auto file = create_record_file(posix_file_system(), path, how);
  if (!file)
    return fail(std::move(file.error()));
  return record_writer{std::make_unique<impl>(impl{std::move(*file)})};
}

expected<void> record_writer::write(std::string_view record) {
  return impl_ ? impl_->file->write(record) : fail(moved_from("file"));
}
expected<void> record_writer::close() { return impl_ ? impl_->file->close() : fail(moved_from("file")); }

// -- reader --------------------------------------------------------------------

struct record_reader::impl {
  std::unique_ptr<record_file_reader> file;
};

record_reader::record_reader(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
record_reader::~record_reader() = default;
record_reader::record_reader(record_reader&&) noexcept = default;
record_reader& record_reader::operator=(record_reader&&) noexcept = default;

expected<record_reader> record_reader::open(const std::string& path, compression how) {
  auto file = record_file_reader::open(*posix_file_system(), path, how);
  if (!file)
    return fail(std::move(file.error()));
  return record_reader{std::make_unique<impl>(impl{std::move(*file)})};
}

expected<std::optional<std::string>> record_reader::next() {
  if (!impl_)
    return fail(moved_from("file"));
  const auto record = impl_->file->next();
  if (!record)
    return fail(record.error());
  return *record ? std::optional{std::string{**record}} : std::nullopt;
}

int64_t record_reader::offset() const noexcept { return impl_ ? impl_->file->offset() : 0; }

}  // namespace troupe
