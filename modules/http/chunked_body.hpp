// Decodes a body in chunks (RFC 9112, 7.1) while it arrives. No input or output.
#pragma once

#include "modules/http/request_head.hpp"

namespace troupe {

/// Takes the body's bytes in pieces of any size. Chunk sizes must be plain hexadecimal: extensions are refused, because
/// nobody sends them and proxies disagree about them. Trailers are read and dropped.
class chunked_body {
 public:
  struct piece {
    size_t taken = 0;            ///< The number of bytes taken; the bytes after them are not read.
    std::string_view data = {};  ///< Those of the bytes taken that are content of a chunk.
  };
  /// Reads `bytes`, which continue those taken before. Stops after the next piece of data, at the end of `bytes`, or at
  /// the end of the body. Call it again with the rest until all bytes are taken or the body is `whole`.
  or_refusal<piece> take(std::string_view bytes);
  bool whole() const { return at_ == place::end; }

 private:
  enum class place : uint8_t { size, size_end, data, data_return, data_end, trailer, end };
  or_refusal<void> take_control(char c);

  place at_ = place::size;
  size_t digits_ = 0;         ///< Digits read of the current chunk size.
  uint64_t left_ = 0;         ///< Bytes left of the current chunk.
  std::string trailer_ = {};  ///< The trailer line that is being read.
  size_t trailer_bytes_ = 0;
};

}  // namespace troupe
