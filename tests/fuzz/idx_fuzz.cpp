#include "storage/encodings/idx.hpp"
#include "tests/fuzz/target.hpp"

#include <zlib.h>

namespace troupe::fuzz {

namespace {

std::string gzip(std::string bytes) {
  z_stream stream{};
  require(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  std::string out(bytes.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib ends");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string images = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x02", 16) + "abcdefghijkl";
  return {images, gzip(images), std::string("\0\0\x08\x01\0\0\0\x01x", 9)};
}

void run(std::string_view input) {
  const auto t = read_idx(*holding(input), "f");
  if (!t || input.starts_with("\x1f\x8b"))
    return;
  require(4 + 4 * t->dims().rank() + t->byte_size() == std::ssize(input), "an IDX file is its header and its elements");
}

}  // namespace troupe::fuzz
