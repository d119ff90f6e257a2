// A body in chunks (RFC 9112, 7.1), as it comes. Pure.
#pragma once

#include "modules/http/request_head.hpp"

namespace troupe {

/// Takes the body's bytes in pieces of any size. Sizes are plain hexadecimal, without extensions, which nobody sends and proxies read in
/// different ways; trailers are read and dropped.
class chunked_body {
 public:
  struct piece {
    size_t taken = 0;              ///< Bytes of the body, from the first on; what follows is not looked at.
    std::string_view data = {};    ///< Of them, those of a chunk.
  };
  /// The next piece of `bytes`, which begin where the last one ended: until all of them are taken, or the body is `whole`.
  or_refusal<piece> take(std::string_view bytes);
  bool whole() const { return at_ == place::end; }

 private:
  enum class place : uint8_t { size, size_end, data, data_return, data_end, trailer, end };
  or_refusal<void> take_control(char c);

  place at_ = place::size;
  size_t digits_ = 0;              ///< Of the size that is being read.
  uint64_t left_ = 0;              ///< Of the chunk.
  std::string trailer_ = {};       ///< The line that is being read.
  size_t trailer_bytes_ = 0;
};

}  // namespace troupe
