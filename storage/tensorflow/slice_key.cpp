// Keys of slices, in TensorFlow's ordered code: bytes sort in the same order as the encoded values.
#include "storage/tensorflow/tensor_bundle.hpp"

#include <bit>

namespace troupe {

namespace {

/// Appends the number of bytes, then the bytes, highest first.
void append_rising(std::string& to, uint64_t value) {
  const int bytes = (static_cast<int>(std::bit_width(value)) + 7) / 8;
  to.push_back(static_cast<char>(bytes));
  for (int i = bytes; i-- > 0;)
    to.push_back(static_cast<char>(value >> (8 * i)));
}

/// Appends a text and its end, the bytes 0 1. Within the text an extra byte follows 0, which begins the end, and 255,
/// which is the escape byte.
void append_text(std::string& to, std::string_view text) {
  for (const char c : text) {
    to.push_back(c);
    if (c == '\0')
      to.push_back('\xff');
    else if (c == '\xff')
      to.push_back('\0');
  }
  to.append("\0\1", 2);
}

/// n bytes hold 7 n bits. The leading ones of the first bytes (for a negative value, zeros) give the number of bytes.
void append_signed(std::string& to, int64_t value) {
  constexpr size_t bytes_max = 10;
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const size_t length = static_cast<size_t>(std::bit_width(magnitude)) / 7 + 1;
  std::string bytes(bytes_max, value < 0 ? '\xff' : '\0');
  for (size_t i = 0; i < 8; ++i)
    bytes[bytes_max - 1 - i] = static_cast<char>(value >> (8 * i));
  bytes.erase(0, bytes_max - length);
  for (size_t bit = 0; bit < length; ++bit)
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (0x80 >> (bit % 8)));
  to += bytes;
}

}  // namespace

std::string bundle_slice_key(std::string_view tensor, std::span<const int64_t> starts,
                             std::span<const std::optional<int64_t>> lengths) {
  constexpr int64_t whole = -1;
  std::string key;
  append_rising(key, 0);
  append_text(key, tensor);
  append_rising(key, starts.size());
  for (size_t d = 0; d < starts.size(); ++d) {
    append_signed(key, starts[d]);
    append_signed(key, lengths[d].value_or(whole));
  }
  return key;
}

}  // namespace troupe
