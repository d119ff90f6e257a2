#include "modules/http/chunked_body.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr size_t size_digits_max = 15, trailer_bytes_max = 8192;

tl::unexpected<refusal> refuse(const char* reason) { return tl::unexpected{refusal{400, reason}}; }

int value_of_hex(char c) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  const size_t at = digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at < 16 ? at : at - 6);
}

}  // namespace

or_refusal<chunked_body::piece> chunked_body::take(std::string_view bytes) {
  size_t taken = 0;
  while (taken < bytes.size() && at_ != place::end) {
    if (at_ == place::data) {
      const auto data = bytes.substr(taken, left_);
      left_ -= data.size();
      if (left_ == 0)
        at_ = place::data_return;
      return piece{taken + data.size(), data};
    }
    if (auto right = take_control(bytes[taken++]); !right)
      return tl::unexpected{std::move(right.error())};
  }
  return piece{taken, {}};
}

or_refusal<void> chunked_body::take_control(char c) {
  switch (at_) {
    case place::size:
      if (const int value = value_of_hex(c); value >= 0) {
        if (++digits_ > size_digits_max)
          return refuse("the size of a chunk has too many digits");
        left_ = left_ * 16 + static_cast<uint64_t>(value);
        return {};
      }
      if (c != '\r' || digits_ == 0)
        return refuse("the size of a chunk is hexadecimal digits and ends in CRLF");
      at_ = place::size_end;
      return {};
    case place::size_end:
      if (c != '\n')
        return refuse("the size of a chunk ends in CRLF");
      digits_ = 0;
      at_ = left_ > 0 ? place::data : place::trailer;
      return {};
    case place::data_return:
    case place::data_end:
      if (c != (at_ == place::data_return ? '\r' : '\n'))
        return refuse("the data of a chunk end in CRLF");
      at_ = at_ == place::data_return ? place::data_end : place::size;
      return {};
    case place::trailer:
      if (++trailer_bytes_ > trailer_bytes_max)
        return refuse("trailers are too long");
      trailer_ += c;
      if (c != '\n')
        return {};
      if (trailer_ == "\r\n")
        at_ = place::end;
      else if (!trailer_.ends_with("\r\n") || !is_header(std::string_view{trailer_}.substr(0, trailer_.size() - 2)))
        return refuse("a trailer is NAME: VALUE and ends in CRLF");
      trailer_.clear();
      return {};
    case place::data:
    case place::end: break;
  }
  return {};
}

}  // namespace troupe
