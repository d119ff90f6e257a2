#include "storage/idx.hpp"

#include <algorithm>

#include <zlib.h>

namespace troupe {

namespace {

constexpr int rank_max = 4;
constexpr unsigned char unsigned_byte = 0x08;

/// A file's content, decompressed or as it is, from the beginning to the end.
class source {
 public:
  virtual ~source() = default;
  /// Fills as much of `into` as there is; fewer bytes only at the end.
  virtual expected<size_t> read(std::span<std::byte> into) = 0;
  /// No content can be longer than this.
  virtual int64_t size_max() const = 0;
};

class plain_source final : public source {
 public:
  explicit plain_source(const readable_file& file) : file_(file) {}
  expected<size_t> read(std::span<std::byte> into) override {
    const auto n = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(into.size()), file_.size() - at_));
    if (auto done = file_.read(at_, into.first(n)); !done)
      return fail(std::move(done.error()));
    at_ += static_cast<int64_t>(n);
    return n;
  }
  int64_t size_max() const override { return file_.size(); }

 private:
  const readable_file& file_;
  int64_t at_ = 0;
};

class gzip_source final : public source {
 public:
  gzip_source(const readable_file& file, std::string path) : file_(file), path_(std::move(path)) {}
  ~gzip_source() override { inflateEnd(&stream_); }

  expected<void> start() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK)
      return fail(errc::resource_exhausted, path_ + ": no memory to decompress");
    return {};
  }

  expected<size_t> read(std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size() && !ended_) {
      if (auto filled = refill(); !filled)
        return fail(std::move(filled.error()));
      const size_t room = std::min(into.size() - done, size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(into.data() + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      const int64_t offset = at_ - static_cast<int64_t>(stream_.avail_in);
      if (code == Z_STREAM_END) {
        ended_ = true;
        if (offset != file_.size())
          return fail(errc::data_loss, path_ + ": " + std::to_string(file_.size() - offset)
                                         + " bytes follow the gzip stream, which ends at offset " + std::to_string(offset));
      } else if (code == Z_BUF_ERROR && at_ == file_.size()) {
        return fail(errc::data_loss, path_ + ": the gzip stream is cut off at offset " + std::to_string(offset));
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return fail(errc::data_loss, path_ + ": the gzip stream is corrupt at offset " + std::to_string(offset)
                                       + (stream_.msg ? std::string{": "} + stream_.msg : ""));
      }
    }
    return done;
  }
  /// Deflate cannot do better than 1 : 1032.
  int64_t size_max() const override { return file_.size() > INT64_MAX / 1032 ? INT64_MAX : file_.size() * 1032; }

 private:
  expected<void> refill() {
    if (stream_.avail_in > 0 || at_ == file_.size())
      return {};
    const auto chunk = std::span{buffer_}.first(
      static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(buffer_.size()), file_.size() - at_)));
    if (auto done = file_.read(at_, chunk); !done)
      return done;
    at_ += static_cast<int64_t>(chunk.size());
    stream_.next_in = reinterpret_cast<Bytef*>(chunk.data());
    stream_.avail_in = static_cast<uInt>(chunk.size());
    return {};
  }

  const readable_file& file_;
  std::string path_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(size_t{1} << 18);
  z_stream stream_{};
  int64_t at_ = 0;  ///< Of the compressed file.
  bool ended_ = false;
};

expected<std::unique_ptr<source>> source_of(const readable_file& file, const std::string& path) {
  std::byte magic[2] = {};
  if (file.size() >= 2)
    if (auto done = file.read(0, magic); !done)
      return fail(std::move(done.error()));
  if (magic[0] != std::byte{0x1f} || magic[1] != std::byte{0x8b})
    return std::make_unique<plain_source>(file);
  auto gzip = std::make_unique<gzip_source>(file, path);
  if (auto started = gzip->start(); !started)
    return fail(std::move(started.error()));
  return gzip;
}

