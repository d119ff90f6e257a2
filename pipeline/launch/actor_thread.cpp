#include "pipeline/launch/actor_thread.hpp"

#include "words/affinity.hpp"

#include <memory>
#include <new>
#include <system_error>

namespace troupe {

namespace {

/// Memory that a thread reserves until its work begins, and then frees. The first allocations of the work, such as the
/// registration of destructors of thread-local objects, must not fail: the C library would end the process.
class reserve {
 public:
  reserve() : bytes_(new (std::nothrow) volatile char[size]) {
    if (bytes_)
      bytes_[0] = 0;  // A write, so that the compiler does not remove the allocation.
  }
  bool is_there() const { return bytes_ != nullptr; }
  void release() { bytes_.reset(); }

 private:
  static constexpr size_t size = size_t{64} << 10;  // Below the size from which the C library maps memory separately.
  std::unique_ptr<volatile char[]> bytes_;
};

}  // namespace

expected<actor_thread> actor_thread::start(std::optional<int32_t> processor) {
  constexpr std::chrono::seconds start_max{30};
  try {
    std::promise<std::function<void()>> work;
    std::promise<bool> ready;
    auto is_ready = ready.get_future();
    std::thread thread{[given = work.get_future(), ready = std::move(ready)]() mutable {
      reserve own;
      ready.set_value(own.is_there());
      const auto todo = given.get();
      own.release();
      if (todo)
        todo();
    }};
    actor_thread made{std::move(work), std::move(thread)};
    if (is_ready.wait_for(start_max) != std::future_status::ready)
      return fail(errc::deadline_exceeded, "a new thread did not begin within 30 s");
    if (!is_ready.get())
      return fail(errc::resource_exhausted, "the system gave no thread (no memory for what is its own)");
    if (processor)
      made.refusal_ = restrict_to(made.thread_, {&*processor, 1});
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
    work_.set_value({});  // A broken promise would allocate an exception.
  thread_.detach();
}

void actor_thread::run(std::function<void()> work) {
  given_ = true;
  work_.set_value(std::move(work));
}

}  // namespace troupe
