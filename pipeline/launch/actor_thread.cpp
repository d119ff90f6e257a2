#include "pipeline/launch/actor_thread.hpp"

#include <new>
#include <system_error>

namespace troupe {

expected<actor_thread> actor_thread::start() {
  try {
    std::promise<std::function<void()>> work;
    std::thread thread{[given = work.get_future()]() mutable {
      std::function<void()> todo;
      try {
        todo = given.get();
      } catch (const std::future_error&) {
        return;  // There is none: whoever made the thread has thought better of it.
      }
      todo();
    }};
    return actor_thread{std::move(work), std::move(thread)};
  } catch (const std::system_error& e) {
    return fail(errc::resource_exhausted, std::string{"the system gave no thread ("} + e.what() + ")");
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, "the system gave no thread (no memory)");
  }
}

actor_thread::~actor_thread() {
  if (thread_.joinable())
    thread_.detach();
}

}  // namespace troupe
