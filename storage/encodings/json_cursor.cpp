#include "storage/encodings/json_cursor.hpp"

#include "storage/encodings/utf8.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace troupe {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
const char* past_blanks(const char* at, const char* end) noexcept {
  while (at < end && is_blank(*at))
    ++at;
  return at;
}

/// The position after the string whose opening quote is at `at`.
const char* past_text(const char* at) noexcept {
  for (++at; *at != '"';)
    at += *at == '\\' ? 2 : 1;
  return at + 1;
}

/// The value of four hexadecimal digits; absent if these are not such digits.
std::optional<uint32_t> code_unit(const char* at, const char* end) noexcept {
  uint32_t unit = 0;
  if (end - at < 4)
    return {};
  for (int i = 0; i < 4; ++i) {
    const char c = at[i], lower = static_cast<char>(c | 0x20);
    if (!is_digit(c) && (lower < 'a' || lower > 'f'))
      return {};
    unit = unit << 4 | static_cast<uint32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  return unit;
}

bool is_high(uint32_t unit) noexcept { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(uint32_t unit) noexcept { return unit >= 0xdc00 && unit < 0xe000; }

// -- checking ----------------------------------------------------------------------

/// Checks JSON syntax. Each function consumes what it is named for, or returns false at the first wrong byte.
class checker {
 public:
  explicit checker(std::string_view text) noexcept : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {
    if (text.starts_with(byte_order_mark))
      at_ += byte_order_mark.size();
  }

  std::optional<json_flaw> check(int depth_max) noexcept {
    uint64_t objects = 0;  // Bit d: whether level d is an object; else it is a list.
    int depth = 0;
    for (bool wanted = true; wanted || depth > 0;) {
      blanks();
      if (wanted && (here() == '[' || here() == '{')) {
        if (depth == depth_max)
          return json_flaw{place(), true};
        const bool object = *at_++ == '{';
        objects = (objects & ~(uint64_t{1} << depth)) | uint64_t{object} << depth;
        ++depth;
        blanks();
        if (here() == (object ? '}' : ']'))
          wanted = false;  // The closing bracket is consumed below.
        else if (object && !name())
          return json_flaw{place()};
        continue;
      }
      if (wanted) {
        if (!scalar())
          return json_flaw{place()};
        wanted = false;
        continue;
      }
      const bool object = (objects >> (depth - 1) & 1) != 0;
      if (here() == (object ? '}' : ']')) {
        ++at_, --depth;
        continue;
      }
      if (here() != ',')
        return json_flaw{place()};
      ++at_;
      blanks();
      if (object && !name())
        return json_flaw{place()};
      wanted = true;
    }
    blanks();
    return at_ == end_ ? std::nullopt : std::optional{json_flaw{place()}};
  }

 private:
  size_t place() const noexcept { return static_cast<size_t>(at_ - begin_); }
  char here() const noexcept { return at_ < end_ ? *at_ : '\0'; }
  void blanks() noexcept { at_ = past_blanks(at_, end_); }
  bool take(char c) noexcept { return here() == c && (++at_, true); }
  bool name() noexcept {
    if (!text())
      return false;
    blanks();
    return take(':');
  }
  bool scalar() noexcept {
    switch (here()) {
      case '"': return text();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }
  bool word(std::string_view wanted) noexcept {
    return std::all_of(wanted.begin(), wanted.end(), [this](char c) { return take(c); });
  }
  bool digits() noexcept {
    if (!is_digit(here()))
      return false;
    while (is_digit(here()))
      ++at_;
    return true;
  }
  bool number() noexcept {
    take('-');
    if (!take('0') && !digits())
      return false;
    if (take('.') && !digits())
      return false;
    if (!take('e') && !take('E'))
      return true;
    if (!take('+'))
      take('-');
    return digits();
  }
  bool text() noexcept {
    if (!take('"'))
      return false;
    while (at_ < end_) {
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"')
        return ++at_, true;
      if (c == '\\') {
        ++at_;
        if (!escape())
          return false;
        continue;
      }
      const size_t length = c < 0x20 ? 0 : c < 0x80 ? 1 : utf8_length({at_, static_cast<size_t>(end_ - at_)});
      if (length == 0)
        return false;
      at_ += length;
    }
    return false;
  }
  bool escape() noexcept {
    if (here() != 'u')
      return here() != '\0' && std::string_view{"\"\\/bfnrt"}.find(here()) != std::string_view::npos && (++at_, true);
    const auto unit = code_unit(at_ + 1, end_);
    if (!unit || is_low(*unit))
      return false;
    at_ += 5;
    if (!is_high(*unit))
      return true;
    const bool pair = end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u';
    const auto second = pair ? code_unit(at_ + 2, end_) : std::nullopt;
    if (!second || !is_low(*second))
      return false;
    at_ += 6;
    return true;
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
};

// -- texts -------------------------------------------------------------------------

/// Calls `f` with each piece of the text in a token, until `f` returns false.
template <class F>
void each_piece(std::string_view token, F f) {
  const char* at = token.data() + 1;
  const char* const end = token.data() + token.size() - 1;
  while (at < end) {
    if (*at != '\\') {
      const size_t length = std::max<size_t>(utf8_length({at, static_cast<size_t>(end - at)}), 1);
      if (!f(std::string_view{at, length}))
        return;
      at += length;
      continue;
    }
    constexpr std::string_view letters = "bfnrt", meant = "\b\f\n\r\t";
    char bytes[4];
    size_t n = 1;
    if (at[1] != 'u') {
      const size_t letter = letters.find(at[1]);
      bytes[0] = letter == std::string_view::npos ? at[1] : meant[letter];
      at += 2;
    } else {
      uint32_t point = *code_unit(at + 2, end);
      at += 6;
      if (is_high(point)) {
        point = 0x10000 + ((point - 0xd800) << 10) + (*code_unit(at + 2, end) - 0xdc00);
        at += 6;
      }
      n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      for (size_t i = n; i-- > 1; point >>= 6)
        bytes[i] = static_cast<char>(0x80 | (point & 0x3f));
      constexpr uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
      bytes[0] = static_cast<char>(leads[n - 1] | point);
    }
    if (!f(std::string_view{bytes, n}))
      return;
  }
}

/// Whether a number that does not fit a double is too small (else too large).
bool is_small(std::string_view number) noexcept {
  const size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const auto digits = number.substr(0, exponent_at);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(std::min(digits.find_first_of("123456789"), digits.size()));
  int64_t exponent = 0;
  if (exponent_at < number.size()) {
    auto text = number.substr(exponent_at + 1);
    const bool negative = text.front() == '-';
    if (negative || text.front() == '+')
      text.remove_prefix(1);
    constexpr int64_t most = int64_t{1} << 60;  // Larger than the length of any text.
    if (std::from_chars(text.data(), text.data() + text.size(), exponent).ec != std::errc{} || exponent > most)
      exponent = most;
    exponent = negative ? -exponent : exponent;
  }
  return exponent + (point - first) <= 0;
}

}  // namespace

std::optional<json_flaw> find_flaw(std::string_view text, int depth_max) noexcept {
  assert(depth_max >= 0 && depth_max <= 64);
  return checker{text}.check(depth_max);
}

std::string to_text(const json_flaw& flaw) {
  return flaw.deep ? "nests deeper than " + std::to_string(json_depth_max) + " at byte " + std::to_string(flaw.at)
                   : "is no JSON at byte " + std::to_string(flaw.at + 1);
}

json_cursor::json_cursor(std::string_view text) noexcept : at_(text.data()), end_(text.data() + text.size()) {
  pass(at_ + (text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0));
}

void json_cursor::pass(const char* to) noexcept { at_ = past_blanks(to, end_); }

const char* json_cursor::end_of_value() const noexcept {
  const char* at = at_;
  if (is_text())
    return past_text(at);
  if (!is_list() && !is_object()) {
    while (at < end_ && *at != ',' && *at != ']' && *at != '}' && !is_blank(*at))
      ++at;
    return at;
  }
  int64_t depth = 0;
  do {
    if (*at == '"') {
      at = past_text(at);
      continue;
    }
    depth += *at == '[' || *at == '{' ? 1 : *at == ']' || *at == '}' ? -1 : 0;
    ++at;
  } while (depth > 0);
  return at;
}

std::string_view json_cursor::token() const noexcept { return {at_, static_cast<size_t>(end_of_value() - at_)}; }

int64_t json_cursor::count() const noexcept {
  json_cursor inner = *this;
  int64_t n = 0;
  const bool object = is_object();
  for (bool more = inner.enter(); more; more = inner.next(), ++n) {
    if (object)
      inner.name();
    inner.skip();
  }
  return n;
}

bool json_cursor::read(bool& into) noexcept {
  if (*at_ != 't' && *at_ != 'f')
    return false;
  into = *at_ == 't';
  pass(at_ + (into ? 4 : 5));
  return true;
}

bool json_cursor::read(double& into) noexcept {
  if (!is_number())
    return false;
  double x = 0;
  auto [to, failed] = std::from_chars(at_, end_, x);
  if (failed != std::errc{}) {
    if (!is_small(token()))
      return false;
    x = *at_ == '-' ? -0.0 : 0.0;
  }
  into = x;
  pass(to);
  return true;
}

bool json_cursor::read(float& into) noexcept {
  const auto before = *this;
  double x = 0;
  if (!read(x))
    return false;
  into = static_cast<float>(x);
  if (!std::isfinite(into))
    return *this = before, false;
  return true;
}

bool json_cursor::read(int64_t& into) noexcept {
  const auto [to, failed] = std::from_chars(at_, end_, into);
  if (failed != std::errc{} || (to < end_ && (*to == '.' || *to == 'e' || *to == 'E')))
    return false;
  pass(to);
  return true;
}

template <class T>
bool json_cursor::read_as(T& into) noexcept {
  const auto before = *this;
  int64_t x = 0;
  if (!read(x))
    return false;
  into = static_cast<T>(x);
  if (x < std::numeric_limits<T>::min() || x > std::numeric_limits<T>::max())
    return *this = before, false;
  return true;
}
template bool json_cursor::read_as(int32_t&) noexcept;
template bool json_cursor::read_as(uint8_t&) noexcept;

bool json_cursor::enter() noexcept {
  pass(at_ + 1);
  if (*at_ != ']' && *at_ != '}')
    return true;
  pass(at_ + 1);
  return false;
}

std::string_view json_cursor::name() noexcept {
  const auto found = token();
  pass(at_ + found.size());
  pass(at_ + 1);  // Skips the colon.
  return found;
}

bool json_cursor::next() noexcept {
  const bool more = *at_ == ',';
  pass(at_ + 1);
  return more;
}

bool is_json_of(std::string_view token, std::string_view text) noexcept {
  bool same = true;
  each_piece(token, [&](std::string_view piece) {
    same = text.starts_with(piece);
    text.remove_prefix(same ? piece.size() : 0);
    return same;
  });
  return same && text.empty();
}

std::string text_of_json(std::string_view token, size_t bytes_max) {
  std::string text;
  each_piece(token, [&](std::string_view piece) {
    const bool fits = text.size() + piece.size() <= bytes_max;
    text += fits ? piece : "...";
    return fits;
  });
  return text;
}

}  // namespace troupe
