#include "cli/output.hpp"

#include <cerrno>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace troupe::cli {

namespace {

bool is_open(int descriptor) {
  const int copy = dup(descriptor);
  if (copy >= 0)
    close(copy);
  return copy >= 0 || errno != EBADF;
}

/// One end of a pipe whose other end is closed: reading finds the end, writing fails.
void put_half_a_pipe(int descriptor, int end) {
  int ends[2];
  if (pipe(ends) != 0)
    return;
  if (ends[end] != descriptor) {
    dup2(ends[end], descriptor);  // Closes the other end where that happens to be the descriptor.
    close(ends[end]);
  }
  if (ends[1 - end] != descriptor)
    close(ends[1 - end]);
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return false;
    if (written > 0)
      text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

void occupy_standard_descriptors() {
  // In this order: a pipe takes the lowest free descriptors, and a lower one is never free any more.
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (!is_open(descriptor))
      put_half_a_pipe(descriptor, descriptor == 0 ? 0 : 1);
}

bool write_output(std::string_view text) {
  return write_all(1, text);
}
void write_error(std::string_view text) {
  write_all(2, text);
}

bool output_is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(1) == 1 && kind && std::string_view{kind} != "dumb";
}

size_t terminal_width() {
  winsize size{};
  return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace troupe::cli
