#include "storage/files/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

/// Reads a file in order, in parts of bounded size.
class window {
 public:
  explicit window(const readable_file& file) : file_(file) {}

  std::span<std::byte> rest() const noexcept { return rest_; }
  void drop(size_t n) noexcept { rest_ = rest_.subspan(n); }
  bool at_end() const noexcept { return rest_.empty() && at_ == file_.size(); }
  /// The file offset of the next byte.
  int64_t offset() const noexcept { return at_ - static_cast<int64_t>(rest_.size()); }
  int64_t left() const noexcept { return file_.size() - offset(); }

  /// Reads the next part if `rest()` is empty. Afterwards it is empty only at the end of the file.
  expected<void> fill() {
    if (!rest_.empty() || at_ == file_.size())
      return {};
    if (buffer_.empty())
      buffer_.resize(static_cast<size_t>(std::min(size_max, file_.size())));
    const auto part = std::span{buffer_}.first(
        static_cast<size_t>(std::min<int64_t>(std::ssize(buffer_), file_.size() - at_)));
    if (auto done = file_.read(at_, part); !done)
      return done;
    at_ += std::ssize(part);
    rest_ = part;
    return {};
  }
  /// Reads without the buffer, which must be empty.
  expected<void> read_directly(std::span<std::byte> into) {
    auto done = file_.read(at_, into);
    if (done)
      at_ += std::ssize(into);
    return done;
  }

  static constexpr int64_t size_max = int64_t{1} << 18;

 private:
  const readable_file& file_;
  std::vector<std::byte> buffer_;
  std::span<std::byte> rest_;
  int64_t at_ = 0;
};

class plain_source final : public byte_source {
 public:
  explicit plain_source(const readable_file& file) : window_(file), size_(file.size()) {}

  expected<size_t> read(std::span<std::byte> into) override {
    const auto wanted = static_cast<size_t>(std::min<int64_t>(std::ssize(into), window_.left()));
    for (size_t done = 0; done < wanted;) {
      const auto rest = into.subspan(done, wanted - done);
      if (window_.rest().empty() && std::ssize(rest) >= window::size_max) {
        if (auto ok = window_.read_directly(rest); !ok)
          return fail(std::move(ok.error()));
        break;
      }
      if (auto ok = window_.fill(); !ok)
        return fail(std::move(ok.error()));
      const size_t n = std::min(rest.size(), window_.rest().size());
      std::memcpy(rest.data(), window_.rest().data(), n);
      window_.drop(n);
      done += n;
    }
    return wanted;
  }
  int64_t size_max() const noexcept override { return size_; }

 private:
  window window_;
  int64_t size_;
};

class inflating_source final : public byte_source {
 public:
  inflating_source(const readable_file& file, std::string path, compression how)
    : window_(file), size_(file.size()), path_(std::move(path)), name_(to_string(how)) {}
  ~inflating_source() override { inflateEnd(&stream_); }

  expected<void> start(int window_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK)
      return fail(errc::resource_exhausted, path_ + ": no memory to decompress");
    return {};
  }

  expected<size_t> read(std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size() && !ended_) {
      if (auto ok = window_.fill(); !ok)
        return fail(std::move(ok.error()));
      const size_t room = std::min(into.size() - done, size_t{1} << 30), given = window_.rest().size();
      stream_.next_in = reinterpret_cast<Bytef*>(window_.rest().data());
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(into.data() + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      window_.drop(given - stream_.avail_in);
      done += room - stream_.avail_out;
      if (auto ok = judge(code); !ok) {
        // zlib reads ahead, so the bytes in `into` are valid. The next call reports the error.
        if (done == into.size())
          return done;
        return fail(std::move(ok.error()));
      }
    }
    return done;
  }
  /// Deflate expands to at most 1032 : 1.
  int64_t size_max() const noexcept override { return size_ > INT64_MAX / 1032 ? INT64_MAX : size_ * 1032; }

 private:
  expected<void> judge(int code) {
    const std::string at = " offset " + std::to_string(window_.offset());
    if (code == Z_STREAM_END && window_.left() > 0)
      return fail(errc::data_loss, path_ + ": " + std::to_string(window_.left()) + " bytes follow the " + name_
                                       + " stream, which ends at" + at);
    ended_ = code == Z_STREAM_END;
    if (code == Z_BUF_ERROR && window_.at_end())
      return fail(errc::data_loss, path_ + ": the " + name_ + " stream is cut off at" + at);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return fail(errc::data_loss, path_ + ": the " + name_ + " stream is corrupt at" + at
                                       + (stream_.msg ? std::string{": "} + stream_.msg : ""));
    return {};
  }

  window window_;
  int64_t size_;
  std::string path_;
  std::string name_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

expected<std::unique_ptr<byte_source>> open_source(const readable_file& file, std::string path, compression how) {
  if (how == compression::none)
    return std::make_unique<plain_source>(file);
  auto source = std::make_unique<inflating_source>(file, std::move(path), how);
  constexpr int zlib_only = MAX_WBITS, gzip_only = 16 + MAX_WBITS;
  if (auto started = source->start(how == compression::gzip ? gzip_only : zlib_only); !started)
    return fail(std::move(started.error()));
  return source;
}

}  // namespace troupe
