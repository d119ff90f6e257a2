#include "storage/encodings/snappy.hpp"

#include "storage/encodings/varint.hpp"

#include <doctest/doctest.h>

using namespace std::string_literals;

namespace troupe {

TEST_CASE("literals and copies of each width are decompressed, also copies that reach into what they write") {
  CHECK(snappy_decompressed("\x00"s) == ""s);
  CHECK(snappy_decompressed("\x02\x04"s + "ab") == "ab"s);
  CHECK(snappy_decompressed("\x0a\x04"s + "ab" + "\x11\x02"s) == "ababababab"s);      // The distance is encoded in one
                                                                                      // byte,
  CHECK(snappy_decompressed("\x0a\x04"s + "ab" + "\x1e\x02\x00"s) == "ababababab"s);  // in two bytes,
  CHECK(snappy_decompressed("\x0a\x04"s + "ab" + "\x1f\x02\x00\x00\x00"s) == "ababababab"s);  // and in four.
  const std::string text(300, 'x');
  CHECK(snappy_decompressed("\xac\x02\xf4\x2b\x01"s + text) == text);  // A literal whose length takes two bytes.
}

TEST_CASE("a copy of one byte of distance takes three of its bits from its tag") {
  const std::string text = "yzzz" + std::string(296, 'x');
  CHECK(snappy_decompressed("\xb0\x02\xf4\x2b\x01"s + text + "\x21\x2c"s) == text + "yzzz");
}

TEST_CASE("a block that is cut off, too long, or copies from before its beginning is none") {
  const std::string whole = "\x0a\x04"s + "ab" + "\x11\x02"s;
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(snappy_decompressed(std::string_view{whole}.substr(0, length)));
  CHECK_FALSE(snappy_decompressed(whole + "x"));
  CHECK_FALSE(snappy_decompressed("\x0a\x04"s + "ab" + "\x11\x03"s));
  CHECK_FALSE(snappy_decompressed("\x0a\x04"s + "ab" + "\x11\x00"s));
  CHECK_FALSE(snappy_decompressed("\x0b\x04"s + "ab" + "\x11\x02"s));
  CHECK_FALSE(snappy_decompressed("\x09\x04"s + "ab" + "\x11\x02"s));
}

TEST_CASE("a length that no such block can have is refused before memory is asked for") {
  std::string bytes;
  append_varint(bytes, uint64_t{1} << 50);
  CHECK_FALSE(snappy_decompressed(bytes + "\x04"s + "ab"));
  CHECK_FALSE(snappy_decompressed("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"s));
}

}  // namespace troupe
