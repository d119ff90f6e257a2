#include "cli/terminal/last_resort.hpp"

#include "cli/configuration/command_line.hpp"
#include "cli/terminal/output.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include <unistd.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

namespace troupe::cli {

namespace {

std::atomic<bool> tells_json{false};
std::terminate_handler before = nullptr;

/// Writes a message without allocating.
void tell(std::string_view message) {
  for (const auto part : {std::string_view{"error: resource_exhausted: "}, message, std::string_view{"\n"}})
    write_error(part);
  if (tells_json)
    for (const auto part : {std::string_view{R"({"event":"failed","category":"resource_exhausted","message":")"}, message,
                            std::string_view{"\",\"notes\":[]}\n"}})
      write_output(part);
}

/// Reports the current exception if it is for lack of memory or of a thread; returns whether it is.
bool told() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    tell("there is no more memory");
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again && e.code() != std::errc::not_enough_memory)
      return false;
    tell("the system gave no thread");
  } catch (...) {
    return false;
  }
  return true;
}

/// glibc loads the unwinder when an exception first passes through a function of its own, such as pthread_once, and
/// ends the process if it has no memory for that (2.36: nptl/unwind-resume.c): so this loads it now. A backtrace needs
/// the same.
void find_unwinder() {
#if __has_include(<execinfo.h>)
  void* frame = nullptr;
  static_cast<void>(::backtrace(&frame, 1));
#endif
}

/// The main thread's stack grows when it is used, and the process ends by a signal if there is no address space for that:
/// so this uses it now. Other threads have their stacks from their start.
[[gnu::noinline]] void reserve_stack() {
  constexpr size_t page = 4096;
  volatile char stack[64 * page];
  for (size_t at = 0; at < sizeof stack; at += page)
    stack[at] = 0;
}

/// glibc reserves 64 MiB of address space for the heap of each thread that allocates: where address space is limited, the
/// stacks of later threads would find none. Threads share two heaps; steps allocate nothing.
void bound_heaps() {
#if defined(M_ARENA_MAX)
  mallopt(M_ARENA_MAX, 2);
#endif
}

[[noreturn]] void at_the_end() {
  if (std::current_exception() && told())
    _exit(failed);
  before();
  std::abort();
}

}  // namespace

void end_in_order(bool json) noexcept {
  tells_json = json;
  find_unwinder();
  reserve_stack();
  bound_heaps();
  if (before == nullptr)
    before = std::set_terminate(at_the_end);
}

void return_large_blocks() noexcept {
#if defined(M_MMAP_THRESHOLD)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // One that is set does not grow.
#endif
}

int fail_for_want() noexcept {
  if (!told())
    std::terminate();
  return failed;
}

}  // namespace troupe::cli
