#include "modules/http/chunked_body.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/modules/http/hostile_requests.hpp"

#include <algorithm>

namespace troupe::fuzz {

namespace {

struct read_request {
  std::string bytes;  ///< The bytes of its head.
  request_head head;
  std::string body;
  friend bool operator==(const read_request& a, const read_request& b) {
    return a.bytes == b.bytes && a.head.method == b.head.method && a.head.path == b.head.path
           && a.head.length == b.head.length && a.body == b.body;
  }
};

/// Reads a connection as the server does, in pieces of `piece` bytes. Stops at a request that is refused or incomplete.
std::vector<read_request> read(std::string_view input, size_t piece) {
  std::vector<read_request> all;
  for (auto rest = input;;) {
    head_search search;
    or_refusal<size_t> size = 0;
    for (size_t came = 0; came < rest.size() && size && *size == 0;) {
      came = std::min(rest.size(), came + piece);
      size = search.look(rest.substr(0, came));
    }
    if (!size || *size == 0)
      return all;
    auto head = read_head(rest.substr(0, *size));
    if (!head)
      return all;
    read_request request{std::string{rest.substr(0, *size)}, std::move(*head), {}};
    size_t at = *size;
    if (request.head.body == request_head::framing::length) {
      if (request.head.length > rest.size() - at)
        return all;
      request.body = rest.substr(at, request.head.length);
      at += request.head.length;
    } else if (request.head.body == request_head::framing::chunks) {
      chunked_body body;
      while (!body.whole() && at < rest.size()) {
        const auto part = body.take(rest.substr(at, piece));
        if (!part)
          return all;
        request.body += part->data;
        at += part->taken;
      }
      if (!body.whole())
        return all;
    }
    rest.remove_prefix(at);
    all.push_back(std::move(request));
  }
}

std::string small(std::string_view text) {
  std::string made{text};
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++n;
  return n;
}

/// Checks that a less strict reader would understand the same.
void check_head(const request_head& head, const std::string& bytes) {
  const auto lines = small(bytes);
  require(count(lines, "\nhost:") == 1 || (count(lines, "\nhost:") == 0 && head.closes), "there is one host");
  require(count(lines, "\ncontent-length:") + count(lines, "\ntransfer-encoding:")
              == (head.body == request_head::framing::none ? 0 : 1),
          "there is one framing");
  require(count(bytes, "\n") == count(bytes, "\r\n") && count(bytes, "\r") == count(bytes, "\n"),
          "every line ends in CRLF");
  require(count(bytes, "\n ") + count(bytes, "\n\t") == 0, "no header is folded");
  require(head.path.starts_with('/') || head.path == "*", "a path begins with /");
  for (const char c : head.path)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a path has no control characters");
}

std::string with_body(const std::string& headers, const std::string& body) {
  return "POST /a HTTP/1.1\r\nHost: t\r\n" + headers + "\r\n" + body;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string get = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
  std::vector<std::string> all{
      get,
      "OPTIONS * HTTP/1.0\r\n\r\n",
      with_body("Content-Length: 3\r\n", "abc" + get),
      with_body("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nX: y\r\n\r\n" + get),
      with_body(
          "Expect: 100-continue\r\nContent-Encoding: gzip\r\nAccept-Encoding: br;q=1, gzip\r\nConnection: close\r\n",
          ""),
      nested(get, "", "")};
  for (const auto& hostile : test::hostile_requests("/a", with_body("Content-Length: 1\r\n", "b")))
    all.push_back(hostile.bytes);
  return all;
}

void run(std::string_view input) {
  const auto whole = read(input, input.size());
  for (const size_t piece : {1, 7})
    require(read(input, piece) == whole, "a request does not depend on the pieces in which it comes");
  for (const auto& r : whole) {
    check_head(r.head, r.bytes);
    // A request written from what was understood must be read as the same.
    const std::string again = r.head.method + " " + (r.head.path == "*" ? "*" : "/")
                              + " HTTP/1.1\r\nHost:\r\nContent-Length: " + std::to_string(r.body.size()) + "\r\n\r\n"
                              + r.body;
    const auto same = read(again, again.size());
    require(same.size() == 1 && same[0].head.method == r.head.method && same[0].body == r.body,
            "what was read can be written");
  }
}

}  // namespace troupe::fuzz
