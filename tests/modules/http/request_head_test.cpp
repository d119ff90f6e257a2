#include "modules/http/request_head.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

request_head good(const std::string& bytes) {
  head_search search;
  const auto size = search.look(bytes);
  REQUIRE_MESSAGE(size, (size ? "" : size.error().reason));
  REQUIRE(*size == bytes.size());
  auto head = read_head(bytes);
  REQUIRE_MESSAGE(head, (head ? "" : head.error().reason));
  return std::move(*head);
}

refusal bad(const std::string& bytes) {
  head_search search;
  const auto size = search.look(bytes);
  if (!size)
    return size.error();
  REQUIRE(*size == bytes.size());
  const auto head = read_head(bytes);
  REQUIRE_FALSE(head);
  return head.error();
}

std::string get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: t\r\n" + headers + "\r\n";
}

}  // namespace

TEST_CASE("a head says method, path and how the body is framed, whatever case its names have") {
  const auto plain = good("GET /v1/models/a HTTP/1.1\r\nhOST: t\r\n\r\n");
  CHECK(plain.method == "GET");
  CHECK(plain.path == "/v1/models/a");
  CHECK(plain.body == request_head::framing::none);
  CHECK_FALSE(plain.has_body());
  CHECK_FALSE(plain.closes);
  const auto length = good(get("/", "CONTENT-length: \t 0042 \t\r\n"));
  CHECK(length.body == request_head::framing::length);
  CHECK(length.length == 42);
  CHECK(good(get("/", "Content-Length:7\r\n")).length == 7);
  CHECK_FALSE(good(get("/", "Content-Length: 0\r\n")).has_body());
  const auto chunks = good(get("/", "transfer-encoding: Chunked\r\n"));
  CHECK(chunks.body == request_head::framing::chunks);
  CHECK(chunks.has_body());
}

TEST_CASE("a path is decoded and has no query, also where it comes with a scheme and a host") {
  for (const auto& [target, path] :
       std::vector<std::pair<std::string, std::string>>{{"/", "/"},
                                                        {"/a?b=%zz", "/a"},
                                                        {"/%61%C3%a9", "/a\xc3\xa9"},
                                                        {"/a%20b", "/a b"},
                                                        {"/a?b?c", "/a"},
                                                        {"http://t:80/a?b", "/a"},
                                                        {"HTTPS://[::1]/a", "/a"},
                                                        {"http://t", "/"},
                                                        {"http://t?a/b", "/"},
                                                        {"/a:b!$&'()*+,;=@-._~", "/a:b!$&'()*+,;=@-._~"}}) {
    CAPTURE(target);
    CHECK(good(get(target)).path == path);
  }
  CHECK(good("OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n").path == "*");
}

TEST_CASE("a head says what the client wants of connection, answer and body") {
  CHECK(good(get("/", "Connection: x, CLOSE\r\n")).closes);
  CHECK(good(get("/", "Connection: x\r\nConnection: close\r\n")).closes);
  CHECK_FALSE(good(get("/", "Connection: keep-alive, closed\r\n")).closes);
  CHECK(good("GET / HTTP/1.0\r\n\r\n").closes);
  CHECK(good("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").closes);
  CHECK(good(get("/", "Expect: 100-Continue\r\n")).waits);
  CHECK_FALSE(good("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").waits);
  CHECK(good(get("/", "Content-Encoding: GZIP\r\n")).coding == "gzip");
  CHECK(good(get("/", "Content-Encoding: identity\r\n")).coding.empty());
  for (const char* yes : {"gzip", "br, gzip", "gzip;q=0.5", "deflate ,gzip ; q=1", "*;q=0, gzip"})
    CHECK(good(get("/", std::string{"Accept-Encoding: "} + yes + "\r\n")).takes_gzip);
  for (const char* no : {"", "br", "gzip;q=0", "gzip;q=0.000", "xgzip", "identity"})
    CHECK_FALSE(good(get("/", std::string{"Accept-Encoding: "} + no + "\r\n")).takes_gzip);
}

TEST_CASE("a head is found at the same place in whatever pieces it comes, and what follows it is not looked at") {
  const std::string head = get("/a", "X: y\r\n"), bytes = head + std::string("\0\n", 2);
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    CAPTURE(piece);
    head_search search;
    size_t came = 0;
    or_refusal<size_t> found = 0;
    while (came < bytes.size() && found && *found == 0) {
      came = std::min(bytes.size(), came + piece);
      found = search.look(std::string_view{bytes}.substr(0, came));
    }
    REQUIRE(found);
    CHECK(*found == head.size());
  }
}

TEST_CASE("a line that does not end in CRLF, and a control character, are refused before the head is whole") {
  const std::string line = "GET / HTTP/1.1";
  for (const std::string& bytes : {line + "\n", line + "\r ", line + "\r\nA: \x01", line + "\r\nA: b\n",
                                   std::string{"\r\n"}, std::string{"\n"}, std::string{"\x16\x03\x01"}}) {
    CAPTURE(bytes);
    const auto size = head_search{}.look(bytes);
    REQUIRE_FALSE(size);
    CHECK(size.error().status == 400);
  }
}

TEST_CASE("a head is refused as soon as it is too long") {
  CHECK(bad("GET /" + std::string(first_line_bytes_max, 'a')).status == 414);
  CHECK(bad(get("/", "A: " + std::string(head_bytes_max, 'a'))).status == 431);
  const std::string most = get("/" + std::string(first_line_bytes_max - std::string{"GET / HTTP/1.1\r\n"}.size(), 'a'));
  CHECK(good(most).path.size() > 8000);
}

TEST_CASE("a refusal names what is wrong and what would be right, without what is no text") {
  CHECK(has(bad("GET / HTTP/1.1\r\n\r\n").reason, "the header host is not there"));
  CHECK(has(bad(get("/", "Host: u\r\n")).reason, "the header host is there twice"));
  CHECK(has(bad(get("/", "Content-Length: 1\r\nContent-Length: 1\r\n")).reason,
            "the header content-length is there twice"));
  CHECK(has(bad(get("/", "Content-Length: 1x\r\n")).reason, "content-length is a number in digits, not '1x'"));
  CHECK(has(bad(get("/", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")).reason,
            "content-length and transfer-encoding are not there at once"));
  CHECK(has(bad(get("/", "Transfer-Encoding: gzip\r\n")).reason,
            "transfer-encoding is chunked, in HTTP/1.1, not 'gzip'"));
  CHECK(has(bad(get("/", "A\xff: b\r\n")).reason, "a header is NAME: VALUE, not 'A?: b'"));
  CHECK(has(bad(get("/%0a")).reason, "a path has no '/' and no control character in the form '%0a'"));
  CHECK(has(bad("GET / HTTP/3.0\r\nHost: t\r\n\r\n").reason, "this server speaks HTTP/1.1, not HTTP/3.0"));
}

TEST_CASE("HTTP/1.0 needs no host and has no chunks") {
  CHECK(good("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n").length == 3);
  CHECK(bad("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").status == 400);
}

}  // namespace troupe::test
