#include "modules/http/request_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace troupe {

namespace {

tl::unexpected<refusal> refuse(std::string reason, int status = 400) {
  return tl::unexpected{refusal{status, std::move(reason)}};
}

// -- characters ------------------------------------------------------------------

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_one_of(char c, std::string_view all) { return all.find(c) != std::string_view::npos; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool in_token(char c) { return is_digit(c) || is_letter(c) || is_one_of(c, "!#$%&'*+-.^_`|~"); }
bool in_value(char c) { return !is_control(c) || c == '\t'; }
bool in_target(char c) { return is_digit(c) || is_letter(c) || is_one_of(c, "-._~!$&'()*+,;=:@/?%"); }
bool in_host(char c) { return is_digit(c) || is_letter(c) || is_one_of(c, "-._~!$&'()*+;=:[]%"); }

template <class Is>
bool all_are(std::string_view text, Is is) {
  return std::all_of(text.begin(), text.end(), is);
}

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string small(std::string_view text) {
  std::string made{text};
  std::transform(made.begin(), made.end(), made.begin(), [](char c) { return small(c); });
  return made;
}
bool equal(std::string_view text, std::string_view in_small_letters) {
  return std::equal(text.begin(), text.end(), in_small_letters.begin(), in_small_letters.end(),
                    [](char a, char b) { return small(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Removes and returns the text before the first `end`, and removes `end`; takes all of the text if it has no `end`.
std::string_view take(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const auto taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return taken;
}

/// Quoted for a message: at most 40 bytes, with '?' for each that is not printable ASCII.
std::string shown(std::string_view text) {
  constexpr size_t most = 40;
  std::string made;
  for (const char c : text.substr(0, most))
    made += is_control(c) || static_cast<unsigned char>(c) > 0x7f ? '?' : c;
  return "'" + made + (text.size() > most ? "...'" : "'");
}

// -- the first line ---------------------------------------------------------------

std::optional<int> value_of_hex(char c) {
  if (is_digit(c))
    return c - '0';
  const char s = small(c);
  return s >= 'a' && s <= 'f' ? std::optional{s - 'a' + 10} : std::nullopt;
}

/// An encoded '/' or control character is refused: decoding it would change a path that a proxy has allowed into
/// another one.
or_refusal<std::string> decoded(std::string_view path) {
  std::string made;
  made.reserve(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      made += path[i];
      continue;
    }
    const auto high = i + 2 < path.size() ? value_of_hex(path[i + 1]) : std::nullopt;
    const auto low = high ? value_of_hex(path[i + 2]) : std::nullopt;
    if (!low)
      return refuse("'%' in a path is followed by two hexadecimal digits, not by " + shown(path.substr(i + 1, 2)));
    const char c = static_cast<char>(*high * 16 + *low);
    if (c == '/' || is_control(c))
      return refuse("a path has no '/' and no control character in the form " + shown(path.substr(i, 3)));
    made += c;
    i += 2;
  }
  return made;
}

or_refusal<std::string> path_of(std::string_view target, std::string_view method) {
  if (target == "*" && method == "OPTIONS")
    return std::string{target};
  for (const std::string_view scheme : {"http://", "https://"})
    if (equal(target.substr(0, scheme.size()), scheme)) {
      target.remove_prefix(scheme.size());
      const size_t end = std::min(target.find_first_of("/?"), target.size());
      if (end == 0 || !all_are(target.substr(0, end), in_host))
        return refuse("an absolute address names no host: " + shown(target));
      target = target.substr(end).starts_with('/') ? target.substr(end) : "/";
      break;
    }
  if (!target.starts_with('/'))
    return refuse("a path begins with '/', not as in " + shown(target));
  if (!all_are(target, in_target))
    return refuse("a path has a character that no path may have: " + shown(target));
  return decoded(target.substr(0, target.find('?')));
}

or_refusal<void> read_first_line(std::string_view line, request_head& into, bool& old) {
  std::string_view rest = line;
  const auto method = take(rest, " "), target = take(rest, " ");
  const std::string_view version = rest;
  if (method.empty() || !all_are(method, in_token))
    return refuse("the first line begins with a method and one blank, not with " + shown(line));
  if (target.empty() || version.empty())
    return refuse("the first line is METHOD PATH HTTP/1.1, not " + shown(line));
  constexpr std::string_view form = "HTTP/d.d";
  if (version.size() != form.size() || !version.starts_with("HTTP/") || !is_digit(version[5]) || version[6] != '.'
      || !is_digit(version[7]))
    return refuse("the first line ends in HTTP/1.1, not in " + shown(version));
  old = version == "HTTP/1.0";
  if (!old && version != "HTTP/1.1")
    return refuse("this server speaks HTTP/1.1, not " + std::string{version}, 505);
  into.method = method;
  auto path = path_of(target, method);
  if (!path)
    return tl::unexpected{std::move(path.error())};
  into.path = std::move(*path);
  return {};
}

// -- headers ------------------------------------------------------------------------

/// The headers that this server reads. Each may occur once, except those that are lists.
struct known_headers {
  std::optional<std::string_view> host, length, transfer, coding, expect;
  bool closes = false, takes_gzip = false;
};

/// Whether a list such as "gzip;q=0.5, br" has this element with a weight other than 0.
bool lists(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    std::string_view element = take(list, ",");
    if (!equal(trimmed(take(element, ";")), wanted))
      continue;
    const auto weight = trimmed(element);
    return !(weight.starts_with("q=0") && all_are(weight.substr(3), [](char c) { return c == '.' || c == '0'; }));
  }
  return false;
}

or_refusal<void> read_header(std::string_view line, known_headers& into) {
  if (!is_header(line))
    return refuse("a header is NAME: VALUE, not " + shown(line));
  std::string_view value = line;
  const auto name = take(value, ":");
  value = trimmed(value);
  const std::pair<std::string_view, std::optional<std::string_view>*> once[] = {{"host", &into.host},
                                                                                {"content-length", &into.length},
                                                                                {"transfer-encoding", &into.transfer},
                                                                                {"content-encoding", &into.coding},
                                                                                {"expect", &into.expect}};
  for (const auto& [known, place] : once)
    if (equal(name, known)) {
      if (*place)
        return refuse("the header " + std::string{known} + " is there twice");
      *place = value;
    }
  if (equal(name, "connection"))
    into.closes = into.closes || lists(value, "close");
  else if (equal(name, "accept-encoding"))
    into.takes_gzip = into.takes_gzip || lists(value, "gzip");
  return {};
}

or_refusal<void> read_framing(const known_headers& headers, bool old, request_head& into) {
  if (headers.transfer) {
    if (headers.length)
      return refuse("content-length and transfer-encoding are not there at once");
    if (old || !equal(*headers.transfer, "chunked"))
      return refuse("transfer-encoding is chunked, in HTTP/1.1, not " + shown(*headers.transfer));
    into.body = request_head::framing::chunks;
  } else if (headers.length) {
    if (headers.length->empty() || !all_are(*headers.length, is_digit))
      return refuse("content-length is a number in digits, not " + shown(*headers.length));
    into.body = request_head::framing::length;
    const auto [end, failed] = std::from_chars(headers.length->data(), headers.length->data() + headers.length->size(),
                                               into.length);
    if (failed != std::errc{})
      into.length = std::numeric_limits<uint64_t>::max();  // Larger than any body that is taken.
  }
  return {};
}

}  // namespace

or_refusal<size_t> head_search::look(std::string_view bytes) {
  for (; seen_ < std::min(bytes.size(), head_bytes_max); ++seen_) {
    const char c = bytes[seen_];
    const bool after_return = seen_ > 0 && bytes[seen_ - 1] == '\r';
    if (after_return != (c == '\n') || (is_control(c) && c != '\t' && c != '\r' && c != '\n'))
      return refuse("a line ends in CR and LF, and has no other control characters");
    if (first_line_ == 0 && seen_ >= first_line_bytes_max)
      return refuse("the first line has more than " + std::to_string(first_line_bytes_max) + " bytes", 414);
    if (c != '\n')
      continue;
    const bool empty = seen_ - line_ == 1;
    if (empty && first_line_ == 0)
      return refuse("the first line is empty");
    line_ = seen_ + 1;
    if (empty)
      return ++seen_;
    if (first_line_ == 0)
      first_line_ = line_;
  }
  if (bytes.size() >= head_bytes_max)
    return refuse("the first line and the headers have more than " + std::to_string(head_bytes_max) + " bytes", 431);
  return 0;
}

bool is_header(std::string_view line) {
  std::string_view value = line;
  const auto name = take(value, ":");
  return name.size() < line.size() && !name.empty() && all_are(name, in_token) && all_are(value, in_value);
}

or_refusal<request_head> read_head(std::string_view bytes) {
  request_head head;
  bool old = false;
  if (auto right = read_first_line(take(bytes, "\r\n"), head, old); !right)
    return tl::unexpected{std::move(right.error())};
  known_headers headers;
  for (auto line = take(bytes, "\r\n"); !line.empty(); line = take(bytes, "\r\n"))
    if (auto right = read_header(line, headers); !right)
      return tl::unexpected{std::move(right.error())};
  if (!headers.host && !old)
    return refuse("the header host is not there");
  if (headers.host && !all_are(*headers.host, in_host))
    return refuse("the header host names no host: " + shown(*headers.host));
  if (auto right = read_framing(headers, old, head); !right)
    return tl::unexpected{std::move(right.error())};
  head.waits = headers.expect && !old;
  if (headers.expect && !equal(*headers.expect, "100-continue"))
    return refuse("the only thing to expect is 100-continue, not " + shown(*headers.expect), 417);
  head.closes = headers.closes || old;
  head.takes_gzip = headers.takes_gzip;
  if (headers.coding && !equal(*headers.coding, "identity"))
    head.coding = small(*headers.coding);
  return head;
}

}  // namespace troupe
