#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/varint.hpp"
#include "storage/proto/tensor_bundle.pb.h"
#include "storage/tensorflow/sorted_table.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

constexpr int32_t version_max = 1;             // TensorFlow has written no other version.
constexpr int32_t shards_max = 100'000;        // File names have five digits for the shard.
constexpr int64_t bundle_chunk_max = 1 << 20;  // Small enough that the checksum finds the bytes in the cache.

/// Keys of slices begin with byte 0; names of variables do not.
bool is_slice_key(std::string_view key) { return key.starts_with('\0'); }

std::string shape_text(const std::vector<int64_t>& extents) { return "[" + joined(extents) + "]"; }

std::optional<int64_t> elements_of(std::span<const int64_t> extents) {
  int64_t n = 1;
  for (const int64_t e : extents)
    if (e < 0 || __builtin_mul_overflow(n, e, &n))
      return {};
  return n;
}

using table = std::vector<table_entry>;

const table_entry* find_entry(const table& entries, std::string_view key) {
  const auto at = std::lower_bound(entries.begin(), entries.end(), key,
                                   [](const table_entry& e, std::string_view k) { return e.key < k; });
  return at != entries.end() && at->key == key ? &*at : nullptr;
}

/// Reads the index entries of tensors. A problem of one tensor is stored in that tensor.
class entry_parser {
 public:
  entry_parser(const table& entries, const std::string& path, int32_t shards)
    : entries_(entries), path_(path), shards_(shards) {}

  bundle_tensor parse(const table_entry& e) const {
    bundle_tensor t{.name = e.key};
    if (auto right = parse_into(t, e); !right)
      t.problem = std::move(right.error());
    return t;
  }

 private:
  tl::unexpected<error> wrong(const bundle_tensor& t, const std::string& what, errc category = errc::data_loss) const {
    return fail(category, path_ + ": tensor " + t.name + " " + what);
  }

  expected<void> parse_into(bundle_tensor& t, const table_entry& e) const {
    proto::BundleEntryProto entry;
    if (!entry.ParseFromString(e.value))
      return wrong(t, "has an entry that is not a BundleEntryProto");
    t.type_number = entry.dtype();
    t.type = element_type_of_tensorflow(t.type_number);
    for (const auto& d : entry.shape().dim())
      t.extents.push_back(d.size());
    if (entry.shape().unknown_rank() || !elements_of(t.extents))
      return wrong(t, "has the impossible shape " + shape_text(t.extents));
    if (auto placed = entry.slices().empty() ? place_whole(t, entry) : place_slices(t, entry); !placed)
      return placed;
    if (!t.type)
      return wrong(t, "has the data type " + std::to_string(t.type_number) + ", which is not known",
                   errc::unimplemented);
    const bool is_text = t.type->name == "string";
    if (t.type->bytes == 0 && !is_text)
      return wrong(t, "has the data type " + std::string{t.type->name} + ", which cannot be read", errc::unimplemented);
    if (is_text && t.pieces.size() != 1)
      return wrong(t, "has texts in slices, which cannot be read", errc::unimplemented);
    for (const auto& p : t.pieces)
      if (auto right = check_bytes(t, p); !right)
        return right;
    return is_text || entry.slices().empty() ? expected<void>{} : check_cover(t);
  }

  expected<void> add_piece(bundle_tensor& t, bundle_piece p, const proto::BundleEntryProto& entry) const {
    p.shard = entry.shard_id();
    p.offset = entry.offset();
    p.bytes = entry.size();
    p.crc32c = unmasked(entry.crc32c());
    if (p.shard < 0 || p.shard >= shards_ || p.offset < 0 || p.bytes < 0 || p.offset > INT64_MAX - p.bytes)
      return wrong(t, "is said to have " + std::to_string(p.bytes) + " bytes at byte " + std::to_string(p.offset)
                          + " of data file " + std::to_string(p.shard) + " of " + std::to_string(shards_));
    if (__builtin_add_overflow(t.bytes, p.bytes, &t.bytes))
      return wrong(t, "has more bytes than any file");
    t.pieces.push_back(std::move(p));
    return {};
  }

  expected<void> place_whole(bundle_tensor& t, const proto::BundleEntryProto& entry) const {
    return add_piece(t, {.starts = std::vector<int64_t>(t.extents.size()), .lengths = t.extents}, entry);
  }

