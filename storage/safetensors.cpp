#include "storage/safetensors.hpp"

#include "storage/crc32c.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

using json = nlohmann::json;

constexpr size_t alignment = 64;
constexpr int64_t chunk_max = 1 << 20;  // Small enough to be in the cache still when it is summed.
constexpr int64_t header_bytes_max = 100'000'000;  // The limit of the format's own reference reader.
constexpr dtype dtypes[] = {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean, dtype::uint8};

tl::unexpected<error> damaged(const std::string& path, const std::string& what) {
  return fail(errc::data_loss, path + ": " + what);
}

expected<void> check_inside(const readable_file& file, const std::string& path, const tensor_place& place) {
  if (place.offset < 0 || place.bytes < 0 || place.offset > file.size() - place.bytes)
    return damaged(path, "tensor " + place.name + " needs " + std::to_string(place.bytes) + " bytes at offset "
                           + std::to_string(place.offset) + ", and the file has " + std::to_string(file.size()));
  return {};
}

expected<tensor_place> parse_entry(const std::string& name, const json& entry, int64_t data_begin, int64_t data_bytes,
                                   const std::string& path) {
  const std::string tensor = "tensor " + name;
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape")
      || !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array()
      || entry["data_offsets"].size() != 2)
    return damaged(path, tensor + " has no dtype, shape or data_offsets");
  tensor_place place{.name = name};
  const auto type = std::find_if(std::begin(dtypes), std::end(dtypes),
                                 [&](dtype t) { return safetensors_name(t) == entry["dtype"].get_ref<const std::string&>(); });
  if (type == std::end(dtypes))
    return fail(errc::unimplemented, path + ": " + tensor + " has the dtype " + entry["dtype"].get<std::string>());
  place.type = *type;
  if (entry["shape"].size() > static_cast<size_t>(shape::max_rank))
    return fail(errc::unimplemented, path + ": " + tensor + " has rank " + std::to_string(entry["shape"].size()));
  std::vector<int64_t> extents;
  for (const auto& extent : entry["shape"]) {
    if (!extent.is_number_integer())
      return damaged(path, tensor + " has an extent that is not a whole number");
    extents.push_back(extent.get<int64_t>());
  }
  const auto bytes = byte_size_of(place.type, extents);
  const auto& offsets = entry["data_offsets"];
  if (!bytes || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return damaged(path, tensor + " has an impossible shape or offset");
  const auto begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (begin > end || end > static_cast<uint64_t>(data_bytes) || end - begin != static_cast<uint64_t>(*bytes))
    return damaged(path, tensor + " lies at [" + std::to_string(begin) + ", " + std::to_string(end) + ") of "
                           + std::to_string(data_bytes) + " bytes of data and needs " + std::to_string(*bytes));
  place.dims = shape{extents};
  place.offset = data_begin + static_cast<int64_t>(begin);
  place.bytes = *bytes;
  return place;
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
  auto header = json::object();
  int64_t at = 0;
  for (auto& t : tensors) {
    if (t.name.empty() || t.name == "__metadata__")
      return fail(errc::invalid_argument, "a tensor cannot be called \"" + t.name + "\"");
    t.bytes = t.dims.elements() * size_of(t.type);
    header[t.name] = {{"dtype", safetensors_name(t.type)}, {"shape", t.dims.extents()}, {"data_offsets", {at, at + t.bytes}}};
    t.offset = at;
    at += t.bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception& e) {
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

expected<std::vector<tensor_place>> read_safetensors_header(const readable_file& file, const std::string& path) {
  unsigned char length[sizeof(uint64_t)];
  if (auto done = file.read(0, std::as_writable_bytes(std::span{length})); !done)
    return fail(std::move(done.error()));
  uint64_t header_bytes = 0;
  for (size_t i = 0; i < sizeof(uint64_t); ++i)
    header_bytes |= static_cast<uint64_t>(length[i]) << (8 * i);
  const int64_t room = file.size() - static_cast<int64_t>(sizeof(uint64_t));
  if (header_bytes > static_cast<uint64_t>(std::min(room, header_bytes_max)))
    return damaged(path, "the header at byte 8 is said to have " + std::to_string(header_bytes) + " bytes, and the file has "
                           + std::to_string(file.size()));
  std::string text(header_bytes, '\0');
  if (auto done = file.read(sizeof(uint64_t), std::as_writable_bytes(std::span{text})); !done)
    return fail(std::move(done.error()));
  const auto header = json::parse(text, nullptr, false);
  if (!header.is_object())
    return damaged(path, "the header at byte 8 is not a JSON object");
  const int64_t data_begin = static_cast<int64_t>(sizeof(uint64_t) + header_bytes), data_bytes = file.size() - data_begin;
  std::vector<tensor_place> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    auto place = parse_entry(name, entry, data_begin, data_bytes, path);
    if (!place)
      return fail(std::move(place.error()));
    tensors.push_back(std::move(*place));
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::pair{a.offset, a.bytes} < std::pair{b.offset, b.bytes};
  });
  int64_t at = data_begin;
  for (const auto& t : tensors) {
    if (t.offset != at)
      return damaged(path, "tensor " + t.name + " begins at byte " + std::to_string(t.offset)
                             + ", and the one before it ends at " + std::to_string(at));
    at += t.bytes;
  }
  if (at != file.size())
    return damaged(path, "the last tensor ends at byte " + std::to_string(at) + " of " + std::to_string(file.size()));
  return tensors;
}

expected<read_tensor_result> read_tensor(const readable_file& file, const std::string& path, const tensor_place& place) {
  if (auto inside = check_inside(file, path, place); !inside)
    return fail(std::move(inside.error()));
  auto buffer = allocate_buffer(place.bytes);
  if (!buffer)
    return fail(errc::resource_exhausted,
                path + ": no memory for the " + std::to_string(place.bytes) + " bytes of tensor " + place.name);
  uint32_t crc = 0;
  for (int64_t done = 0; done < place.bytes; done += chunk_max) {
    const std::span chunk{buffer.get() + done, static_cast<size_t>(std::min(chunk_max, place.bytes - done))};
    if (auto read = file.read(place.offset + done, chunk); !read)
      return fail(std::move(read.error()));
    crc = crc32c(chunk, crc);
  }
  return read_tensor_result{{place.type, place.dims, std::move(buffer)}, crc};
}

expected<uint32_t> checksum_tensor(const readable_file& file, const std::string& path, const tensor_place& place) {
  if (auto inside = check_inside(file, path, place); !inside)
    return fail(std::move(inside.error()));
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(chunk_max, place.bytes)));
  uint32_t crc = 0;
  for (int64_t done = 0; done < place.bytes; done += chunk_max) {
    const auto chunk = std::span{buffer}.first(static_cast<size_t>(std::min(chunk_max, place.bytes - done)));
    if (auto read = file.read(place.offset + done, chunk); !read)
      return fail(std::move(read.error()));
    crc = crc32c(chunk, crc);
  }
  return crc;
}

}  // namespace troupe
