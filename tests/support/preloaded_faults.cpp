// A library to preload into a program under test. It replaces functions of the C library, and lets some calls fail or
// hang:
//
//   REFUSE_THREAD=3    creating the third thread of the process fails (EAGAIN), once
//   HANG_AT_OPEN=TEXT  opening a file whose path contains TEXT never returns; "hanging" is printed on standard output
//   DENY_OPEN=TEXT     opening a file whose path contains TEXT fails (EACCES), for root too
//
// The library says on standard error that it refused a thread. Without that line the process started fewer threads than
// REFUSE_THREAD.
#undef _FILE_OFFSET_BITS  // This macro renames `open`, which is replaced here under both names.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

using create_thread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
using open_file = int (*)(const char*, int, ...);

void say(int descriptor, const char* text) {
  if (write(descriptor, text, std::strlen(text)) < 0)
    errno = 0;
}

void maybe_hang(const char* path) {
  const char* const text = std::getenv("HANG_AT_OPEN");
  if (!text || !std::strstr(path, text))
    return;
  say(1, "hanging\n");
  for (;;)
    pause();
}

bool is_denied(const char* path) {
  const char* const text = std::getenv("DENY_OPEN");
  if (!text || !std::strstr(path, text))
    return false;
  errno = EACCES;
  return true;
}

template <class F>
F original(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                                                          void* (*work)(void*), void* of) noexcept {
  static std::atomic<int> made{0};
  const char* const refused = std::getenv("REFUSE_THREAD");
  if (refused && ++made == std::atoi(refused)) {
    say(2, "refused a thread\n");
    return EAGAIN;
  }
  return original<create_thread>("pthread_create")(thread, how, work, of);
}

__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  maybe_hang(path);
  if (is_denied(path))
    return -1;
  return original<open_file>("open")(path, flags, mode);
}
__attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  maybe_hang(path);
  if (is_denied(path))
    return -1;
  return original<open_file>("open64")(path, flags, mode);
}
}
