#include "storage/encodings/snappy.hpp"

#include "storage/encodings/varint.hpp"

namespace troupe {

namespace {

constexpr uint64_t growth_max = 32;  // A copy takes 3 bytes and yields 64; a shorter one takes 2 and yields 11.

/// A little-endian number of `width` bytes.
std::optional<size_t> take_number(std::string_view& from, size_t width) {
  if (from.size() < width)
    return {};
  size_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= static_cast<size_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  from.remove_prefix(width);
  return value;
}

struct element {
  bool literal = false;
  size_t length = 0;
  size_t distance = 0;  ///< Of a copy: how far back its bytes begin.
};

/// The two low bits of a tag say what follows; the others are a length, or a part of the distance.
std::optional<element> take_element(std::string_view& from) {
  const auto tag = static_cast<unsigned char>(from.front());
  from.remove_prefix(1);
  const size_t high = tag >> 2;
  std::optional<size_t> number;
  switch (tag & 3) {
    case 0:  // Up to 60 bytes; above, the length takes 1 to 4 bytes of its own.
      number = high < 60 ? std::optional{high} : take_number(from, high - 59);
      return number ? std::optional{element{true, *number + 1, 0}} : std::nullopt;
    case 1:
      number = take_number(from, 1);
      return number ? std::optional{element{false, 4 + (high & 7), (high >> 3) << 8 | *number}} : std::nullopt;
    default:
      number = take_number(from, (tag & 3) == 2 ? 2 : 4);
      return number ? std::optional{element{false, high + 1, *number}} : std::nullopt;
  }
}

}  // namespace

std::optional<std::string> snappy_decompressed(std::string_view bytes) {
  const uint64_t limit = growth_max * bytes.size();
  const auto length = take_varint(bytes);
  if (!length || *length > limit)
    return {};
  std::string out;
  out.reserve(*length);
  while (!bytes.empty()) {
    const auto e = take_element(bytes);
    if (!e || e->length > *length - out.size() || (e->literal ? e->length > bytes.size() : e->distance == 0 || e->distance > out.size()))
      return {};
    if (e->literal) {
      out.append(bytes.substr(0, e->length));
      bytes.remove_prefix(e->length);
    } else {
      for (size_t i = 0; i < e->length; ++i)  // Byte by byte: a copy may reach into what it writes.
        out.push_back(out[out.size() - e->distance]);
    }
  }
  return out.size() == *length ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace troupe
