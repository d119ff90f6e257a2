#include "storage/encodings/text_format.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>

namespace troupe {

namespace {

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }
int hex_value(char c) {
  return is_decimal(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void append_utf8(std::string& to, uint32_t c) {
  const auto tail = [&](int shift) { to += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80)
    to += static_cast<char>(c);
  else if (c < 0x800)
    to += static_cast<char>(0xc0 | (c >> 6)), tail(0);
  else if (c < 0x10000)
    to += static_cast<char>(0xe0 | (c >> 12)), tail(6), tail(0);
  else
    to += static_cast<char>(0xf0 | (c >> 18)), tail(12), tail(6), tail(0);
}

/// A cursor over the text. It stops at the first error.
class reader {
 public:
  reader(std::string_view text, int depth_max) : text_(text), depth_max_(depth_max) { skip_blanks(); }

  expected<std::vector<text_field>> fields() {
    while (!wrong_ && at_ < text_.size())
      field(0, true);
    if (wrong_)
      return fail(std::move(*wrong_));
    return std::move(fields_);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool wrong(std::string what) {
    if (!wrong_)
      wrong_.emplace(errc::data_loss, "line " + std::to_string(line_) + ", column "
                                          + std::to_string(at_ - line_begin_ + 1) + ": " + std::move(what));
    return false;
  }
  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\v' && c != '\f') {
        return;
      }
    }
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size())
      return false;
    ++at_;
    skip_blanks();
    return true;
  }

  std::string word() {
    const size_t begin = at_;
    while (begins_word(peek()) || is_decimal(peek()))
      ++at_;
    std::string made{text_.substr(begin, at_ - begin)};
    skip_blanks();
    return made;
  }

  /// Parses the rest of an extension's name: [package.extension] or [type.example.com/package.Message].
  bool extension_name() {
    while (begins_word(peek()) || is_decimal(peek()) || peek() == '.' || peek() == '/' || peek() == '-'
           || peek() == '%') {
      ++at_;
      skip_blanks();
    }
    return take(']') || wrong("the name of an extension has no ]");
  }

  /// Parses a field of a message at nesting level `depth`. Its values are stored only if `keep`, which is set for
  /// fields of the outermost message.
  bool field(int depth, bool keep) {
    text_field made{.line = line_, .column = static_cast<int64_t>(at_ - line_begin_ + 1)};
    if (take('[')) {
      keep = false;
      if (!extension_name())
        return false;
    } else if (begins_word(peek()) || is_decimal(peek())) {  // An unknown field may have its number as its name.
      made.name = word();
    } else {
      return wrong("expected the name of a field");
    }
    const bool colon = take(':');
    const bool done = peek() == '{' || peek() == '<' ? message(depth + 1)
                      : !colon ? wrong("expected \":\" after " + (made.name.empty() ? "an extension" : made.name))
                      : peek() == '[' ? list(std::move(made), depth, keep)
                                      : scalar(std::move(made), keep);
    if (done && !take(';'))
      take(',');
    return done;
  }

  bool message(int depth) {
    if (depth > depth_max_)
      return wrong("messages nest deeper than " + std::to_string(depth_max_));
    const char end = peek() == '{' ? '}' : '>';
    take(peek());
    while (!take(end)) {
      if (at_ == text_.size())
        return wrong(std::string{"a message has no "} + end);
      if (!field(depth, false))
        return false;
    }
    return true;
  }

  bool list(text_field made, int depth, bool keep) {
    if (depth + 1 > depth_max_)
      return wrong("lists nest deeper than " + std::to_string(depth_max_));
    take('[');
    if (take(']'))
      return true;
    do {
      const bool done = peek() == '{' || peek() == '<' ? message(depth + 1)
                        : peek() == '['                ? list(made, depth + 1, false)
                                                       : scalar(made, keep);
      if (!done)
        return false;
    } while (take(','));
    return take(']') || wrong("expected \",\" or \"]\" in a list");
  }

  bool scalar(text_field made, bool keep) {
    if (peek() == '"' || peek() == '\'') {
      made.quoted = true;
      while (peek() == '"' || peek() == '\'')  // Adjacent strings are concatenated.
        if (!string(made.value))
          return false;
    } else {
      if (take('-'))
        made.value = "-";
      if (!begins_word(peek()) && !is_decimal(peek()) && peek() != '.')
        return wrong("expected a value");
      number_or_word(made.value);
    }
    if (keep)
      fields_.push_back(std::move(made));
    return true;
  }