  expected<void> place_slices(bundle_tensor& t, const proto::BundleEntryProto& entry) const {
    for (const auto& slice : entry.slices()) {
      bundle_piece p;
      std::vector<std::optional<int64_t>> lengths;
      for (const auto& x : slice.extent()) {
        const size_t axis = p.starts.size();
        lengths.push_back(x.has_length() ? std::optional{x.length()} : std::nullopt);
        p.starts.push_back(x.start());
        p.lengths.push_back(lengths.back().value_or(axis < t.extents.size() ? t.extents[axis] : 0));
        if (axis >= t.extents.size() || x.start() < 0 || p.lengths.back() < 0
            || x.start() > t.extents[axis] - p.lengths.back())
          return wrong(t, "of shape " + shape_text(t.extents) + " has a slice that does not lie in it");
      }
      if (p.starts.size() != t.extents.size())
        return wrong(
            t, "of shape " + shape_text(t.extents) + " has a slice of " + std::to_string(p.starts.size()) + " axes");
      const auto* found = find_entry(entries_, bundle_slice_key(t.name, p.starts, lengths));
      const std::string box = shape_text(p.lengths) + " from " + shape_text(p.starts) + " on";
      proto::BundleEntryProto of_slice;
      if (!found || !of_slice.ParseFromString(found->value))
        return wrong(t, "has no entry for its slice " + box);
      if (of_slice.dtype() != entry.dtype())
        return wrong(t, "has the slice " + box + " of another data type, " + std::to_string(of_slice.dtype()));
      if (auto added = add_piece(t, std::move(p), of_slice); !added)
        return added;
    }
    return {};
  }

  expected<void> check_bytes(const bundle_tensor& t, const bundle_piece& p) const {
    const int64_t elements = *elements_of(p.lengths);
    int64_t wanted = 0;
    if (t.type->bytes == 0) {  // Each text has a length of at least one byte; the lengths have a checksum of 4 bytes.
      const bool fits = p.bytes >= 4 && elements <= p.bytes - 4;
      return fits ? expected<void>{}
                  : wrong(t, "has " + std::to_string(p.bytes) + " bytes, too few for " + std::to_string(elements)
                                 + " texts");
    }
    if (__builtin_mul_overflow(elements, int64_t{t.type->bytes}, &wanted) || wanted != p.bytes)
      return wrong(t, "has " + std::to_string(p.bytes) + " bytes for the shape " + shape_text(p.lengths) + " of "
                          + std::string{t.type->name});
    return {};
  }

  /// Checks that the slices together have as many elements as the tensor. Overlaps are detected when the slices are put
  /// together.
  expected<void> check_cover(const bundle_tensor& t) const {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(*elements_of(t.extents), int64_t{t.type->bytes}, &bytes) || bytes != t.bytes)
      return wrong(
          t, "of shape " + shape_text(t.extents) + " has slices of " + std::to_string(t.bytes) + " bytes together");
    return {};
  }

  const table& entries_;
  const std::string& path_;
  int32_t shards_;
};

/// Copies a slice into the whole tensor, one row of the last axis at a time. Returns false if an element was already
/// written.
bool put_box(const bundle_tensor& t, const bundle_piece& p, const std::byte* from, std::byte* to,
             std::vector<bool>& written) {
  const size_t rank = t.extents.size();
  const int64_t width = t.type->bytes, run = rank == 0 ? 1 : p.lengths.back();
  if (elements_of(p.lengths) == 0)
    return true;
  std::vector<int64_t> index(rank);
  for (;;) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d)
      at = at * t.extents[d] + p.starts[d] + index[d];
    for (auto i = static_cast<size_t>(at); i < static_cast<size_t>(at + run); ++i) {
      if (written[i])
        return false;
      written[i] = true;
    }
    std::memcpy(to + at * width, from, static_cast<size_t>(run * width));
    from += run * width;
    size_t d = rank < 2 ? 0 : rank - 1;
    for (; d > 0; --d) {
      if (++index[d - 1] < p.lengths[d - 1])
        break;
      index[d - 1] = 0;
    }
    if (d == 0)
      return true;
  }
}

}  // namespace

