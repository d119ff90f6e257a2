#include "storage/encodings/base64.hpp"

#include <array>
#include <cstdint>

namespace troupe {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto digit_values = [] {
  std::array<int8_t, 256> table{};
  table.fill(-1);
  for (size_t i = 0; i < digits.size(); ++i)
    table[static_cast<unsigned char>(digits[i])] = static_cast<int8_t>(i);
  return table;
}();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return {};
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t padding = !last ? 0 : text[i + 2] == '=' ? 2 : text[i + 3] == '=' ? 1 : 0;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const bool pad = k >= 4 - padding;
      const int8_t value = pad ? 0 : digit_values[static_cast<unsigned char>(text[i + k])];
      if (value < 0 || (pad && text[i + k] != '='))
        return {};
      group = group << 6 | static_cast<uint32_t>(value);
    }
    if (padding > 0 && (group & ((1u << (8 * padding)) - 1)) != 0)
      return {};  // Unused bits are set, so this is not the text that `to_base64` makes.
    for (size_t k = 0; k < 3 - padding; ++k)
      bytes += static_cast<char>(group >> (16 - 8 * k) & 255);
  }
  return bytes;
}

}  // namespace troupe
