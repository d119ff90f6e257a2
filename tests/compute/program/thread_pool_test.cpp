#include "compute/program/thread_pool.hpp"

#include <doctest/doctest.h>

#include <array>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe {

TEST_CASE("a pool computes every share once, and returns when all are done") {
  for (int threads : {1, 2, 3, 5}) {
    CAPTURE(threads);
    const auto pool = thread_pool::start(threads).value();
    CHECK(pool->threads() == threads);
    std::array<int64_t, 5> done{};  // Not atomic: a reader must be synchronised.
    for (int round = 0; round < 5000; ++round) {
      const int shares = 1 + round % threads;
      pool->run(shares, [&](int share) { done[static_cast<size_t>(share)] += round; });
    }
    int64_t want[5] = {};
    for (int round = 0; round < 5000; ++round)
      for (int share = 0; share <= round % threads; ++share)
        want[share] += round;
    for (int share = 0; share < threads; ++share)
      CHECK(done[static_cast<size_t>(share)] == want[share]);
  }
}

TEST_CASE("the first share is computed by the thread that asks, the others are not") {
  const auto pool = thread_pool::start(3).value();
  std::array<std::thread::id, 3> who;
  pool->run(3, [&](int share) { who[static_cast<size_t>(share)] = std::this_thread::get_id(); });
  CHECK(who[0] == std::this_thread::get_id());
  CHECK(who[1] != who[0]);
  CHECK(who[2] != who[1]);
}

TEST_CASE("tiny numbers are zero on the threads that help, as where a program runs") {
  const auto pool = thread_pool::start(2).value();
  volatile float tiny = 1e-30f;
  std::array<float, 2> half{};
  pool->run(2, [&](int share) { half[static_cast<size_t>(share)] = tiny * 1e-9f; });
  CHECK(half[0] != 0);  // This thread's own setting is unchanged.
  CHECK(half[1] == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // Sanitizers end a process without free addresses.
TEST_CASE("a system without threads to give is an error, and those that were begun end") {
  // In a separate process, whose address space suffices for some stacks only.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit little{.rlim_cur = 512 << 20, .rlim_max = 512 << 20};
    setrlimit(RLIMIT_AS, &little);
    const auto pool = thread_pool::start(500);
    const bool named = !pool && pool.error().category == errc::resource_exhausted && pool.error().message.starts_with("intra_op_threads = 500: ");
    _exit(named ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

}  // namespace troupe
