// Compression and decompression of bodies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// Decompresses a body while it arrives.
class body_decoder {
 public:
  virtual ~body_decoder() = default;
  /// Passes the decompressed bytes in pieces to `to`, until that returns false. Returns false then, and if the bytes
  /// are not valid in this coding or follow its end.
  virtual bool decode(std::string_view bytes, const std::function<bool(std::string_view)>& to) = 0;
  virtual bool whole() const = 0;
};

/// The decoder for "gzip", "deflate" or "br"; null for any other coding.
std::unique_ptr<body_decoder> decoder_of(const std::string& coding);

/// Returns an empty string if there is no memory. zlib counts a piece of the text or of the result in 32 bits, so that
/// both are handed over in pieces of at most `piece_bytes_max`; tests take small ones.
std::string gzipped(const std::string& text, size_t piece_bytes_max = UINT32_MAX);

}  // namespace troupe
