#include "pipeline/launch/actor_thread.hpp"

#include <troupe/tensor.hpp>

#include <new>
#include <system_error>

namespace troupe {

expected<actor_thread> actor_thread::start() {
  try {
    std::promise<std::function<void()>> work;
    std::thread thread{[given = work.get_future()]() mutable {
      if (const auto todo = given.get())
        todo();
    }};
    actor_thread made{std::move(work), std::move(thread)};
    // A thread that begins its work with no memory left is ended by the C library, and the process with it: what it has of its
    // own is allocated then.
    constexpr int64_t enough = int64_t{1} << 20;
    if (!allocate_buffer(enough))
      return fail(errc::resource_exhausted, "the system gave no thread (no memory for what is its own)");
    return made;
  } catch (const std::system_error& e) {
    return fail(errc::resource_exhausted, std::string{"the system gave no thread ("} + e.what() + ")");
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, "the system gave no thread (no memory)");
  }
}

actor_thread::~actor_thread() {
  if (!thread_.joinable())
    return;
  if (!given_)
    work_.set_value({});  // A promise that is broken would allocate an exception.
  thread_.detach();
}

void actor_thread::run(std::function<void()> work) {
  given_ = true;
  work_.set_value(std::move(work));
}

}  // namespace troupe