  void number_or_word(std::string& into) {
    const bool number = !begins_word(peek());
    const size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool sign = number && (c == '+' || c == '-') && at_ > begin
                        && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!begins_word(c) && !is_decimal(c) && !(number && c == '.') && !sign)
        break;
    }
    into += text_.substr(begin, at_ - begin);
    skip_blanks();
  }

  bool string(std::string& into) {
    const char quote = text_[at_++];
    while (peek() != quote || at_ == text_.size()) {
      if (at_ == text_.size() || peek() == '\n')
        return wrong("a string has no end");
      if (peek() != '\\')
        into += text_[at_++];
      else if (!escape(into))
        return false;
    }
    ++at_;
    skip_blanks();
    return true;
  }

  bool escape(std::string& into) {
    ++at_;
    const char c = peek();
    constexpr std::string_view letters = "abfnrtv\\'\"?", meant = "\a\b\f\n\r\t\v\\'\"?";
    if (const size_t letter = letters.find(c); at_ < text_.size() && letter != letters.npos) {
      into += meant[letter];
      ++at_;
      return true;
    }
    if (is_octal(c)) {
      unsigned value = 0;
      for (int digits = 0; digits < 3 && is_octal(peek()); ++digits)
        value = value * 8 + static_cast<unsigned>(text_[at_++] - '0');
      into += static_cast<char>(value);
      return true;
    }
    const int least = c == 'u' ? 4 : c == 'U' ? 8 : 1, most = c == 'x' || c == 'X' ? 2 : least;
    if (c != 'x' && c != 'X' && c != 'u' && c != 'U')
      return wrong("a string has an escape that does not exist");
    ++at_;
    uint32_t value = 0;
    int digits = 0;
    for (; digits < most && hex_value(peek()) >= 0; ++digits)
      value = value * 16 + static_cast<uint32_t>(hex_value(text_[at_++]));
    if (digits < least || value > 0x10ffff)
      return wrong("a string has an escape that does not exist");
    if (least == 1)
      into += static_cast<char>(value);
    else
      append_utf8(into, value);
    return true;
  }

  std::string_view text_;
  int depth_max_;
  size_t at_ = 0, line_begin_ = 0;
  int64_t line_ = 1;
  std::vector<text_field> fields_;
  std::optional<error> wrong_;
};

}  // namespace

expected<std::vector<text_field>> parse_text_format(std::string_view text, int depth_max) {
  return reader{text, depth_max}.fields();
}

expected<double> text_format_double(const text_field& field) {
  const auto refused = [&]() -> expected<double> {
    return fail(errc::invalid_argument,
                "line " + std::to_string(field.line) + ", column " + std::to_string(field.column) + ": " + field.name
                    + " must be a number, not " + (field.quoted ? "\"" + field.value + "\"" : field.value));
  };
  std::string_view digits = field.value;
  const bool negative = digits.starts_with('-');
  digits.remove_prefix(negative ? 1 : 0);
  if (field.quoted || digits.empty() || digits.front() == '-')
    return refused();
  std::string lower{digits};
  for (char& c : lower)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  double x = 0;
  if (begins_word(digits.front())) {
    if (lower != "inf" && lower != "infinity" && lower != "nan")
      return refused();
    x = lower == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    if (lower.size() > 1 && lower.ends_with('f'))
      lower.pop_back();
    const auto [end, code] = std::from_chars(lower.data(), lower.data() + lower.size(), x);
    if (code == std::errc::result_out_of_range)
      x = std::strtod(lower.c_str(), nullptr);  // Gives 0 or infinity, in any locale.
    else if (code != std::errc{} || end != lower.data() + lower.size())
      return refused();
  }
  return negative ? -x : x;
}

std::string to_text_format(double x) {
  char text[40];
  for (const int digits : {15, 17}) {
    const auto made = std::to_chars(text, text + sizeof text, x, std::chars_format::general, digits);
    double back = 0;
    std::from_chars(text, made.ptr, back);
    if (back == x || digits == 17)
      return {text, made.ptr};
  }
  return {};
}

}  // namespace troupe
