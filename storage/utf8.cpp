#include "storage/utf8.hpp"

namespace troupe {

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || length > bytes.size())
      return false;
    // The lead byte narrows what may come second; the others are anything that continues.
    unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char greatest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < length; ++i, least = 0x80, greatest = 0xbf)
      if (const auto next = static_cast<unsigned char>(bytes[i]); next < least || next > greatest)
        return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace troupe
