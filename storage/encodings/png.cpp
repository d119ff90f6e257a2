#include "storage/encodings/png.hpp"

#include <png.h>

#include <algorithm>

namespace troupe {

namespace {

/// libpng's simplified interface. It returns errors instead of calling longjmp.
struct image_state : png_image {
  image_state() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~image_state() { png_image_free(this); }
  image_state(const image_state&) = delete;
  image_state& operator=(const image_state&) = delete;
};

std::string size_text(const png_image& image) {
  return std::to_string(image.width) + " x " + std::to_string(image.height);
}

}  // namespace

expected<std::string> encode_png(const tensor& image) {
  const shape& dims = image.dims();
  const std::string what = "an image of " + std::string{to_string(image.type())} + to_text(dims);
  if (image.type() != dtype::uint8 || dims.rank() != 3 || (dims[2] != 1 && dims[2] != 3 && dims[2] != 4))
    return fail(errc::invalid_argument, what + " is none: it has to be uint8 [height, width, 1, 3 or 4]");
  constexpr int64_t extent_max = 1'000'000;  // The limit of libpng.
  if (dims[0] < 1 || dims[1] < 1 || dims[0] > extent_max || dims[1] > extent_max || image.byte_size() > png_bytes_max)
    return fail(errc::invalid_argument, what + " is too small or too large: it has 1 to " + std::to_string(extent_max)
                                            + " rows and columns and at most " + std::to_string(png_bytes_max)
                                            + " bytes");
  image_state state;
  state.height = static_cast<png_uint_32>(dims[0]);
  state.width = static_cast<png_uint_32>(dims[1]);
  state.format = dims[2] == 1 ? PNG_FORMAT_GRAY : dims[2] == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  state.flags = PNG_IMAGE_FLAG_FAST;  // Fast, since encoding runs during training.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(state);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&state, bytes.data(), &size, 0, image.data(), 0, nullptr))
    return fail(errc::resource_exhausted, what + " cannot be encoded: " + state.message);
  bytes.resize(size);
  return bytes;
}

bool is_png(std::string_view bytes) noexcept { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

expected<tensor> decode_png(std::string_view bytes) {
  image_state state;
  if (!png_image_begin_read_from_memory(&state, bytes.data(), bytes.size()))
    return fail(errc::data_loss, std::string{"a PNG image cannot be read: "} + state.message);
  const bool opacity = (state.format & PNG_FORMAT_FLAG_ALPHA) != 0,
             colour = (state.format & PNG_FORMAT_FLAG_COLOR) != 0;
  state.format = opacity ? PNG_FORMAT_RGBA : colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const shape dims{state.height, state.width, opacity ? 4 : colour ? 3 : 1};
  // An upper bound: deflate expands to at most 1032 : 1, a bit may become a byte, and a palette index 4 bytes.
  const int64_t most = std::min<int64_t>(png_bytes_max,
                                         std::min<int64_t>(std::ssize(bytes), png_bytes_max) * 1032 * 8 * 4);
  if (dims.elements() > most)
    return fail(errc::data_loss, "a PNG image says that it is " + size_text(state) + ", and in "
                                     + std::to_string(bytes.size()) + " bytes there is room for " + std::to_string(most)
                                     + " bytes of pixels");
  auto pixels = allocate_buffer(dims.elements());
  if (!pixels)
    return fail(errc::resource_exhausted, "no memory for a PNG image of " + size_text(state));
  if (!png_image_finish_read(&state, nullptr, pixels.get(), 0, nullptr))
    return fail(errc::data_loss, "a PNG image of " + size_text(state) + " cannot be read: " + state.message);
  return tensor{dtype::uint8, dims, std::move(pixels)};
}

}  // namespace troupe
