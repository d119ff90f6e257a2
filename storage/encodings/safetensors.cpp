#include "storage/encodings/safetensors.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/json_cursor.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <new>

namespace troupe {

namespace {

constexpr size_t alignment = 64;
constexpr int64_t tensor_chunk_max = 1 << 20;      // Small enough that the checksum finds the bytes in the cache.
constexpr int64_t header_bytes_max = 100'000'000;  // The limit of the format's reference implementation.
constexpr dtype dtypes[] = {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean, dtype::uint8};

tl::unexpected<error> damaged_tensors(const std::string& path, const std::string& what) {
  return fail(errc::data_loss, path + ": " + what);
}

expected<void> check_inside(const readable_file& file, const std::string& path, const tensor_place& place) {
  if (place.offset < 0 || place.bytes < 0 || place.offset > file.size() - place.bytes)
    return damaged_tensors(path, "tensor " + place.name + " needs " + std::to_string(place.bytes) + " bytes at offset "
                                     + std::to_string(place.offset) + ", and the file has "
                                     + std::to_string(file.size()));
  return {};
}

/// Parses one tensor. Sets as many fields as possible before it returns an error.
std::optional<error> parse_entry(safetensors_entry& into, json_cursor entry, int64_t data_begin, int64_t data_bytes,
                                 const std::string& path) {
  auto& place = into.place;
  const std::string tensor = "tensor " + place.name;
  const auto wrong = [&](const std::string& what) { return error{errc::data_loss, path + ": " + tensor + what}; };
  std::optional<json_cursor> type_name, extents, offsets;
  for (bool more = entry.is_object() && entry.enter(); more; more = entry.next()) {
    const auto name = entry.name();
    for (const auto& [wanted, member] :
         {std::pair{"dtype", &type_name}, {"shape", &extents}, {"data_offsets", &offsets}})
      if (is_json_of(name, wanted))
        *member = entry;
    entry.skip();
  }
  if (!type_name || !type_name->is_text() || !extents || !extents->is_list() || !offsets || !offsets->is_list()
      || offsets->count() != 2)
    return wrong(" has no dtype, shape or data_offsets");
  into.type_name = text_of_json(type_name->token(), SIZE_MAX);
  int64_t begin = 0, end = 0;
  offsets->enter();
  bool placed = offsets->read(begin);
  placed = placed && offsets->next() && offsets->read(end) && begin >= 0 && end >= 0;
  if (placed && begin <= end && end <= std::numeric_limits<int64_t>::max() - data_begin) {
    place.offset = data_begin + begin;
    place.bytes = end - begin;
  }
  const int64_t rank = extents->count();
  bool whole = true;
  for (bool more = extents->enter(); more && whole; more = whole && extents->next())
    if (int64_t extent = 0; whole = extents->read(extent), whole)
      into.extents.push_back(extent);
  const auto type = std::find_if(std::begin(dtypes), std::end(dtypes),
                                 [&](dtype t) { return safetensors_name(t) == into.type_name; });
  if (type == std::end(dtypes))
    return error{errc::unimplemented, path + ": " + tensor + " has the dtype " + into.type_name};
  place.type = *type;
  if (rank > shape::max_rank)
    return error{errc::unimplemented, path + ": " + tensor + " has rank " + std::to_string(rank)};
  if (!whole)
    return wrong(" has an extent that is not a whole number");
  const auto bytes = byte_size_of(place.type, into.extents);
  if (!bytes || !placed)
    return wrong(" has an impossible shape or offset");
  place.dims = shape{into.extents};
  if (begin > end || end > data_bytes || end - begin != *bytes)
    return wrong(" lies at [" + std::to_string(begin) + ", " + std::to_string(end) + ") of "
                 + std::to_string(data_bytes) + " bytes of data and needs " + std::to_string(*bytes));
  return {};
}

/// Reads the text of the header: one JSON object.
expected<std::string> read_header(const readable_file& file, const std::string& path) {
  unsigned char length[sizeof(uint64_t)];
  if (auto done = file.read(0, std::as_writable_bytes(std::span{length})); !done)
    return fail(std::move(done.error()));
  uint64_t header_bytes = 0;
  for (size_t i = 0; i < sizeof(uint64_t); ++i)
    header_bytes |= static_cast<uint64_t>(length[i]) << (8 * i);
  const int64_t room = file.size() - static_cast<int64_t>(sizeof(uint64_t));
  if (header_bytes > static_cast<uint64_t>(std::min(room, header_bytes_max)))
    return damaged_tensors(path, "the header at byte 8 is said to have " + std::to_string(header_bytes)
                                     + " bytes, and the file has " + std::to_string(file.size()));
  std::string text(header_bytes, '\0');
  if (auto done = file.read(sizeof(uint64_t), std::as_writable_bytes(std::span{text})); !done)
    return fail(std::move(done.error()));
  const auto flaw = find_flaw(text);
  if (flaw && flaw->deep)
    return damaged_tensors(path, "the header at byte 8 " + to_text(json_flaw{sizeof(uint64_t) + flaw->at, true}));
  if (flaw || !json_cursor{text}.is_object())
    return damaged_tensors(path, "the header at byte 8 is not a JSON object");
  return text;
}

/// Checks that the tensors are contiguous from the header to the end of the file.
std::optional<error> check_order(const std::vector<safetensors_entry>& entries, int64_t at, int64_t size,
                                 const std::string& path) {
  for (const auto& [t, type_name, extents, problem] : entries) {
    if (t.offset != at)
      return error{errc::data_loss, path + ": tensor " + t.name + " begins at byte " + std::to_string(t.offset)
                                        + ", and the one before it ends at " + std::to_string(at)};
    at += t.bytes;
  }
  if (at != size)
    return error{errc::data_loss,
                 path + ": the last tensor ends at byte " + std::to_string(at) + " of " + std::to_string(size)};
  return {};
}

safetensors_scan scan_header(std::string_view text, const readable_file& file, const std::string& path) {
  const auto data_begin = static_cast<int64_t>(sizeof(uint64_t) + text.size());
  safetensors_scan scan;
  json_cursor at{text};
  for (bool more = at.enter(); more; more = at.next()) {
    auto name = text_of_json(at.name(), SIZE_MAX);
    const auto entry = at;
    at.skip();
    if (name == "__metadata__") {
      auto member = entry;
      for (bool within = member.is_object() && member.enter(); within; within = member.next()) {
        const auto key = text_of_json(member.name(), SIZE_MAX);
        scan.metadata[key] = member.is_text() ? text_of_json(member.token(), SIZE_MAX) : std::string{member.token()};
        member.skip();
      }
      continue;
    }
    safetensors_entry e{.place = {.name = std::move(name)}};
    e.problem = parse_entry(e, entry, data_begin, file.size() - data_begin, path);
    scan.entries.push_back(std::move(e));
  }
  std::sort(scan.entries.begin(), scan.entries.end(),
            [](const auto& a, const auto& b) { return a.place.name < b.place.name; });
  for (size_t i = 1; i < scan.entries.size(); ++i)
    if (auto& e = scan.entries[i]; e.place.name == scan.entries[i - 1].place.name && !e.problem)
      e.problem = error{errc::data_loss, path + ": tensor " + e.place.name + " is there twice"};
  std::stable_sort(scan.entries.begin(), scan.entries.end(), [](const auto& a, const auto& b) {
    return std::pair{a.place.offset, a.place.bytes} < std::pair{b.place.offset, b.place.bytes};
  });
  scan.problem = check_order(scan.entries, data_begin, file.size(), path);
  return scan;
}

}  // namespace

std::string_view safetensors_name(dtype type) noexcept {
  switch (type) {
    case dtype::float32: return "F32";
    case dtype::float64: return "F64";
    case dtype::int32: return "I32";
    case dtype::int64: return "I64";
    case dtype::boolean: return "BOOL";
    case dtype::uint8: return "U8";
  }
  return "unknown";
}

std::optional<int64_t> byte_size_of(dtype type, std::span<const int64_t> extents) noexcept {
  int64_t bytes = size_of(type);
  for (const int64_t e : extents)
    if (e < 0 || __builtin_mul_overflow(bytes, e, &bytes))
      return {};
  return bytes;
}

expected<std::string> lay_out_safetensors(std::span<tensor_place> tensors) {
  std::vector<raw_place> raw;
  for (auto& t : tensors) {
    t.bytes = t.dims.elements() * size_of(t.type);
    const auto extents = t.dims.extents();
    raw.push_back({t.name, safetensors_name(t.type), {extents.begin(), extents.end()}, 0, t.bytes});
  }
  auto before = lay_out_safetensors(std::span{raw});
  for (size_t i = 0; before && i < raw.size(); ++i)
    tensors[i].offset = raw[i].offset;
  return before;
}

expected<std::string> lay_out_safetensors(std::span<raw_place> tensors) {
  auto header = nlohmann::json::object();
  int64_t at = 0;
  for (auto& t : tensors) {
    if (t.name.empty() || t.name == "__metadata__")
      return fail(errc::invalid_argument, "a tensor cannot be called \"" + t.name + "\"");
    header[t.name] = {{"dtype", t.type_name}, {"shape", t.extents}, {"data_offsets", {at, at + t.bytes}}};
    t.offset = at;
    at += t.bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& e) {
    return fail(errc::invalid_argument, std::string{"a tensor's name is not UTF-8: "} + e.what());
  }
  const size_t unpadded = sizeof(uint64_t) + text.size();
  text.append((alignment - unpadded % alignment) % alignment, ' ');
  std::string bytes(sizeof(uint64_t), '\0');
  for (size_t i = 0; i < sizeof(uint64_t); ++i)
    bytes[i] = static_cast<char>(static_cast<uint64_t>(text.size()) >> (8 * i));
  bytes += text;
  for (auto& t : tensors)
    t.offset += static_cast<int64_t>(bytes.size());
  return bytes;
}

expected<safetensors_scan> scan_safetensors(const readable_file& file, const std::string& path) {
  try {
    const auto header = read_header(file, path);
    if (!header)
      return fail(header.error());
    return scan_header(*header, file, path);
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, path + ": there is no memory for its header");
  }
}

