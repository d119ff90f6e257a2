#include "modules/http/coding.hpp"

#include <zlib.h>

#include <brotli/decode.h>

#include <algorithm>
#include <new>

namespace troupe {

namespace {

constexpr size_t piece_bytes = 16384;

class zlib_decoder final : public body_decoder {
 public:
  zlib_decoder() {
    constexpr int gzip_or_zlib = 32 + MAX_WBITS;
    if (inflateInit2(&state_, gzip_or_zlib) != Z_OK)
      throw std::bad_alloc{};
  }
  ~zlib_decoder() override { inflateEnd(&state_); }
  zlib_decoder(const zlib_decoder&) = delete;
  zlib_decoder& operator=(const zlib_decoder&) = delete;

  bool decode(std::string_view bytes, const std::function<bool(std::string_view)>& to) override {
    Bytef out[piece_bytes];
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state_.avail_in = static_cast<uInt>(bytes.size());
    for (bool full = true; full || state_.avail_in > 0;) {
      if (whole_)
        return state_.avail_in == 0;
      state_.next_out = out;
      state_.avail_out = piece_bytes;
      const int got = inflate(&state_, Z_NO_FLUSH);
      if (got == Z_MEM_ERROR)
        throw std::bad_alloc{};
      if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR)
        return false;
      whole_ = got == Z_STREAM_END;
      full = state_.avail_out == 0;
      if (full || state_.avail_out < piece_bytes)
        if (!to({reinterpret_cast<const char*>(out), piece_bytes - state_.avail_out}))
          return false;
    }
    return true;
  }
  bool whole() const override { return whole_; }

 private:
  z_stream state_{};
  bool whole_ = false;
};

class brotli_decoder final : public body_decoder {
 public:
  brotli_decoder() {
    if (!state_)
      throw std::bad_alloc{};
  }
  bool decode(std::string_view bytes, const std::function<bool(std::string_view)>& to) override {
    size_t left = bytes.size();
    const auto* next = reinterpret_cast<const uint8_t*>(bytes.data());
    for (;;) {
      if (whole())
        return left == 0;
      uint8_t out[piece_bytes];
      size_t room = piece_bytes;
      auto* at = out;
      const auto got = BrotliDecoderDecompressStream(state_.get(), &left, &next, &room, &at, nullptr);
      if (got == BROTLI_DECODER_RESULT_ERROR)
        return false;
      if (at != out && !to({reinterpret_cast<const char*>(out), static_cast<size_t>(at - out)}))
        return false;
      if (got == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
        return true;
    }
  }
  bool whole() const override { return BrotliDecoderIsFinished(state_.get()) != 0; }

 private:
  struct end {
    void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
  };
  std::unique_ptr<BrotliDecoderState, end> state_{BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)};
};

}  // namespace

std::unique_ptr<body_decoder> decoder_of(const std::string& coding) {
  if (coding == "gzip" || coding == "x-gzip" || coding == "deflate")
    return std::make_unique<zlib_decoder>();
  return coding == "br" ? std::make_unique<brotli_decoder>() : nullptr;
}

std::string gzipped(const std::string& text, size_t piece_bytes_max) {
  z_stream state{};
  constexpr int gzip = 16 + MAX_WBITS, memory_level = 8;
  if (deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, gzip, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string made(deflateBound(&state, text.size()), '\0');
  size_t given = 0, room = made.size();
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.next_out = reinterpret_cast<Bytef*>(made.data());
  int got = Z_OK;
  while (got == Z_OK) {
    if (state.avail_in == 0) {
      state.avail_in = static_cast<uInt>(std::min(text.size() - given, piece_bytes_max));
      given += state.avail_in;
    }
    if (state.avail_out == 0) {
      state.avail_out = static_cast<uInt>(std::min(room, piece_bytes_max));
      room -= state.avail_out;
    }
    got = deflate(&state, given == text.size() ? Z_FINISH : Z_NO_FLUSH);
  }
  made.resize(got == Z_STREAM_END ? state.total_out : 0);
  deflateEnd(&state);
  return made;
}

}  // namespace troupe
