#include "storage/encodings/utf8.hpp"

namespace troupe {

size_t utf8_length(std::string_view bytes) noexcept {
  if (bytes.empty())
    return 0;
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || length > bytes.size())
    return 0;
  // The lead byte limits the range of the second byte; any continuation byte may follow.
  unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char greatest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < length; ++i, least = 0x80, greatest = 0xbf)
    if (const auto next = static_cast<unsigned char>(bytes[i]); next < least || next > greatest)
      return 0;
  return length;
}

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const size_t length = utf8_length(bytes);
    if (length == 0)
      return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const size_t length = utf8_length(bytes);
    text += length == 0 ? std::string_view{"\xef\xbf\xbd"} : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace troupe
