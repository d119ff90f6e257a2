// The head of a request, its first line and headers, read as strictly as RFC 9112 allows: bytes that a proxy and this
// server could read as two different requests are refused. No input or output, so that a fuzz target can call it.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Why a request is refused. The connection ends after the response, because the start of the next request is unknown.
struct refusal {
  int status = 400;
  std::string reason = {};
};
template <class T>
using or_refusal = tl::expected<T, refusal>;

struct request_head {
  enum class framing : uint8_t { none, length, chunks };

  std::string method;  ///< "GET", or any other token.
  std::string path;    ///< Decoded, without the query.
  framing body = framing::none;
  uint64_t length = 0;      ///< The length of the body if `body` is `length`.
  std::string coding = {};  ///< The body's compression, in small letters: "gzip"; empty if none.
  bool closes = false;      ///< The connection ends after this request.
  bool waits = false;       ///< The client waits for "100 Continue" before it sends the body.
  bool takes_gzip = false;  ///< The response may be compressed with gzip.

  bool has_body() const { return body == framing::chunks || length > 0; }
};

inline constexpr size_t first_line_bytes_max = 8192, head_bytes_max = 32768;

/// Finds the end of a head in bytes that arrive in pieces. Reads each byte once.
class head_search {
 public:
  /// `bytes` start at the begin of the request and contain all bytes of earlier calls. Returns the size of the head
  /// with its empty line, or 0 while that is incomplete. 400: a byte that no head may have, or a line that does not end
  /// in CRLF; 414, 431: too long.
  or_refusal<size_t> look(std::string_view bytes);

 private:
  size_t seen_ = 0, line_ = 0, first_line_ = 0;
};

/// Parses a head that ends with the empty line, as `head_search` finds it. Refuses with 400, 417 or 505.
or_refusal<request_head> read_head(std::string_view bytes);

/// Whether the line is "name: value". It comes without its CRLF. The trailers of a body in chunks are such lines too.
bool is_header(std::string_view line);

}  // namespace troupe
