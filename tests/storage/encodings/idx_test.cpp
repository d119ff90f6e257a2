#include "storage/encodings/idx.hpp"

#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <zlib.h>

namespace troupe {

namespace {

const std::string images = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x02", 16) + "abcdefghijkl";

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(bytes.size() + 200, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

expected<tensor> read(std::string_view bytes) {
  auto fs = memory_file_system();
  REQUIRE(write_file_atomically(*fs, "", "f", bytes));
  return read_idx(*fs, "f");
}

void refused(std::string_view bytes, errc category, std::string_view names) {
  const auto result = read(bytes);
  REQUIRE_FALSE(result);
  CHECK_MESSAGE(result.error().category == category, to_text(result.error()));
  CHECK(has(result.error().message, names));
  CHECK(result.error().message.starts_with("f"));
}

}  // namespace

TEST_CASE("an IDX file is read plain or compressed, at any rank from 1 to 4") {
  for (const auto& bytes : {images, gzip(images)}) {
    const auto t = read(bytes);
    REQUIRE_MESSAGE(t, (t ? "" : to_text(t.error())));
    CHECK(t->type() == dtype::uint8);
    CHECK(t->dims() == shape{2, 3, 2});
    CHECK(std::string(reinterpret_cast<const char*>(t->data()), 12) == "abcdefghijkl");
  }
  CHECK(read(std::string("\0\0\x08\x01\0\0\0\x01x", 9))->dims() == shape{1});
  CHECK(read(std::string("\0\0\x08\x04\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01x", 21))->dims() == shape{1, 1, 1, 1});
  CHECK(read(std::string("\0\0\x08\x01\0\0\0\0", 8))->dims() == shape{0});
}

TEST_CASE("the installed Fashion-MNIST is read whole") {
  const std::string directory = "/usr/share/datasets/fashion-mnist";
  auto fs = posix_file_system();
  if (!fs->info(directory))
    return;
  const auto pixels = read_idx(*fs, directory + "/t10k-images-idx3-ubyte.gz");
  REQUIRE(pixels);
  CHECK(pixels->dims() == shape{10000, 28, 28});
  const auto labels = read_idx(*fs, directory + "/t10k-labels-idx1-ubyte.gz");
  REQUIRE(labels);
  CHECK(labels->dims() == shape{10000});
  CHECK(*std::max_element(labels->as<uint8_t>().begin(), labels->as<uint8_t>().end()) == 9);
}

TEST_CASE("a missing IDX file is not_found") {
  CHECK(read_idx(*memory_file_system(), "gone").error().category == errc::not_found);
}

TEST_CASE("an IDX file cut off at any length is data_loss with what was wanted and found, plain or compressed") {
  for (size_t length = 0; length < images.size(); ++length) {
    CAPTURE(length);
    refused(images.substr(0, length), errc::data_loss, length < 16 ? "wanted" : "cut off");
  }
  const auto compressed = gzip(images);
  for (size_t length = 0; length < compressed.size(); ++length) {
    CAPTURE(length);
    refused(compressed.substr(0, length), errc::data_loss, "offset");
  }
  refused(gzip(images.substr(0, 20)), errc::data_loss, "wanted 12 bytes, found 4");
}

TEST_CASE("a gzip stream with any byte flipped never gives other elements") {
  const auto compressed = gzip(images);
  const auto whole = read(images);
  for (size_t at = 0; at < compressed.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto bytes = compressed;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const auto t = read(bytes);
      CAPTURE(at);
      CHECK((!t || *t == *whole));  // Time stamps and the last bits of a block hold no data.
    }
}

TEST_CASE("wrong magic, other element types, other ranks and trailing bytes are told apart") {
  refused(std::string("\1\0\x08\x01\0\0\0\x01x", 9), errc::data_loss, "0x01000801");
  refused("not an IDX file", errc::data_loss, "magic number at offset 0");
  refused(std::string("\0\0\x07\x01\0\0\0\x01x", 9), errc::data_loss, "magic number");
  refused(std::string("\0\0\x08\0", 4), errc::data_loss, "magic number");
  refused(std::string("\0\0\x0d\x01\0\0\0\x01xxxx", 12), errc::data_loss, "element type at offset 2 is 0x0d");
  refused(std::string("\0\0\x08\x05", 4) + std::string(21, '\1'), errc::data_loss, "rank at offset 3 is 5");
  refused(images + "x", errc::data_loss, "offset 28");
  refused(gzip(images + "x"), errc::data_loss, "offset 28");
  refused(gzip(images) + "x", errc::data_loss, "1 bytes follow");
}

TEST_CASE("sizes that the file cannot have are refused before anything is allocated") {
  const std::string absurd = std::string("\0\0\x08\x04", 4) + std::string(16, '\x7f');
  refused(absurd, errc::data_loss, "cut off");
  const std::string terabyte("\0\0\x08\x02\0\x10\0\0\0\x10\0\0", 12);
  refused(terabyte, errc::data_loss, "wanted [1048576, 1048576] bytes");
  refused(gzip(terabyte), errc::data_loss, "wanted [1048576, 1048576] bytes");
}

}  // namespace troupe
