#include "storage/events/tensor_message.hpp"

#include "storage/encodings/png.hpp"
#include "storage/encodings/utf8.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace troupe {

namespace {

using proto::TensorProto;

/// TensorFlow's numbers for element types.
enum tf_type : int32_t {
  tf_float = 1,
  tf_double = 2,
  tf_int32 = 3,
  tf_uint8 = 4,
  tf_int16 = 5,
  tf_int8 = 6,
  tf_string = 7,
  tf_complex64 = 8,
  tf_int64 = 9,
  tf_bool = 10,
  tf_bfloat16 = 14,
  tf_uint16 = 17,
  tf_complex128 = 18,
  tf_half = 19,
  tf_resource = 20,
  tf_variant = 21,
  tf_uint32 = 22,
  tf_uint64 = 23
};

// A limit, since otherwise a file of a few bytes could claim any amount of memory.
constexpr size_t left_out_max = size_t{1} << 20;

/// The names of the types that have no `dtype`.
std::string name_of(int32_t type) {
  switch (type) {
    case tf_complex64: return "complex64";
    case tf_complex128: return "complex128";
    case tf_resource: return "resource";
    case tf_variant: return "variant";
    case tf_uint64: return "uint64";
    default: return "type " + std::to_string(type);
  }
}

tl::unexpected<error> damaged_tensor(const std::string& tag, const std::string& what) {
  return fail(errc::data_loss, "the tensor \"" + tag + "\" " + what);
}

// -- shapes ------------------------------------------------------------------------

/// A shape of any rank as text: "[2, 3]".
std::string text_of(const proto::TensorShapeProto& dims) {
  return "[" + joined(dims.dim(), ", ", [](const auto& d) { return std::to_string(d.size()); }) + "]";
}

/// The extent of a stored tensor. `dims` is absent if it has too many axes, or more elements than any memory can hold.
struct stored_extent {
  int64_t count = 0;
  std::optional<shape> dims = {};
};

expected<stored_extent> extent_of(const std::string& tag, const proto::TensorShapeProto& dims) {
  constexpr int64_t most = int64_t{1} << 40;
  if (dims.unknown_rank())
    return damaged_tensor(tag, "has a shape of unknown rank");
  int64_t product = 1;  // Without the extents that are 0, which would hide an overflow of the others.
  bool none = false;
  std::vector<int64_t> extents;
  for (const auto& d : dims.dim()) {
    if (d.size() < 0)
      return damaged_tensor(tag, "has the shape " + text_of(dims) + ", which cannot be");
    extents.push_back(d.size());
    none = none || d.size() == 0;
    product = d.size() > 0 && product > most / d.size() ? most : product * std::max<int64_t>(d.size(), 1);
  }
  const bool possible = product < most && extents.size() <= static_cast<size_t>(shape::max_rank);
  return stored_extent{none ? 0 : product, possible ? std::optional{shape{extents}} : std::nullopt};
}

// -- numbers -----------------------------------------------------------------------

float float_of_half(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
  if (exponent == 0)
    return std::copysign(std::ldexp(static_cast<float>(fraction), -24), sign ? -1.0f : 1.0f);
  return std::bit_cast<float>(sign | (exponent == 0x1f ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13);
}
float float_of_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// The elements of a tensor. They are stored as `Stored` in `tensor_content`, or else in `field`; `convert` makes our
/// element from each `Stored`.
template <class Stored, class Field, class Convert>
expected<tensor> numbers_of(const std::string& tag, const TensorProto& from, const shape& dims, const Field& field,
                            Convert convert) {
  using ours = decltype(convert(Stored{}));
  const auto count = static_cast<size_t>(dims.elements()), given = static_cast<size_t>(field.size());
  const std::string& bytes = from.tensor_content();
  if (!bytes.empty() && bytes.size() != count * sizeof(Stored))
    return damaged_tensor(tag, "has " + std::to_string(bytes.size()) + " bytes, and its shape " + to_text(dims)
                                   + " takes " + std::to_string(count * sizeof(Stored)));
  if (given > count)
    return damaged_tensor(tag, "has " + std::to_string(given) + " values, and its shape " + to_text(dims) + " takes "
                                   + std::to_string(count));
  if (bytes.empty() && count - given > left_out_max)
    return damaged_tensor(tag, "leaves out " + std::to_string(count - given) + " values of its shape " + to_text(dims)
                                   + ", and at most " + std::to_string(left_out_max) + " are believed");
  auto buffer = allocate_buffer(std::max<int64_t>(1, dims.elements() * static_cast<int64_t>(sizeof(ours))));
  if (!buffer)
    return fail(errc::resource_exhausted, "no memory for the tensor \"" + tag + "\" of shape " + to_text(dims));
  auto* const values = reinterpret_cast<ours*>(buffer.get());
  for (size_t i = 0; i < count; ++i) {
    Stored one{};
    if (!bytes.empty())
      std::memcpy(&one, bytes.data() + i * sizeof one, sizeof one);
    else if (given > 0)
      one = static_cast<Stored>(field[static_cast<int>(std::min(i, given - 1))]);
    values[i] = convert(one);
  }
  return tensor{dtype_of<ours>::value, dims, std::move(buffer)};
}

constexpr auto as_it_is = [](auto x) { return x; };
constexpr auto as_int32 = [](auto x) { return static_cast<int32_t>(x); };

/// The numbers of a tensor; absent if their type has no `dtype`.
expected<std::optional<tensor>> read_numbers(const std::string& tag, const TensorProto& from, const shape& dims) {
  const auto kept = [](expected<tensor> made) {
    return made ? expected<std::optional<tensor>>{std::move(*made)} : fail(std::move(made.error()));
  };
  switch (from.dtype()) {
    case tf_float: return kept(numbers_of<float>(tag, from, dims, from.float_val(), as_it_is));
    case tf_double: return kept(numbers_of<double>(tag, from, dims, from.double_val(), as_it_is));
    case tf_int32: return kept(numbers_of<int32_t>(tag, from, dims, from.int_val(), as_it_is));
    case tf_uint8: return kept(numbers_of<uint8_t>(tag, from, dims, from.int_val(), as_it_is));
    case tf_int16: return kept(numbers_of<int16_t>(tag, from, dims, from.int_val(), as_int32));
    case tf_int8: return kept(numbers_of<int8_t>(tag, from, dims, from.int_val(), as_int32));
    case tf_uint16: return kept(numbers_of<uint16_t>(tag, from, dims, from.int_val(), as_int32));
    case tf_int64: return kept(numbers_of<int64_t>(tag, from, dims, from.int64_val(), as_it_is));
    case tf_uint32:
      return kept(
          numbers_of<uint32_t>(tag, from, dims, from.uint32_val(), [](uint32_t x) { return static_cast<int64_t>(x); }));
    case tf_bool: return kept(numbers_of<uint8_t>(tag, from, dims, from.bool_val(), [](uint8_t x) { return x != 0; }));
    case tf_half: return kept(numbers_of<uint16_t>(tag, from, dims, from.half_val(), float_of_half));
    case tf_bfloat16: return kept(numbers_of<uint16_t>(tag, from, dims, from.half_val(), float_of_bfloat16));
    default: return std::nullopt;
  }
}

double number_in(const tensor& t) {
  switch (t.type()) {
    case dtype::float32: return static_cast<double>(t.as<float>()[0]);
    case dtype::float64: return t.as<double>()[0];
    case dtype::int32: return t.as<int32_t>()[0];
    case dtype::int64: return static_cast<double>(t.as<int64_t>()[0]);
    case dtype::boolean: return t.as<bool>()[0] ? 1 : 0;
    case dtype::uint8: return t.as<uint8_t>()[0];
  }
  return 0;
}

/// Converts TensorFlow 2's rows of (left edge, right edge, count) to a histogram.
template <class T>
histogram histogram_of(std::span<const T> rows) {
  constexpr double unsaid = std::numeric_limits<double>::quiet_NaN();
  histogram h{.sum = unsaid, .sum_of_squares = unsaid};
  for (size_t i = 0; i + 2 < rows.size(); i += 3) {
    h.limits.push_back(static_cast<double>(rows[i + 1]));
    h.counts.push_back(static_cast<double>(rows[i + 2]));
    h.count += h.counts.back();
  }
  h.least = rows.empty() ? 0 : static_cast<double>(rows[0]);
  h.greatest = rows.empty() ? 0 : h.limits.back();
  return h;
}

expected<void> read_real(const std::string& tag, const std::string& plugin, const TensorProto& from, const shape& dims,
                         read_values& into) {
  auto numbers = read_numbers(tag, from, dims);
  if (!numbers)
    return fail(std::move(numbers.error()));
  if (!*numbers) {
    into.others.push_back(opaque(tag, plugin, name_of(from.dtype()) + to_text(dims)));
    return {};
  }
  const auto& x = **numbers;
  const bool real = x.type() == dtype::float32 || x.type() == dtype::float64;
  if (x.elements() == 1 && (plugin == "scalars" || dims.rank() == 0)) {
    into.summaries.push_back({.tag = tag, .scalar = number_in(x)});
  } else if (plugin == "histograms" && dims.rank() == 2 && dims[1] == 3 && real) {
    into.summaries.push_back(
        {.what = summary_value::kind::histogram,
         .tag = tag,
         .histogram = x.type() == dtype::float32 ? histogram_of(x.as<float>()) : histogram_of(x.as<double>())});
  } else {
    into.others.push_back({.as = event_value::form::tensor, .tag = tag, .plugin = plugin, .numbers = x});
  }
  return {};
}

// -- strings -----------------------------------------------------------------------

/// Reads the strings of an image summary: width, height, then any number of encoded images.
expected<void> read_images(const std::string& tag, const std::string& plugin, const TensorProto& from,
                           read_values& into) {
  const auto& strings = from.string_val();
  const std::string pixels = as_utf8(strings[0]) + " x " + as_utf8(strings[1]);
  if (strings.size() == 2)
    into.others.push_back(opaque(tag, plugin, "no image of " + pixels));
  for (int i = 2; i < strings.size(); ++i)
    if (auto read = read_image(tag, plugin, strings[i], pixels, into); !read)
      return read;
  return {};
}

expected<void> read_strings(const std::string& tag, const std::string& plugin, const TensorProto& from, int64_t count,
                            const std::optional<shape>& dims, read_values& into) {
  const auto& strings = from.string_val();
  if (strings.size() > count)
    return damaged_tensor(tag, "has " + std::to_string(strings.size()) + " strings, and its shape "
                                   + text_of(from.tensor_shape()) + " takes " + std::to_string(count));
  if (plugin == "images" && count >= 2 && strings.size() == count)
    return read_images(tag, plugin, from, into);
  int64_t bytes = 0;
  for (const auto& s : strings)
    bytes += std::ssize(s);
  const bool is_text = std::all_of(strings.begin(), strings.end(), [](const std::string& s) { return is_utf8(s); });
  if (!is_text && plugin == "text")
    return fail(errc::data_loss, "the text \"" + tag + "\" is not UTF-8");
  const size_t left_out = static_cast<size_t>(count - strings.size()),
               repeated = strings.empty() ? 0 : strings[strings.size() - 1].size();
  if (!is_text || !dims || plugin == "audio" || left_out > left_out_max / (repeated + 1)) {
    const std::string what = plugin == "audio" ? "sounds" : "string";
    into.others.push_back(
        opaque(tag, plugin, what + text_of(from.tensor_shape()) + " of " + std::to_string(bytes) + " bytes"));
    return {};
  }
  std::vector<std::string> all{strings.begin(), strings.end()};
  all.resize(static_cast<size_t>(count), all.empty() ? std::string{} : all.back());
  if (all.size() == 1 && dims->rank() <= 1)
    into.summaries.push_back({.what = summary_value::kind::text, .tag = tag, .text = std::move(all.front())});
  else
    into.others.push_back(
        {.as = event_value::form::texts, .tag = tag, .plugin = plugin, .texts = std::move(all), .dims = *dims});
  return {};
}

}  // namespace

event_value opaque(const std::string& tag, const std::string& plugin, std::string what) {
  return {.as = event_value::form::opaque, .tag = tag, .plugin = plugin, .text = std::move(what)};
}

expected<void> read_image(const std::string& tag, const std::string& plugin, const std::string& encoded,
                          const std::string& pixels, read_values& into) {
  if (!is_png(encoded)) {
    const std::string_view bytes = encoded;
    const std::string encoding = bytes.starts_with("\xff\xd8\xff") ? "a JPEG"
                                 : bytes.starts_with("GIF8")       ? "a GIF"
                                 : bytes.starts_with("BM")         ? "a BMP"
                                 : bytes.starts_with("RIFF")       ? "a WebP"
                                                                   : "an unknown";
    into.others.push_back(
        opaque(tag, plugin, encoding + " image of " + pixels + ", " + std::to_string(encoded.size()) + " bytes"));
    return {};
  }
  auto decoded = decode_png(encoded);
  if (!decoded)
    return fail(decoded.error().category, "the image \"" + tag + "\": " + decoded.error().message);
  into.summaries.push_back({.what = summary_value::kind::image, .tag = tag, .image = std::move(*decoded)});
  return {};
}

expected<void> read_tensor(const std::string& tag, const std::string& plugin, const TensorProto& from,
                           read_values& into) {
  const auto all = extent_of(tag, from.tensor_shape());
  if (!all)
    return fail(all.error());
  if (from.dtype() == tf_string)
    return read_strings(tag, plugin, from, all->count, all->dims, into);
  if (all->dims)
    return read_real(tag, plugin, from, *all->dims, into);
  into.others.push_back(opaque(tag, plugin, "a tensor of the shape " + text_of(from.tensor_shape())));
  return {};
}

void write_tensor(const tensor& numbers, TensorProto& into) {
  static constexpr std::pair<dtype, tf_type> types[] = {{dtype::float32, tf_float}, {dtype::float64, tf_double},
                                                        {dtype::int32, tf_int32},   {dtype::int64, tf_int64},
                                                        {dtype::boolean, tf_bool},  {dtype::uint8, tf_uint8}};
  for (const auto& [ours, theirs] : types)
    if (ours == numbers.type())
      into.set_dtype(theirs);
  auto& dims = *into.mutable_tensor_shape();
  for (const int64_t size : numbers.dims().extents())
    dims.add_dim()->set_size(size);
  into.set_tensor_content(numbers.data(), static_cast<size_t>(numbers.byte_size()));
}

}  // namespace troupe