expected<void> read_exactly(source& from, std::span<std::byte> into, int64_t offset, const std::string& path,
                            const char* what) {
  const auto n = from.read(into);
  if (!n)
    return fail(n.error());
  if (*n < into.size())
    return fail(errc::data_loss, path + ": the " + what + " at offset " + std::to_string(offset) + " is cut off: wanted "
                                   + std::to_string(into.size()) + " bytes, found " + std::to_string(*n));
  return {};
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text = "0x";
  for (const auto b : bytes)
    for (const int shift : {4, 0})
      text += "0123456789abcdef"[std::to_integer<int>(b) >> shift & 15];
  return text;
}

expected<shape> read_header(source& from, const std::string& path) {
  std::byte magic[4];
  if (auto done = read_exactly(from, magic, 0, path, "magic number"); !done)
    return fail(std::move(done.error()));
  const auto type = std::to_integer<unsigned char>(magic[2]);
  const int rank = std::to_integer<int>(magic[3]);
  constexpr unsigned char known[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}
      || std::find(std::begin(known), std::end(known), type) == std::end(known) || rank == 0)
    return fail(errc::data_loss, path + ": the magic number at offset 0 is " + hexadecimal(magic)
                                   + ", and that of an IDX file is 0x000008 and its rank");
  if (type != unsigned_byte)
    return fail(errc::data_loss, path + ": the element type at offset 2 is " + hexadecimal(std::span{magic}.subspan(2, 1))
                                       + ", and only 0x08, unsigned bytes, is read");
  if (rank > rank_max)
    return fail(errc::data_loss, path + ": the rank at offset 3 is " + std::to_string(rank) + ", and at most "
                                       + std::to_string(rank_max) + " is read");
  std::byte extents[4 * rank_max];
  const auto used = std::span{extents}.first(static_cast<size_t>(4 * rank));
  if (auto done = read_exactly(from, used, 4, path, "header"); !done)
    return fail(std::move(done.error()));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < used.size(); i += 4) {
    int64_t extent = 0;
    for (size_t k = 0; k < 4; ++k)
      extent = extent << 8 | std::to_integer<int64_t>(used[i + k]);
    dims.push_back(extent);
  }
  return shape{dims};
}

}  // namespace

expected<tensor> read_idx(file_system& fs, const std::string& path) {
  const auto file = fs.open(path);
  if (!file)
    return fail(file.error());
  auto from = source_of(**file, path);
  if (!from)
    return fail(std::move(from.error()));
  const auto dims = read_header(**from, path);
  if (!dims)
    return fail(dims.error());
  const int64_t offset = 4 + 4 * dims->rank();
  int64_t bytes = 1;
  bool fits = true;
  for (const int64_t e : dims->extents())
    fits = fits && !__builtin_mul_overflow(bytes, e, &bytes);
  if (!fits || bytes > (*from)->size_max() - offset)
    return fail(errc::data_loss, path + ": the data at offset " + std::to_string(offset) + " are cut off: wanted "
                                   + to_string(*dims) + " bytes, found " + (fits ? "at most " : "fewer: at most ")
                                   + std::to_string(std::max<int64_t>(0, (*from)->size_max() - offset)));
  auto buffer = allocate_buffer(bytes);
  if (!buffer)
    return fail(errc::resource_exhausted, path + ": no memory for " + std::to_string(bytes) + " bytes");
  if (auto done = read_exactly(**from, {buffer.get(), static_cast<size_t>(bytes)}, offset, path, "data"); !done)
    return fail(std::move(done.error()));
  // Looking for one byte more also makes zlib verify the checksum and length at the end of the stream.
  std::byte extra[1];
  const auto trailing = (*from)->read(extra);
  if (!trailing)
    return fail(trailing.error());
  if (*trailing > 0)
    return fail(errc::data_loss, path + ": bytes follow the data, which end at offset " + std::to_string(offset + bytes));
  return tensor{dtype::uint8, *dims, std::move(buffer)};
}

}  // namespace troupe