std::string bundle_index_name(std::string_view prefix) { return std::string{prefix} + ".index"; }

std::string bundle_data_name(std::string_view prefix, int32_t shard, int32_t shards) {
  return std::string{prefix} + ".data-" + zero_padded(shard, 5) + "-of-" + zero_padded(shards, 5);
}

expected<tensor_bundle> tensor_bundle::open(file_system& fs, std::string prefix) {
  const std::string path = bundle_index_name(prefix);
  auto file = fs.open(path);
  if (!file)
    return fail(std::move(file.error()));
  const auto entries = read_sorted_table(**file, path);
  if (!entries)
    return fail(entries.error());
  proto::BundleHeaderProto header;
  if (entries->empty() || !entries->front().key.empty() || !header.ParseFromString(entries->front().value))
    return fail(errc::data_loss, path + ": it is a sorted table, and has no header of a checkpoint");
  if (header.endianness() != 0)
    return fail(errc::unimplemented, path + ": its data are big-endian");
  if (header.version().min_consumer() > version_max)
    return fail(errc::unimplemented, path + ": only readers of version "
                                         + std::to_string(header.version().min_consumer())
                                         + " may read it; this one is of version " + std::to_string(version_max));
  if (header.num_shards() < 1 || header.num_shards() > shards_max)
    return fail(errc::data_loss, path + ": it is said to have " + std::to_string(header.num_shards()) + " data files");
  tensor_bundle bundle{fs, std::move(prefix)};
  bundle.shards_ = header.num_shards();
  bundle.producer_ = header.version().producer();
  const entry_parser parser{*entries, path, bundle.shards_};
  for (const auto& e : *entries)
    if (!e.key.empty() && !is_slice_key(e.key))
      bundle.tensors_.push_back(parser.parse(e));
  return bundle;
}