expected<std::vector<tensor_place>> read_safetensors_header(const readable_file& file, const std::string& path) {
  auto scan = scan_safetensors(file, path);
  if (!scan)
    return fail(std::move(scan.error()));
  std::vector<tensor_place> tensors;
  for (auto& e : scan->entries) {
    if (e.problem)
      return fail(std::move(*e.problem));
    tensors.push_back(std::move(e.place));
  }
  if (scan->problem)
    return fail(std::move(*scan->problem));
  return tensors;
}

expected<read_tensor_result> read_tensor(const readable_file& file, const std::string& path,
                                         const tensor_place& place) {
  if (auto inside = check_inside(file, path, place); !inside)
    return fail(std::move(inside.error()));
  auto buffer = allocate_buffer(place.bytes);
  if (!buffer)
    return fail(errc::resource_exhausted,
                path + ": no memory for the " + std::to_string(place.bytes) + " bytes of tensor " + place.name);
  const auto crc = read_bytes(file, path, place, 0, {buffer.get(), static_cast<size_t>(place.bytes)});
  if (!crc)
    return fail(crc.error());
  return read_tensor_result{{place.type, place.dims, std::move(buffer)}, *crc};
}

expected<uint32_t> read_bytes(const readable_file& file, const std::string& path, const tensor_place& place,
                              int64_t from, std::span<std::byte> to, uint32_t crc) {
  if (auto inside = check_inside(file, path, place); !inside)
    return fail(std::move(inside.error()));
  for (size_t done = 0; done < to.size(); done += tensor_chunk_max) {
    // The checksum reads it from the cache.
    const auto chunk = to.subspan(done, std::min<size_t>(tensor_chunk_max, to.size() - done));
    if (auto read = file.read(place.offset + from + static_cast<int64_t>(done), chunk); !read)
      return fail(std::move(read.error()));
    crc = crc32c(chunk, crc);
  }
  return crc;
}

expected<uint32_t> checksum_tensor(const readable_file& file, const std::string& path, const tensor_place& place) {
  if (auto inside = check_inside(file, path, place); !inside)
    return fail(std::move(inside.error()));
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(tensor_chunk_max, place.bytes)));
  uint32_t crc = 0;
  for (int64_t done = 0; done < place.bytes; done += tensor_chunk_max) {
    const auto chunk = std::span{buffer}.first(static_cast<size_t>(std::min(tensor_chunk_max, place.bytes - done)));
    if (auto read = file.read(place.offset + done, chunk); !read)
      return fail(std::move(read.error()));
    crc = crc32c(chunk, crc);
  }
  return crc;
}

}  // namespace troupe
