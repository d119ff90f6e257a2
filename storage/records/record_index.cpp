#include "storage/records/record_index.hpp"

#include "storage/records/record_framing.hpp"

#include <cstring>

namespace troupe {

expected<record_index> record_index::of(const readable_file& file, std::string path, int64_t places_max) {
  record_index index{std::move(path)};
  for (int64_t at = 0; at < file.size(); ++index.records_) {
    const auto found = index.place_at(file, at, index.records_);
    if (!found)
      return fail(found.error());
    if (index.records_ % index.stride_ == 0) {
      if (std::ssize(index.kept_) == places_max) {
        for (size_t i = 0; 2 * i < index.kept_.size(); ++i)
          index.kept_[i] = index.kept_[2 * i];
        index.kept_.resize((index.kept_.size() + 1) / 2);
        index.stride_ *= 2;
      }
      if (index.records_ % index.stride_ == 0)
        index.kept_.push_back(at);
    }
    at = index.end_ = found->offset + found->bytes + record_footer_bytes;
  }
  return index;
}

/// The record whose header is at `offset`.
expected<record_index::place> record_index::place_at(const readable_file& file, int64_t offset, int64_t record) const {
  const auto refuse = [&](const std::string& reason) {
    return fail(errc::data_loss, path_ + ": record " + std::to_string(record) + " at offset " + std::to_string(offset)
                                     + " is " + reason);
  };
  const int64_t left = file.size() - offset;
  std::byte header[record_header_bytes];
  if (left < record_header_bytes)
    return refuse("cut off: wanted 12 bytes, found " + std::to_string(left));
  if (auto ok = file.read(offset, header); !ok)
    return fail(std::move(ok.error()));
  const auto length = record_length(header);
  if (!length)
    return refuse("damaged: the checksum of its length is wrong");
  const int64_t room = left - record_header_bytes - record_footer_bytes;
  if (room < 0 || *length > static_cast<uint64_t>(room))
    return refuse("cut off: wanted " + std::to_string(*length) + " + 4 bytes, found "
                  + std::to_string(left - record_header_bytes));
  return place{offset + record_header_bytes, static_cast<int64_t>(*length)};
}

expected<record_index::place> record_index::find(const readable_file& file, int64_t record) const {
  int64_t at_record = record / stride_ * stride_, at = kept_[static_cast<size_t>(record / stride_)];
  if (stride_ == 1)  // The next place gives the length.
    return place{at + record_header_bytes, (record + 1 < records_ ? kept_[static_cast<size_t>(record + 1)] : end_) - at
                                               - record_header_bytes - record_footer_bytes};
  if (next_record_ > at_record && next_record_ <= record)
    at_record = next_record_, at = next_offset_;
  for (;; ++at_record) {
    auto found = place_at(file, at, at_record);
    if (!found || at_record == record)
      return found;
    at = found->offset + found->bytes + record_footer_bytes;
  }
}

expected<void> record_index::read(const readable_file& file, int64_t record, std::string& payload) {
  const auto found = find(file, record);
  if (!found)
    return fail(found.error());
  payload.resize(static_cast<size_t>(found->bytes + record_footer_bytes));
  if (auto ok = file.read(found->offset, std::as_writable_bytes(std::span{payload})); !ok)
    return ok;
  uint32_t checksum = 0;
  std::memcpy(&checksum, payload.data() + found->bytes, sizeof checksum);
  payload.resize(static_cast<size_t>(found->bytes));
  if (checksum != masked_crc32c(payload))
    return fail(errc::data_loss, path_ + ": the record at offset " + std::to_string(found->offset - record_header_bytes)
                                     + " is damaged: the checksum of its " + std::to_string(found->bytes)
                                     + " bytes is wrong");
  next_record_ = record + 1;
  next_offset_ = found->offset + found->bytes + record_footer_bytes;
  return {};
}

}  // namespace troupe
