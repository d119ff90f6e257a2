#include "storage/encodings/png.hpp"

#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <zlib.h>

namespace troupe {

namespace {

std::string big_endian(uint32_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16), static_cast<char>(x >> 8), static_cast<char>(x)};
}

std::string chunk(const std::string& type, const std::string& content) {
  const std::string summed = type + content;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return big_endian(static_cast<uint32_t>(content.size())) + summed + big_endian(static_cast<uint32_t>(crc));
}

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  REQUIRE(compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                   static_cast<uLong>(bytes.size()))
          == Z_OK);
  out.resize(size);
  return out;
}

/// A PNG made by hand. Each row in `rows` begins with its filter.
std::string png_of(uint32_t width, uint32_t height, char depth, char colour, const std::string& rows,
                   const std::string& before = "") {
  return "\x89PNG\r\n\x1a\n"
         + chunk("IHDR", big_endian(width) + big_endian(height) + std::string{depth, colour, 0, 0, 0}) + before
         + chunk("IDAT", compressed(rows)) + chunk("IEND", "");
}

}  // namespace

TEST_CASE("an image survives PNG bit for bit, whatever its channels and size") {
  for (const shape& dims : {shape{1, 1, 1}, shape{3, 5, 3}, shape{64, 33, 4}, shape{1, 1000, 1}}) {
    std::vector<uint8_t> pixels(static_cast<size_t>(dims.elements()));
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<uint8_t>(i * i + 3 * i);
    const auto image = tensor::of<uint8_t>(dims, std::span<const uint8_t>{pixels});
    const auto bytes = encode_png(image);
    REQUIRE(bytes);
    CHECK(is_png(*bytes));
    const auto read = decode_png(*bytes);
    REQUIRE(read);
    CHECK(*read == image);
  }
}

TEST_CASE("a tensor that is no image is refused with its dtype and shape") {
  for (const auto& t : {tensor::zeros(dtype::uint8, {4, 4}), tensor::zeros(dtype::uint8, {4, 4, 2}),
                        tensor::zeros(dtype::float32, {4, 4, 3}), tensor::zeros(dtype::uint8, {0, 4, 3}),
                        tensor::zeros(dtype::uint8, {4, 0, 3})}) {
    const auto bytes = encode_png(t);
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error().category == errc::invalid_argument);
    CHECK(has(bytes.error().message, to_text(t.dims())));
  }
}

TEST_CASE("palettes, 16 bits, single bits and grey with opacity become uint8 of 3, 1, 1 and 4 channels") {
  const auto palette = decode_png(png_of(2, 1, 8, 3, std::string("\0\1\0", 3), chunk("PLTE", "abcdef")));
  REQUIRE(palette);
  CHECK(*palette == tensor::of<uint8_t>({1, 2, 3}, {'d', 'e', 'f', 'a', 'b', 'c'}));
  const auto wide = decode_png(png_of(1, 1, 16, 0, std::string("\0\xff\xff", 3)));
  REQUIRE(wide);
  CHECK(*wide == tensor::of<uint8_t>({1, 1, 1}, {255}));
  const auto bits = decode_png(png_of(2, 1, 1, 0, std::string("\0\x40", 2)));
  REQUIRE(bits);
  CHECK(*bits == tensor::of<uint8_t>({1, 2, 1}, {0, 255}));
  const auto opaque = decode_png(png_of(1, 1, 8, 4, std::string("\0\x80\x07", 3)));
  REQUIRE(opaque);
  CHECK(*opaque == tensor::of<uint8_t>({1, 1, 4}, {0x80, 0x80, 0x80, 7}));
}

TEST_CASE("a PNG cut off or changed anywhere is read as an image of that size or is data_loss") {
  const auto image = tensor::of<uint8_t>({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const std::string whole = *encode_png(image);
  // libpng accepts a file without its end chunk.
  for (size_t length = 0; length + 12 < whole.size(); ++length) {
    const auto cut = decode_png(std::string_view{whole}.substr(0, length));
    CAPTURE(length);
    REQUIRE_FALSE(cut);
    CHECK(cut.error().category == errc::data_loss);
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const auto changed = decode_png(bytes);
    CAPTURE(at);
    CHECK((changed ? changed->dims() == image.dims() : changed.error().category == errc::data_loss));
  }
}

TEST_CASE("a PNG of absurd size is refused by its header, before memory is taken") {
  const auto huge = decode_png(png_of(1'000'000, 1'000'000, 8, 2, "x"));
  REQUIRE_FALSE(huge);
  CHECK(huge.error().category == errc::data_loss);
  CHECK(has(huge.error().message, "1000000 x 1000000"));
  const auto beyond = decode_png(png_of(0x7fffffff, 1, 8, 2, "x"));
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().category == errc::data_loss);
}

}  // namespace troupe
