#include "storage/encodings/crc32c.hpp"
#include "storage/proto/tensor_bundle.pb.h"
#include "storage/tensorflow/sorted_table.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr int32_t producer = 1;  // The format version that TensorFlow writes.

std::string header_text() {
  proto::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(producer);
  return header.SerializeAsString();
}

/// Writes the bytes of all tensors without gaps, and makes an index entry for each.
expected<std::vector<table_entry>> write_data(writable_file& file, const std::vector<bundle_source>& tensors) {
  std::vector<table_entry> entries{{"", header_text()}};
  int64_t offset = 0;
  for (const auto& t : tensors) {
    proto::BundleEntryProto entry;
    entry.set_dtype(t.type->tensorflow);
    int64_t bytes = t.type->bytes;
    entry.mutable_shape();
    for (const int64_t e : t.extents) {
      entry.mutable_shape()->add_dim()->set_size(e);
      bytes *= e;
    }
    auto read = t.read();
    if (!read)
      return fail(std::move(read.error()));
    const std::span content{read->get(), static_cast<size_t>(bytes)};
    entry.set_offset(offset);
    entry.set_size(bytes);
    entry.set_crc32c(masked(crc32c(content)));
    if (!content.empty())
      if (auto done = file.append(content); !done)
        return fail(std::move(done.error()));
    offset += bytes;
    entries.push_back({t.name, entry.SerializeAsString()});
  }
  return entries;
}

/// A file with a temporary name. The destructor removes it unless it got its final name.
class new_file {
 public:
  static expected<new_file> create(file_system& fs, const std::string& path) {
    auto file = create_temporary(fs, path + ".tmp");
    if (!file)
      return fail(std::move(file.error()));
    return new_file{fs, path, std::move(*file)};
  }
  new_file(new_file&& other) noexcept
    : fs_(other.fs_), path_(std::move(other.path_)), file_(std::move(other.file_)),
      there_(std::exchange(other.there_, false)) {}
  new_file& operator=(new_file&&) = delete;
  ~new_file() {
    if (there_ && file_->is_in_place().value_or(true))
      static_cast<void>(fs_.remove(path_ + ".tmp"));
  }

  writable_file& file() noexcept { return *file_; }
  expected<void> complete() { return complete_temporary(*file_, path_ + ".tmp", path_); }
  expected<void> name() {
    auto named = fs_.rename(path_ + ".tmp", path_);
    there_ = there_ && !named;
    return named;
  }

 private:
  new_file(file_system& fs, std::string path, std::unique_ptr<writable_file> file)
    : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}
  file_system& fs_;
  std::string path_;
  std::unique_ptr<writable_file> file_;
  bool there_ = true;
};

}  // namespace

expected<void> write_bundle(file_system& fs, const std::string& directory, const std::string& name,
                            std::vector<bundle_source> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name.empty() || (i > 0 && tensors[i].name == tensors[i - 1].name))
      return fail(errc::invalid_argument,
                  "two tensors, or one without a name, cannot be written as " + troupe::quoted(tensors[i].name));
  const std::string prefix = join_path(directory, name), data_path = bundle_data_name(prefix, 0, 1);
  auto data = new_file::create(fs, data_path);
  if (!data)
    return fail(std::move(data.error()));
  const auto entries = write_data(data->file(), tensors);
  if (!entries)
    return fail(entries.error());
  if (auto done = data->complete(); !done)
    return done;
  auto index = new_file::create(fs, bundle_index_name(prefix));
  if (!index)
    return fail(std::move(index.error()));
  const std::string table = write_sorted_table(*entries);
  auto written = index->file().append(std::as_bytes(std::span{table})).and_then([&] { return index->complete(); });
  if (!written)
    return written;
  // Readers look for the index first, so it gets its name after the data.
  if (auto named = data->name(); !named)
    return named;
  if (auto named = index->name(); !named) {
    static_cast<void>(fs.remove(data_path));
    return named;
  }
  return fs.sync_directory(directory.empty() ? "." : directory);
}

}  // namespace troupe
