#include "cli/terminal/last_resort.hpp"

#include "cli/configuration/command_line.hpp"
#include "cli/terminal/output.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#if __has_include(<malloc.h>)
#  include <malloc.h>
#endif
#if __has_include(<execinfo.h>)
#  include <execinfo.h>
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
    for (const auto part : {std::string_view{R"({"event":"failed","category":"resource_exhausted","message":")"},
                            message, std::string_view{"\",\"notes\":[]}\n"}})
      write_output(part);
}

/// Reports the current exception if memory or a thread was lacking; returns whether that was so.
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

/// glibc loads the unwinder when an exception first passes through one of its own functions, such as pthread_once, and
/// ends the process if it has no memory for that (2.36: nptl/unwind-resume.c). This loads it in time: a backtrace needs
/// the unwinder as well.
void find_unwinder() {
#if __has_include(<execinfo.h>)
  void* frame = nullptr;
  static_cast<void>(::backtrace(&frame, 1));
#endif
}

/// Enough stack for the commands and their threads, whose stacks are as large as the limit: all of them ran with 48
/// KiB.
constexpr size_t stack_min = size_t{64} << 10;
constexpr size_t page = 4096;

/// How many bytes this thread's stack may still grow; SIZE_MAX if that is not known.
size_t stack_left() noexcept {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0 || pthread_attr_getstack(&attributes, &lowest, &bytes) != 0)
    return SIZE_MAX;
  pthread_attr_destroy(&attributes);
  return static_cast<size_t>(static_cast<std::byte*>(__builtin_frame_address(0)) - static_cast<std::byte*>(lowest));
}

/// The main thread's stack grows on use, and a signal ends the process if there is no address space left for that. This
/// uses the stack in advance, as far as it may grow. Other threads have their whole stacks from their start.
[[gnu::noinline]] void reserve_stack(size_t left) {
  constexpr size_t margin = 8 * page;
  const size_t bytes = std::min(left, 64 * page + margin) - margin;
  auto* const stack = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (size_t at = 0; at < bytes; at += page)
    stack[at] = 0;
}

/// glibc reserves 64 MiB of address space for the heap of each thread that allocates. If address space is limited,
/// later threads would find none for their stacks. So all threads share two heaps; steps allocate nothing.
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

expected<void> end_in_order(bool json) {
  tells_json = json;
  find_unwinder();
  const size_t left = stack_left();
  if (left < stack_min)
    return fail(errc::resource_exhausted, "the stack may take " + std::to_string(left >> 10) + " KiB, and "
                                              + std::to_string(stack_min >> 10)
                                              + " are needed: raise its limit (ulimit -s)");
  reserve_stack(left);
  bound_heaps();
  if (before == nullptr)
    before = std::set_terminate(at_the_end);
  return {};
}

void return_large_blocks() noexcept {
#if defined(M_MMAP_THRESHOLD)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // A threshold that is set does not grow.
#endif
}

int fail_for_want() noexcept {
  if (!told())
    std::terminate();
  return failed;
}

}  // namespace troupe::cli
