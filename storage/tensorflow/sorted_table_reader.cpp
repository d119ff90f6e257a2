#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/snappy.hpp"
#include "storage/encodings/varint.hpp"
#include "storage/tensorflow/table_layout.hpp"

#include <algorithm>

namespace troupe {

using namespace table_layout;

namespace {

/// Limits the decoded size of a table, as a multiple of the file's size. Keys share prefixes, so a table decodes to
/// more bytes than the file has: an index with long names to about five times as many.
constexpr uint64_t block_growth_max = 256;
constexpr uint64_t decoded_least = 1 << 16;

std::optional<place> take_place(std::string_view& from) {
  const auto offset = take_varint(from);
  const auto bytes = offset ? take_varint(from) : std::nullopt;
  return bytes ? std::optional{place{*offset, *bytes}} : std::nullopt;
}

class table_reader {
 public:
  table_reader(const readable_file& file, const std::string& path)
    : file_(file), path_(path), size_(static_cast<uint64_t>(file.size())),
      left_(std::max(decoded_least, block_growth_max * size_)) {}

  expected<std::vector<table_entry>> read() {
    if (size_ < footer_bytes)
      return damaged(0, "it has " + std::to_string(size_) + " bytes, and a table has " + std::to_string(footer_bytes)
                            + " at least");
    const auto footer = bytes_at({size_ - footer_bytes, footer_bytes});
    if (!footer)
      return fail(footer.error());
    if (load_fixed<uint64_t>(std::string_view{*footer}.substr(footer_bytes - sizeof magic)) != magic)
      return damaged(size_ - sizeof magic, "the last 8 bytes are not those of a sorted table");
    std::string_view rest{*footer};
    const auto metaindex = take_place(rest);
    const auto index = metaindex ? take_place(rest) : std::nullopt;
    if (!index)
      return damaged(size_ - footer_bytes, "the footer has no place of the index");
    const auto blocks = entries_of(*index, "the index");
    if (!blocks)
      return fail(blocks.error());
    std::vector<table_entry> all;
    for (const auto& b : *blocks) {
      std::string_view value{b.value};
      const auto at = take_place(value);
      if (!at)
        return damaged(index->offset, "an entry of the index has no place of a block");
      auto some = entries_of(*at, "the block");
      if (!some)
        return fail(std::move(some.error()));
      if (!all.empty() && !some->empty() && some->front().key <= all.back().key)
        return damaged(at->offset, "the keys of the block do not come after those of the block before it");
      all.insert(all.end(), std::make_move_iterator(some->begin()), std::make_move_iterator(some->end()));
    }
    return all;
  }

 private:
  tl::unexpected<error> damaged(uint64_t offset, const std::string& what) const {
    return fail(errc::data_loss, path_ + ": at byte " + std::to_string(offset) + ": " + what);
  }

  expected<void> charge(uint64_t bytes, const place& at, const std::string& what) {
    if (bytes > left_)
      return damaged(at.offset,
                     what + " decodes to more than " + std::to_string(block_growth_max) + " times the file's size");
    left_ -= bytes;
    return {};
  }

  expected<std::string> bytes_at(const place& at) const {
    std::string bytes(at.bytes, '\0');
    if (auto done = file_.read(static_cast<int64_t>(at.offset), std::as_writable_bytes(std::span{bytes})); !done)
      return fail(std::move(done.error()));
    return bytes;
  }

  /// Reads and decompresses the contents of a block.
  expected<std::string> contents_of(const place& at, const std::string& what) {
    const uint64_t room = size_ - footer_bytes;
    if (at.bytes > room || at.offset > room - at.bytes || room - at.bytes - at.offset < trailer_bytes)
      return damaged(size_ - footer_bytes, what + " is said to have " + std::to_string(at.bytes) + " bytes at byte "
                                               + std::to_string(at.offset) + ", and the file has "
                                               + std::to_string(size_));
    // Also limits repeated blocks: an index may name an empty block any number of times.
    if (auto fits = charge(at.bytes, at, what); !fits)
      return fail(std::move(fits.error()));
    auto bytes = bytes_at({at.offset, at.bytes + trailer_bytes});
    if (!bytes)
      return bytes;
    const uint32_t stored = load_fixed<uint32_t>(std::string_view{*bytes}.substr(at.bytes + 1));
    const char how = (*bytes)[at.bytes];
    bytes->resize(at.bytes + 1);
    if (const uint32_t crc = crc32c(*bytes); masked(crc) != stored)
      return damaged(at.offset, what + " has the checksum " + crc32c_text(crc) + " and should have "
                                    + crc32c_text(unmasked(stored)));
    bytes->resize(at.bytes);
    if (how == snappy) {
      auto whole = snappy_decompressed(*bytes);
      if (!whole)
        return damaged(at.offset, what + " is no whole Snappy block");
      return std::move(*whole);
    }
    if (how != uncompressed)
      return fail(errc::unimplemented,
                  path_ + ": " + what + " at byte " + std::to_string(at.offset) + " is compressed by method "
                      + std::to_string(static_cast<unsigned char>(how)) + "; 0 (none) and 1 (Snappy) are known");
    return bytes;
  }

  expected<std::vector<table_entry>> entries_of(const place& at, const std::string& what) {
    const auto contents = contents_of(at, what);
    if (!contents)
      return fail(contents.error());
    std::string_view rest{*contents};
    const size_t restarts = rest.size() < sizeof(uint32_t)
                                ? 0
                                : load_fixed<uint32_t>(rest.substr(rest.size() - sizeof(uint32_t)));
    if (restarts == 0 || restarts > rest.size() / sizeof(uint32_t) - 1)
      return damaged(at.offset, what + " has no room for its " + std::to_string(restarts) + " restarts");
    rest.remove_suffix((restarts + 1) * sizeof(uint32_t));
    std::vector<table_entry> entries;
    std::string key;
    while (!rest.empty()) {
      const auto shared = take_varint(rest), added = shared ? take_varint(rest) : std::nullopt,
                 value = added ? take_varint(rest) : std::nullopt;
      if (!value || *shared > key.size() || *added > rest.size() || *value > rest.size() - *added)
        return damaged(at.offset, what + " has an entry that does not fit into it");
      if (auto fits = charge(*shared + *added + *value + sizeof(table_entry), at, what); !fits)
        return fail(std::move(fits.error()));
      key.resize(*shared);
      key.append(rest.substr(0, *added));
      if (!entries.empty() && key <= entries.back().key)
        return damaged(at.offset, what + " has keys that do not rise");
      entries.push_back({key, std::string{rest.substr(*added, *value)}});
      rest.remove_prefix(*added + *value);
    }
    return entries;
  }

  const readable_file& file_;
  const std::string& path_;
  uint64_t size_;
  uint64_t left_;  ///< The number of bytes that may still be decoded.
};

}  // namespace

expected<std::vector<table_entry>> read_sorted_table(const readable_file& file, const std::string& path) {
  return table_reader{file, path}.read();
}

}  // namespace troupe
