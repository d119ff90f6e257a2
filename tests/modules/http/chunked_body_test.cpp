#include "modules/http/chunked_body.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct outcome {
  std::string data;
  size_t taken = 0;
  bool whole = false;
  std::string reason = {};
};

/// Reads a body from the start of `bytes`, which arrive in pieces of `piece` bytes.
outcome read(const std::string& bytes, size_t piece) {
  chunked_body body;
  outcome o;
  for (size_t at = 0; at < bytes.size() && !body.whole(); at += piece)
    for (std::string_view came = std::string_view{bytes}.substr(at, piece); !came.empty() && !body.whole();) {
      const auto part = body.take(came);
      if (!part) {
        o.reason = part.error().reason;
        return o;
      }
      o.data += part->data;
      o.taken += part->taken;
      came.remove_prefix(part->taken);
    }
  o.whole = body.whole();
  return o;
}

}  // namespace

TEST_CASE("a body in chunks is its data, in whatever pieces it comes, and ends before what follows it") {
  const std::string next = "GET / HTTP/1.1\r\n";
  for (const auto& [bytes, data] : std::vector<std::pair<std::string, std::string>>{
           {"0\r\n\r\n", ""},
           {"5\r\nhello\r\n0\r\n\r\n", "hello"},
           {"1\r\na\r\n1\r\nb\r\n000\r\n\r\n", "ab"},
           {"0A\r\n\r\n0\r\n\r\n1\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n1\r\n"},
           {"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"},
           {"1\r\na\r\n0\r\nX: y\r\nContent-Length: 7\r\n\r\n", "a"}})
    for (size_t piece = 1; piece <= bytes.size() + next.size(); ++piece) {
      CAPTURE(bytes);
      CAPTURE(piece);
      const auto o = read(bytes + next, piece);
      CHECK(o.whole);
      CHECK(o.data == data);
      CHECK(o.taken == bytes.size());
    }
}

TEST_CASE("a body in chunks that is cut off anywhere is not whole") {
  const std::string bytes = "5\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n";
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto o = read(bytes.substr(0, n), 3);
    CHECK_FALSE(o.whole);
    CHECK(o.reason.empty());
  }
}

TEST_CASE("chunks whose size is not plain hexadecimal, or that do not end in CRLF, are refused") {
  CHECK(has(read("5;a=b\r\nhello\r\n", 1).reason, "the size of a chunk is hexadecimal digits and ends in CRLF"));
  CHECK(has(read("\r\n", 1).reason, "the size of a chunk is hexadecimal digits"));
  CHECK(has(read("5\rhello", 1).reason, "the size of a chunk ends in CRLF"));
  CHECK(has(read("5\r\nhelloX", 1).reason, "the data of a chunk end in CRLF"));
  CHECK(has(read("0000000000000005\r\n", 1).reason, "the size of a chunk has too many digits"));
  CHECK(has(read("0\r\nno trailer\r\n\r\n", 1).reason, "a trailer is NAME: VALUE and ends in CRLF"));
  CHECK(has(read("0\r\nX: " + std::string(9000, 'a'), 100).reason, "trailers are too long"));
}

}  // namespace troupe::test
