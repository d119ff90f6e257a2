// The head of a request, first line and headers, read as strictly as RFC 9112 allows: where a proxy and this server could read the same bytes
// as two different requests, there is none. Pure; a fuzz target and a proxy's test stand on it.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Why bytes are no request that can be answered. The connection ends with the answer: where the next request begins is not known.
struct refusal {
  int status = 400;
  std::string reason = {};
};
template <class T>
using or_refusal = tl::expected<T, refusal>;

struct request_head {
  enum class framing : uint8_t { none, length, chunks };

  std::string method;                      ///< "GET"; any other token as well.
  std::string path;                        ///< Decoded, without the query.
  framing body = framing::none;
  uint64_t length = 0;                     ///< Of the body, where that is its framing.
  std::string coding = {};                 ///< Of the body, in small letters: "gzip"; empty: none.
  bool closes = false;                     ///< The client sends no other request after this one.
  bool waits = false;                      ///< For "100 Continue", before it sends the body.
  bool takes_gzip = false;                 ///< As the coding of the answer.

  bool has_body() const { return body == framing::chunks || length > 0; }
};

inline constexpr size_t first_line_bytes_max = 8192, head_bytes_max = 32768;

/// Looks for the end of a head in bytes that come in pieces, each of which it looks at once.
class head_search {
 public:
  /// `bytes` begin where the request does, and have those of the last call before new ones. The number of bytes that the head takes, with the
  /// empty line; 0 while that has not come. 400: a byte that no head has, or a line that does not end in CRLF; 414, 431: too long.
  or_refusal<size_t> look(std::string_view bytes);

 private:
  size_t seen_ = 0, line_ = 0, first_line_ = 0;
};

/// `bytes` end with the empty line, as `head_search` finds it. 400, 417, 505.
or_refusal<request_head> read_head(std::string_view bytes);

/// "name: value", without its end. Trailers of a body in chunks are such lines.
bool is_header(std::string_view line);

}  // namespace troupe
