#include "storage/records/record_framing.hpp"

#include "storage/encodings/crc32c.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace troupe {

namespace {

static_assert(std::endian::native == std::endian::little, "lengths and checksums are copied as they lie in memory");

template <class T>
T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string_view view(const std::byte* bytes, size_t n) noexcept { return {reinterpret_cast<const char*>(bytes), n}; }

}  // namespace

uint32_t masked_crc32c(std::string_view bytes) noexcept { return masked(crc32c(bytes)); }

size_t begin_record(std::string& to) {
  to.append(record_header_bytes, '\0');
  return to.size() - record_header_bytes;
}

void end_record(std::string& to, size_t begin) {
  const size_t payload = begin + record_header_bytes;
  const uint64_t length = to.size() - payload;
  std::memcpy(to.data() + begin, &length, sizeof length);
  const uint32_t of_length = masked_crc32c({to.data() + begin, sizeof length});
  std::memcpy(to.data() + begin + sizeof length, &of_length, sizeof of_length);
  const uint32_t of_payload = masked_crc32c({to.data() + payload, length});
  to.append(reinterpret_cast<const char*>(&of_payload), sizeof of_payload);
}

void append_record(std::string& to, std::string_view payload) {
  const size_t begin = begin_record(to);
  to += payload;
  end_record(to, begin);
}

std::optional<uint64_t> record_length(std::span<const std::byte, record_header_bytes> header) noexcept {
  if (load<uint32_t>(header.data() + sizeof(uint64_t)) != masked_crc32c(view(header.data(), sizeof(uint64_t))))
    return {};
  return load<uint64_t>(header.data());
}

expected<std::optional<std::string_view>> record_parser::next() {
  if (failed_)
    return fail(*failed_);
  auto record = parse();
  if (!record)
    failed_ = record.error();
  return record;
}

expected<std::optional<std::string_view>> record_parser::parse() {
  std::byte header[record_header_bytes];
  const auto found = from_.read(header);
  if (!found)
    return fail(found.error());
  if (*found == 0)
    return std::nullopt;
  if (*found < sizeof header)
    return fail(cut_off(std::to_string(sizeof header), std::to_string(*found)));
  const auto length = record_length(header);
  if (!length)
    return fail(damaged("the checksum of its length is wrong"));
  if (auto ok = read_payload(*length); !ok)
    return fail(std::move(ok.error()));
  const auto checksum = load<uint32_t>(payload_.data() + *length);
  payload_.resize(*length);
  if (checksum != masked_crc32c(payload_))
    return fail(damaged("the checksum of its " + std::to_string(*length) + " bytes is wrong"));
  offset_ += record_header_bytes + static_cast<int64_t>(*length) + record_footer_bytes;
  return std::string_view{payload_};
}

/// Reads in growing parts, since only a loose upper bound is known for the size of compressed content.
expected<void> record_parser::read_payload(uint64_t length) {
  const int64_t left = std::max<int64_t>(0, from_.size_max() - offset_ - record_header_bytes);
  if (left < record_footer_bytes || length > static_cast<uint64_t>(left - record_footer_bytes))
    return fail(cut_off(std::to_string(length) + " + 4", "at most " + std::to_string(left)));
  constexpr size_t part_min = size_t{1} << 20;
  const size_t all = length + record_footer_bytes;
  payload_.clear();
  while (payload_.size() < all) {
    const size_t have = payload_.size(), part = std::min(all - have, std::max(part_min, have));
    payload_.resize(have + part);
    const auto found = from_.read(std::as_writable_bytes(std::span{payload_}.subspan(have)));
    if (!found)
      return fail(found.error());
    if (*found < part)
      return fail(cut_off(std::to_string(length) + " + 4", std::to_string(have + *found)));
  }
  return {};
}

error record_parser::damaged(const std::string& reason) const {
  return {errc::data_loss, path_ + ": the record at offset " + std::to_string(offset_) + " is damaged: " + reason};
}

error record_parser::cut_off(const std::string& wanted, const std::string& found) {
  torn_ = true;
  return {errc::data_loss, path_ + ": the record at offset " + std::to_string(offset_) + " is cut off: wanted " + wanted
                               + " bytes, found " + found};
}

}  // namespace troupe
