#include "storage/encodings/element_types.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

namespace {

constexpr element_type all[] = {
    {"float32", 1, "F32", 4, dtype::float32},
    {"float64", 2, "F64", 8, dtype::float64},
    {"int32", 3, "I32", 4, dtype::int32},
    {"uint8", 4, "U8", 1, dtype::uint8},
    {"int16", 5, "I16", 2},
    {"int8", 6, "I8", 1},
    {"string", 7, "", 0},
    {"complex64", 8, "C64", 8},
    {"int64", 9, "I64", 8, dtype::int64},
    {"boolean", 10, "BOOL", 1, dtype::boolean},
    {"qint8", 11, "", 1},
    {"quint8", 12, "", 1},
    {"qint32", 13, "", 4},
    {"bfloat16", 14, "BF16", 2},
    {"qint16", 15, "", 2},
    {"quint16", 16, "", 2},
    {"uint16", 17, "U16", 2},
    {"complex128", 18, "", 16},
    {"float16", 19, "F16", 2},
    {"resource", 20, "", 0},
    {"variant", 21, "", 0},
    {"uint32", 22, "U32", 4},
    {"uint64", 23, "U64", 8},
    {"float8_e5m2", 24, "F8_E5M2", 1},
    {"float8_e4m3fn", 25, "F8_E4M3", 1},
};

template <class Holds>
const element_type* find(Holds holds) noexcept {
  const auto found = std::find_if(std::begin(all), std::end(all), holds);
  return found == std::end(all) ? nullptr : found;
}

}  // namespace

const element_type* element_type_of_tensorflow(int32_t number) noexcept {
  return find([number](const element_type& t) { return t.tensorflow == number; });
}

const element_type* element_type_of_safetensors(std::string_view name) noexcept {
  return name.empty() ? nullptr : find([name](const element_type& t) { return t.safetensors == name; });
}

const element_type& element_type_of(dtype type) noexcept {
  return *find([type](const element_type& t) { return t.ours == type; });
}

}  // namespace troupe
