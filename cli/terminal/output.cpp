#include "cli/terminal/output.hpp"

#include "cli/configuration/command_line.hpp"
#include "cli/terminal/columns.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

namespace troupe::cli {

namespace {

bool is_open(int descriptor) {
  const int copy = dup(descriptor);
  if (copy >= 0)
    close(copy);
  return copy >= 0 || errno != EBADF;
}

/// Occupies a descriptor with the reading end of a pipe without a writer: reading returns the end of the file, and
/// writing fails as on a closed descriptor.
void occupy(int descriptor) {
  int ends[2];
  if (pipe(ends) != 0)
    return;
  if (ends[0] != descriptor) {
    dup2(ends[0], descriptor);  // Closes the other end if `descriptor` is that.
    close(ends[0]);
  }
  if (ends[1] != descriptor)
    close(ends[1]);
}

/// Returns 0, or the error number of the write that failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return errno;
    if (written > 0)
      text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

/// The first character of `text`, which is not empty: its bytes, and whether it may be printed. Not printed are the
/// control characters of a terminal (below a space except newline and tab, 0x7f, U+0080 to U+009F), and bytes that are
/// not UTF-8, which some terminals take for the latter.
struct first_character {
  size_t bytes = 1;
  bool printed = false;
};
first_character first_of(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80)
    return {1, (lead >= ' ' && lead != 0x7f) || lead == '\n' || lead == '\t'};
  const size_t bytes = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size())
    return {};
  for (size_t i = 1; i < bytes; ++i)
    if ((at(i) & 0xc0) != 0x80)
      return {};
  const bool is_overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90),
             is_control = lead == 0xc2 && at(1) < 0xa0;
  return is_overlong || is_control ? first_character{} : first_character{bytes, true};
}

bool is_visible(std::string_view text) {
  while (!text.empty()) {
    const auto c = first_of(text);
    if (!c.printed)
      return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

/// The width of the terminal's window; nothing if the descriptor is not a terminal.
std::optional<size_t> columns_at(int descriptor) {
  if (isatty(descriptor) != 1)
    return {};
  if (const auto set = parse_columns(std::getenv("COLUMNS")); set && *set)
    return *set;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : size_t{80};
}

/// Why standard output accepts no more: an error number, or 0. Global, since a process has one standard output.
std::atomic<int> output_failed{0};

std::string_view category_of(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return to_string(errc::resource_exhausted);
    case EIO: return to_string(errc::unavailable);
    default: return to_string(errc::failed_precondition);
  }
}

/// Reports only the first failure.
void fail_output(int code) {
  int none = 0;
  if (output_failed.compare_exchange_strong(none, code) && code != EPIPE)
    write_error(
        fmt::format("error: {}: cannot write to standard output: {}\n", category_of(code), std::strerror(code)));
}

}  // namespace

std::string visible(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto c = first_of(text);
    if (c.printed)
      result += text.substr(0, c.bytes);
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(c.bytes);
  }
  return result;
}

void occupy_standard_descriptors() {
  // In ascending order: a pipe takes the lowest free descriptors, and all lower ones are occupied by then.
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (!is_open(descriptor))
      occupy(descriptor);
}

bool write_output(std::string_view text) {
  if (output_failed != 0)
    return false;
  if (const int code = write_all(1, text); code != 0)
    fail_output(code);
  return output_failed == 0;
}
int close_output(int status) {
  if (close(1) != 0 && errno != EINTR)
    fail_output(errno);
  const int code = output_failed;
  return status != succeeded || code == 0 || code == EPIPE ? status : failed;
}

bool write_text(std::string_view text) { return write_output(visible(text)); }

bool write_data(std::string_view text) { return isatty(1) == 1 ? write_text(text) : write_output(text); }

void write_error(std::string_view text) {
  const bool shown = is_visible(text);
  const auto window = columns_at(2);
  try {
    if (!shown || (window && !fits_in(text, *window))) {
      const auto all = visible(text);
      write_all(2, window ? wrapped(all, *window) : all);
      return;
    }
  } catch (const std::bad_alloc&) {
    if (!shown)
      throw;
  }
  write_all(2, text);  // Allocates nothing: memory may have run out.
}

bool output_is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(1) == 1 && kind && std::string_view{kind} != "dumb";
}

bool error_is_terminal() { return isatty(2) == 1; }

std::optional<size_t> output_columns() { return columns_at(1); }

expected<std::optional<size_t>> parse_columns(const char* setting) {
  const std::string_view text = setting ? setting : "";
  if (text.empty())
    return std::optional<size_t>{};
  size_t columns = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || columns == 0)
    return fail(errc::invalid_argument,
                fmt::format("COLUMNS, the width of the window, must be a whole number of at least 1, not '{}'", text));
  return std::optional{columns};
}

}  // namespace troupe::cli
