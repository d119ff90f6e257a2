#include "storage/encodings/npy.hpp"

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE(
    "a npy header is the magic, version 1.0, and a dict with dtype and shape that ends on a multiple of 64 bytes") {
  for (const auto& [type, dims, dict] :
       {std::tuple{dtype::float32, shape{3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"},
        {dtype::int64, shape{10, 4}, "{'descr': '<i8', 'fortran_order': False, 'shape': (10, 4), }"},
        {dtype::boolean, shape{}, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }"},
        {dtype::uint8, shape{1, 2, 3, 4, 5, 6, 7, 8},
         "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3, 4, 5, 6, 7, 8), }"}}) {
    const auto header = npy_header(type, dims);
    CAPTURE(dict);
    CHECK(header.size() % 64 == 0);
    CHECK(header.substr(0, 8) == std::string{"\x93NUMPY\x01\0", 8});
    CHECK(static_cast<size_t>(static_cast<unsigned char>(header[8]))
              + 256 * static_cast<size_t>(static_cast<unsigned char>(header[9]))
          == header.size() - 10);
    CHECK(header.substr(10).starts_with(dict));
    CHECK(header.find_first_not_of(' ', 10 + std::string{dict}.size()) == header.size() - 1);
    CHECK(header.back() == '\n');
  }
}

}  // namespace troupe