const bundle_tensor* tensor_bundle::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const bundle_tensor& t, std::string_view n) { return t.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

expected<readable_file*> tensor_bundle::data_file(int32_t shard) {
  auto& file = files_[shard];
  if (!file) {
    auto opened = fs_->open(bundle_data_name(prefix_, shard, shards_));
    if (!opened)
      return fail(std::move(opened.error()));
    file = std::move(*opened);
  }
  return file.get();
}

/// Reads a piece and verifies its checksum. If `into` is empty, only verifies.
expected<void> tensor_bundle::read_piece(const bundle_tensor& t, const bundle_piece& p, std::span<std::byte> into) {
  const std::string path = bundle_data_name(prefix_, p.shard, shards_);
  const auto file = data_file(p.shard);
  if (!file)
    return fail(file.error());
  if (p.offset > (*file)->size() - p.bytes)
    return fail(errc::data_loss, path + ": tensor " + t.name + " needs " + std::to_string(p.bytes) + " bytes at offset "
                                     + std::to_string(p.offset) + ", and the file has "
                                     + std::to_string((*file)->size()));
  std::vector<std::byte> buffer(into.empty() ? static_cast<size_t>(std::min(bundle_chunk_max, p.bytes)) : 0);
  uint32_t crc = 0;
  for (int64_t done = 0; done < p.bytes; done += bundle_chunk_max) {
    const auto count = static_cast<size_t>(std::min(bundle_chunk_max, p.bytes - done));
    const auto chunk = into.empty() ? std::span{buffer}.first(count) : into.subspan(static_cast<size_t>(done), count);
    if (auto read = (*file)->read(p.offset + done, chunk); !read)
      return read;
    crc = crc32c(chunk, crc);
  }
  // In the checksum of texts, lengths count as numbers of fixed width, so `read_texts` verifies it.
  if (t.type->bytes != 0 && crc != p.crc32c)
    return fail(errc::data_loss, path + ": tensor " + t.name + " at offset " + std::to_string(p.offset)
                                     + " has the checksum " + crc32c_text(crc) + " and should have "
                                     + crc32c_text(p.crc32c));
  return {};
}

expected<std::shared_ptr<std::byte>> tensor_bundle::read(const bundle_tensor& t) {
  if (t.problem)
    return fail(*t.problem);
  if (t.type->bytes == 0)
    return fail(errc::type, prefix_ + ": tensor " + t.name + " holds texts");
  const auto no_memory = [&] {
    return fail(errc::resource_exhausted,
                prefix_ + ": no memory for the " + std::to_string(t.bytes) + " bytes of tensor " + t.name);
  };
  for (const auto& p : t.pieces)  // Rejects a length that does not fit the file before memory is allocated.
    if (const auto file = data_file(p.shard); !file)
      return fail(file.error());
    else if (p.offset > (*file)->size() - p.bytes)
      return fail(read_piece(t, p, {}).error());
  auto whole = allocate_buffer(t.bytes);
  if (!whole)
    return no_memory();
  const bool divided = t.pieces.size() != 1 || t.pieces.front().lengths != t.extents;
  std::vector<bool> written(divided ? static_cast<size_t>(t.bytes / t.type->bytes) : 0);
  for (const auto& p : t.pieces) {
    auto part = divided ? allocate_buffer(p.bytes) : whole;
    if (!part)
      return no_memory();
    // Empty pieces have a checksum too.
    if (auto done = read_piece(t, p, {part.get(), static_cast<size_t>(p.bytes)}); !done)
      return fail(std::move(done.error()));
    if (divided && !put_box(t, p, part.get(), whole.get(), written))
      return fail(errc::data_loss, bundle_index_name(prefix_) + ": tensor " + t.name + " has slices that overlap");
  }
  return whole;
}

expected<std::vector<std::string>> tensor_bundle::read_texts(const bundle_tensor& t) {
  if (t.problem)
    return fail(*t.problem);
  if (t.type->bytes != 0)
    return fail(errc::type, prefix_ + ": tensor " + t.name + " holds " + std::string{t.type->name} + " and no texts");
  const auto& p = t.pieces.front();
  const std::string path = bundle_data_name(prefix_, p.shard, shards_);
  const auto damaged = [&](const std::string& what) {
    return fail(errc::data_loss, path + ": tensor " + t.name + " at offset " + std::to_string(p.offset) + " " + what);
  };
  const auto file = data_file(p.shard);
  if (!file)
    return fail(file.error());
  if (p.offset > (*file)->size() - p.bytes)
    return fail(read_piece(t, p, {}).error());
  std::string bytes(static_cast<size_t>(p.bytes), '\0');
  if (auto read = read_piece(t, p, std::as_writable_bytes(std::span{bytes})); !read)
    return fail(std::move(read.error()));
  std::string_view rest{bytes};
  std::vector<uint64_t> lengths;
  uint32_t crc = 0;
  for (int64_t i = 0; i < *elements_of(t.extents); ++i) {
    const auto length = take_varint(rest);
    if (!length)
      return damaged("has fewer lengths than texts");
    const auto narrow = static_cast<uint32_t>(*length);
    crc = *length <= UINT32_MAX ? crc32c(std::as_bytes(std::span{&narrow, 1}), crc)
                                : crc32c(std::as_bytes(std::span{&*length, 1}), crc);
    lengths.push_back(*length);
  }
  uint32_t stored = 0;
  if (rest.size() < sizeof stored)
    return damaged("has no checksum of its lengths");
  std::memcpy(&stored, rest.data(), sizeof stored);
  if (stored != masked(crc))
    return damaged("has wrong lengths: their checksum is " + crc32c_text(crc) + " and should be "
                   + crc32c_text(unmasked(stored)));
  if (crc = crc32c(rest, crc); crc != p.crc32c)  // Covers the checksum of the lengths, and the texts.
    return damaged("has the checksum " + crc32c_text(crc) + " and should have " + crc32c_text(p.crc32c));
  rest.remove_prefix(sizeof stored);
  std::vector<std::string> texts;
  for (const uint64_t length : lengths) {
    if (length > rest.size())
      return damaged("ends within a text");
    texts.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return rest.empty() ? expected<std::vector<std::string>>{std::move(texts)} : damaged("has bytes after its last text");
}

expected<void> tensor_bundle::verify(const bundle_tensor& t) {
  if (t.problem)
    return fail(*t.problem);
  if (t.type->bytes == 0)
    return read_texts(t).map([](const auto&) {});
  if (t.pieces.size() != 1)
    return read(t).map([](const auto&) {});  // Slices may overlap, which only `read` detects.
  return read_piece(t, t.pieces.front(), {});
}

}  // namespace troupe
