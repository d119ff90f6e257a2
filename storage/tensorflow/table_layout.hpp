// Constants and helpers of the reader and the writer of sorted tables.
#pragma once

#include "storage/tensorflow/sorted_table.hpp"

#include <bit>
#include <cstring>

namespace troupe::table_layout {

static_assert(std::endian::native == std::endian::little, "numbers of fixed width are copied as they lie in memory");

inline constexpr uint64_t magic = 0xdb4775248b80fb57u;
inline constexpr size_t footer_bytes = 48;
/// After a block's contents: the compression (1 byte) and the checksum (4 bytes).
inline constexpr size_t trailer_bytes = 5;
inline constexpr char uncompressed = 0, snappy = 1;

/// The place of a block's contents in the file.
struct place {
  uint64_t offset = 0, bytes = 0;
};

template <class T>
void append_fixed(std::string& to, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof bytes);
}
/// `from` must have at least `sizeof(T)` bytes.
template <class T>
T load_fixed(std::string_view from) noexcept {
  T value;
  std::memcpy(&value, from.data(), sizeof value);
  return value;
}

}  // namespace troupe::table_layout
