#include "storage/encodings/snappy.hpp"

#include "storage/encodings/varint.hpp"

namespace troupe {

namespace {

// An upper bound: a copy of 3 bytes yields 64 bytes; a short one of 2 bytes yields 11.
constexpr uint64_t growth_max = 32;

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
  size_t distance = 0;  ///< For a copy: how far back its source begins.
};

/// The two low bits of a tag give the kind of element. The other bits are its length or a part of the distance.
std::optional<element> take_element(std::string_view& from) {
  const auto tag = static_cast<unsigned char>(from.front());
  from.remove_prefix(1);
  const size_t high = tag >> 2;
  std::optional<size_t> number;
  switch (tag & 3) {
    case 0:  // A literal. Lengths up to 60 are in the tag; longer ones take 1 to 4 more bytes.
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
    if (!e || e->length > *length - out.size()
        || (e->literal ? e->length > bytes.size() : e->distance == 0 || e->distance > out.size()))
      return {};
    if (e->literal) {
      out.append(bytes.substr(0, e->length));
      bytes.remove_prefix(e->length);
    } else {
      // Byte by byte, since the source may overlap the bytes that are being written.
      for (size_t i = 0; i < e->length; ++i)
        out.push_back(out[out.size() - e->distance]);
    }
  }
  return out.size() == *length ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace troupe
