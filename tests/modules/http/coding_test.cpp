#include "modules/http/coding.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

std::string decoded(const std::string& bytes) {
  std::string text;
  const auto decoder = decoder_of("gzip");
  CHECK(decoder->decode(bytes, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  CHECK(decoder->whole());
  return text;
}

/// A text that is compressed to about a half.
std::string words(size_t bytes) {
  std::string text;
  for (uint32_t x = 1; text.size() < bytes; x = x * 1664525 + 1013904223)
    text += std::to_string(x >> 12) + (x % 7 == 0 ? " and " : ", ");
  text.resize(bytes);
  return text;
}

}  // namespace

TEST_CASE("a text of more bytes than zlib takes at once is compressed whole, piece by piece") {
  for (const size_t bytes : {0, 1, 16, 17, 100'000})
    for (const size_t piece : {1, 16, 17, 99'999, 1'000'000}) {
      CAPTURE(bytes);
      CAPTURE(piece);
      const auto text = words(bytes);
      CHECK(decoded(gzipped(text, piece)) == text);
    }
  const auto text = words(100'000);
  CHECK(gzipped(text).size() < text.size() * 3 / 4);
}

}  // namespace troupe
