#include "storage/encodings/idx.hpp"

#include "storage/files/byte_source.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr int rank_max = 4;
constexpr unsigned char unsigned_byte = 0x08;

/// Detects compression by the file's first bytes.
expected<std::unique_ptr<byte_source>> source_of(const readable_file& file, const std::string& path) {
  std::byte magic[2] = {};
  if (file.size() >= 2)
    if (auto done = file.read(0, magic); !done)
      return fail(std::move(done.error()));
  const bool gzip = magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
  return open_source(file, path, gzip ? compression::gzip : compression::none);
}

expected<void> read_exactly(byte_source& from, std::span<std::byte> into, int64_t offset, const std::string& path,
                            const char* what) {
  const auto n = from.read(into);
  if (!n)
    return fail(n.error());
  if (*n < into.size())
    return fail(errc::data_loss, path + ": the " + what + " at offset " + std::to_string(offset)
                                     + " is cut off: wanted " + std::to_string(into.size()) + " bytes, found "
                                     + std::to_string(*n));
  return {};
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text = "0x";
  for (const auto b : bytes)
    for (const int shift : {4, 0})
      text += "0123456789abcdef"[std::to_integer<int>(b) >> shift & 15];
  return text;
}

expected<shape> read_header(byte_source& from, const std::string& path) {
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
    return fail(errc::data_loss, path + ": the element type at offset 2 is "
                                     + hexadecimal(std::span{magic}.subspan(2, 1))
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
                                     + to_text(*dims) + " bytes, found " + (fits ? "at most " : "fewer: at most ")
                                     + std::to_string(std::max<int64_t>(0, (*from)->size_max() - offset)));
  auto buffer = allocate_buffer(bytes);
  if (!buffer)
    return fail(errc::resource_exhausted, path + ": no memory for " + std::to_string(bytes) + " bytes");
  if (auto done = read_exactly(**from, {buffer.get(), static_cast<size_t>(bytes)}, offset, path, "data"); !done)
    return fail(std::move(done.error()));
  // Tries to read one more byte. This also makes zlib verify checksum and length at the end of the stream.
  std::byte extra[1];
  const auto trailing = (*from)->read(extra);
  if (!trailing)
    return fail(trailing.error());
  if (*trailing > 0)
    return fail(errc::data_loss,
                path + ": bytes follow the data, which end at offset " + std::to_string(offset + bytes));
  return tensor{dtype::uint8, *dims, std::move(buffer)};
}

}  // namespace troupe
