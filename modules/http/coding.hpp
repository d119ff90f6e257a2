// Bodies that are compressed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// Decompresses a body as it comes.
class body_decoder {
 public:
  virtual ~body_decoder() = default;
  /// Hands on what the bytes say, in pieces, until `to` answers false. False then, and where the bytes are not of this coding, or follow
  /// its end.
  virtual bool decode(std::string_view bytes, const std::function<bool(std::string_view)>& to) = 0;
  virtual bool whole() const = 0;
};

/// Of "gzip", "deflate" and "br"; null for others.
std::unique_ptr<body_decoder> decoder_of(const std::string& coding);

/// Empty where there is no memory for it.
std::string gzipped(const std::string& text);

}  // namespace troupe
