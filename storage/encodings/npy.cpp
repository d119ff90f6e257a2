#include "storage/encodings/npy.hpp"

namespace troupe {

namespace {

std::string_view type_descriptor(dtype type) {
  switch (type) {
    case dtype::float32: return "<f4";
    case dtype::float64: return "<f8";
    case dtype::int32: return "<i4";
    case dtype::int64: return "<i8";
    case dtype::boolean: return "|b1";
    case dtype::uint8: return "|u1";
  }
  return "";
}

}  // namespace

std::string npy_header(dtype type, const shape& dims) {
  std::string dict = "{'descr': '" + std::string{type_descriptor(type)} + "', 'fortran_order': False, 'shape': (";
  for (int64_t e : dims.extents())
    dict += std::to_string(e) + (dims.rank() == 1 ? "," : ", ");  // Python reads (3,) as a tuple, but (3) as a number.
  if (dims.rank() > 1)
    dict.resize(dict.size() - 2);
  dict += "), }";
  constexpr size_t before = 10, alignment = 64;
  dict.append((alignment - (before + dict.size() + 1) % alignment) % alignment, ' ');
  dict += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

}  // namespace troupe
