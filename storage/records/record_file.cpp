#include "storage/records/record_file.hpp"

#include "words/text.hpp"

#include <zlib.h>

namespace troupe {

namespace {

constexpr size_t part_bytes = size_t{1} << 18;

/// Where a writer's bytes go: to the file, directly or through zlib.
class byte_sink {
 public:
  virtual ~byte_sink() = default;
  virtual expected<void> append(std::string_view bytes, bool last) = 0;
};

class plain_sink final : public byte_sink {
 public:
  explicit plain_sink(writable_file& file) : file_(file) {}
  expected<void> append(std::string_view bytes, bool) override { return file_.append(std::as_bytes(std::span{bytes})); }

 private:
  writable_file& file_;
};

class deflating_sink final : public byte_sink {
 public:
  explicit deflating_sink(writable_file& file) : file_(file) {}
  ~deflating_sink() override { deflateEnd(&stream_); }

  expected<void> start(const std::string& path, int window_bits) {
    constexpr int memory_level = 8;  // zlib's default.
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY)
        != Z_OK)
      return fail(errc::resource_exhausted, path + ": no memory to compress");
    return {};
  }

  expected<void> append(std::string_view bytes, bool last) override {
    do {
      const size_t given = std::min(bytes.size(), size_t{1} << 30);
      const bool end = last && given == bytes.size();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads the input.
      stream_.avail_in = static_cast<uInt>(given);
      bytes.remove_prefix(given);
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_out = static_cast<uInt>(buffer_.size());
        deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);  // Fails only if it is used wrongly.
        if (auto ok = file_.append(std::span{buffer_}.first(buffer_.size() - stream_.avail_out)); !ok)
          return ok;
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return {};
  }

 private:
  writable_file& file_;
  z_stream stream_{};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(part_bytes);
};

class file_writer final : public record_file_writer {
 public:
  file_writer(std::shared_ptr<file_system> files, std::string path, std::unique_ptr<writable_file> file)
    : files_(std::move(files)), path_(std::move(path)), file_(std::move(file)) {}

  expected<void> start(compression how) {
    if (how == compression::none) {
      sink_ = std::make_unique<plain_sink>(*file_);
      return {};
    }
    auto deflating = std::make_unique<deflating_sink>(*file_);
    auto started = deflating->start(path_, how == compression::gzip ? 16 + MAX_WBITS : MAX_WBITS);
    sink_ = std::move(deflating);
    return started;
  }

  expected<void> write(std::string_view record) override {
    if (failed_)
      return fail(*failed_);
    append_record(pending_, record);
    return pending_.size() < part_bytes ? expected<void>{} : attempt(drain(false));
  }

  expected<void> close() override {
    if (failed_)
      return fail(*failed_);
    auto done = attempt(drain(true)
                            .and_then([&] { return file_->sync(); })
                            .and_then([&] { return check_place(); })
                            .and_then([&] { return file_->close(); })
                            .and_then([&] { return files_->sync_directory(parent_of(path_)); }));
    if (done)
      failed_ = error{errc::state, path_ + " is closed"};
    return done;
  }

 private:
  /// A record file that is no longer in its place is not replaced by another, since its user chose the name.
  expected<void> check_place() const {
    if (file_->is_in_place().value_or(true))
      return {};
    return fail(errc::failed_precondition,
                path_ + " was removed, replaced or truncated by another program while it was written");
  }
  expected<void> drain(bool last) {
    auto done = sink_->append(pending_, last);
    pending_.clear();
    return done;
  }
  /// Remembers the first failure: nothing after an incomplete record can be read, so every later call fails too.
  expected<void> attempt(expected<void> done) {
    if (!done)
      failed_ = done.error();
    return done;
  }

  std::shared_ptr<file_system> files_;
  std::string path_;
  std::unique_ptr<writable_file> file_;
  std::unique_ptr<byte_sink> sink_;
  std::string pending_;  ///< Whole records that are not yet written.
  std::optional<error> failed_;
};

}  // namespace

expected<std::unique_ptr<record_file_writer>> create_record_file(std::shared_ptr<file_system> files,
                                                                 const std::string& path, compression how) {
  auto file = files->create(path);
  if (!file)
    return fail(std::move(file.error()));
  auto writer = std::make_unique<file_writer>(std::move(files), path, std::move(*file));
  if (auto started = writer->start(how); !started)
    return fail(std::move(started.error()));
  return writer;
}

expected<std::unique_ptr<record_file_reader>> record_file_reader::open(file_system& files, const std::string& path,
                                                                       compression how) {
  auto file = files.open(path);
  if (!file)
    return fail(std::move(file.error()));
  auto source = open_source(**file, path, how);
  if (!source)
    return fail(std::move(source.error()));
  return std::unique_ptr<record_file_reader>{new record_file_reader{std::move(*file), std::move(*source), path}};
}

}  // namespace troupe
