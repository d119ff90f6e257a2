#include "storage/encodings/png.hpp"
#include "tests/fuzz/target.hpp"

#include <zlib.h>

namespace troupe::fuzz {

namespace {

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t x = 0;
  for (size_t i = 0; i < 4; ++i)
    x = x << 8 | static_cast<unsigned char>(bytes[at + i]);
  return x;
}

/// The input with the right checksums of its chunks, which no mutation would ever hit.
std::string repaired(std::string bytes) {
  for (size_t at = 8; at + 12 <= bytes.size();) {
    const size_t length = big_endian(bytes, at);
    if (length > bytes.size() - at - 12)
      break;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at + 4), static_cast<uInt>(length + 4));
    at += 8 + length;
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes[at++] = static_cast<char>(sum >> shift);
  }
  return bytes;
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const int64_t channels : {1, 3, 4}) {
    std::vector<uint8_t> pixels(static_cast<size_t>(5 * 7 * channels));
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<uint8_t>(i * 37);
    all.push_back(need(encode_png(tensor::of<uint8_t>({5, 7, channels}, std::span<const uint8_t>{pixels}))));
  }
  return all;
}

void run(std::string_view input) {
  const auto image = decode_png(repaired(std::string{input}));
  if (!image)
    return;
  require(need(decode_png(need(encode_png(*image)))) == *image, "an image that was read is written and read again");
}

}  // namespace troupe::fuzz
