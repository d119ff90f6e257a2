#include "compute/program/thread_pool.hpp"

#include "words/affinity.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <future>
#include <string>

namespace troupe {

TEST_CASE("a pool computes every share once, and returns when all are done") {
  for (int threads : {1, 2, 3, 5}) {
    CAPTURE(threads);
    const auto pool = thread_pool::start(threads).value();
    CHECK(pool->threads() == threads);
    std::array<int64_t, 5> done{};  // Not atomic, so that the pool must synchronise.
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

TEST_CASE("shares are computed at the same time, the first one by the thread that asks") {
  const auto pool = thread_pool::start(3).value();
  std::array<std::thread::id, 3> who;
  std::atomic<int> begun = 0;
  pool->run(3, [&](int share) {
    who[static_cast<size_t>(share)] = std::this_thread::get_id();
    for (++begun; begun < 3;)
      std::this_thread::yield();
  });
  CHECK(who[0] == std::this_thread::get_id());
  CHECK(who[1] != who[0]);
  CHECK(who[2] != who[1]);
  CHECK(who[2] != who[0]);
}

namespace {

/// Holds all other threads of this process in a signal handler until `release`, as if the system gave them no
/// processor. Uses SIGTRAP because the thread sanitizer delivers it at once, as a signal of its own kind; it delays
/// others until the thread's next call of a function that it intercepts.
class held_threads {
 public:
  /// Constructed before the threads, and closed after they have ended.
  struct pipes {
    pipes() {
      REQUIRE(::pipe(gate) == 0);
      REQUIRE(::pipe(held) == 0);
    }
    pipes(const pipes&) = delete;
    ~pipes() {
      for (const int end : {gate[0], gate[1], held[0], held[1]})
        ::close(end);
    }
  };
  /// Waits until `held_at_least` threads are held. A sanitizer's own threads do not react to the signal.
  explicit held_threads(int held_at_least) {
    struct sigaction hold {};
    hold.sa_handler = [](int) {
      char one = 0;
      [[maybe_unused]] const auto told = ::write(held[1], &one, 1);
      [[maybe_unused]] const auto let = ::read(gate[0], &one, 1);
    };
    REQUIRE(::sigaction(SIGTRAP, &hold, &before_) == 0);
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"})
      if (const auto id = static_cast<pid_t>(std::stol(entry.path().filename())); id != ::gettid()) {
        REQUIRE(::tgkill(::getpid(), id, SIGTRAP) == 0);
        ++count_;
      }
    char one = 0;
    for (int i = 0; i < held_at_least; ++i)
      REQUIRE(::read(held[0], &one, 1) == 1);
  }
  void release() {
    for (; count_ > 0; --count_)
      REQUIRE(::write(gate[1], "", 1) == 1);
  }
  ~held_threads() {
    release();
    ::sigaction(SIGTRAP, &before_, nullptr);
  }

 private:
  static inline int gate[2], held[2];
  struct sigaction before_ {};
  int count_ = 0;
};

}  // namespace

TEST_CASE("helpers run on the processors that a pool is given, also if a thread that is bound to one starts them") {
  const auto all = allowed_processors();
  REQUIRE_FALSE(all.empty());
  // Where the helper of a pool may run that is started by a thread which is bound to the first processor.
  const auto helper_of = [&](const std::vector<int32_t>& given) {
    std::vector<int32_t> found;
    std::promise<void> go;
    std::thread starter{[&, ready = go.get_future()] {
      ready.wait();
      const auto pool = thread_pool::of(2, given);
      if (!pool->begin(2))
        return;
      const auto me = std::this_thread::get_id();
      for (std::atomic<bool> known{false}; !known;)
        pool->run(2, [&](int share) {
          for (int i = 0; share == 0 && i < 1000 && !known; ++i)
            std::this_thread::yield();  // So that the helper takes its share first.
          if (share == 0 || std::this_thread::get_id() == me)
            return;
          found = allowed_processors();
          known = true;
        });
    }};
    CHECK_FALSE(restrict_to(starter, {all.data(), 1}));
    go.set_value();
    starter.join();
    return found;
  };
  CHECK(helper_of(all) == all);
  CHECK(helper_of({}) == std::vector<int32_t>{all.front()});
}

TEST_CASE("shares whose threads get no processor are computed by the thread that asks") {
  const held_threads::pipes ends;
  const auto pool = thread_pool::start(3).value();
  std::array<std::thread::id, 3> who;
  const auto ask = [&] {
    pool->run(3, [&](int share) { who[static_cast<size_t>(share)] = std::this_thread::get_id(); });
  };
  held_threads others{2};
  for (int round = 0; round < 3; ++round) {
    who = {};
    ask();
    for (const auto& id : who)
      CHECK(id == std::this_thread::get_id());
  }
  others.release();
  int64_t sum = 0;
  std::array<int64_t, 3> done{};
  for (int round = 0; round < 1000; ++round)  // A thread that comes late must not compute a share a second time.
    pool->run(3, [&](int share) { done[static_cast<size_t>(share)] += round; });
  for (const auto d : done)
    sum += d;
  CHECK(sum == 3 * 499500);
}

TEST_CASE("a pool starts no thread before it is told to, and then those that are missing") {
  const auto pool = thread_pool::of(4);
  const auto threads_now = [] { return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}); };
  const auto before = threads_now();
  CHECK(pool->threads() == 4);
  REQUIRE(pool->begin(2).has_value());
  CHECK(threads_now() == before + 1);
  REQUIRE(pool->begin(4).has_value());
  CHECK(threads_now() == before + 3);
  REQUIRE(pool->begin(3).has_value());
  CHECK(threads_now() == before + 3);
}

TEST_CASE("tiny numbers are zero on the threads that help, as where a program runs") {
  const auto pool = thread_pool::start(2).value();
  volatile float tiny = 1e-30f;
  std::array<float, 2> half{};
  pool->run(2, [&](int share) { half[static_cast<size_t>(share)] = tiny * 1e-9f; });
  CHECK(half[0] != 0);  // The setting of this thread is unchanged.
  CHECK(half[1] == 0);
}

// Sanitizers end a process that runs out of addresses.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a system without threads to give is an error, and those that were begun end") {
  // A child process whose address space suffices for only some of the stacks.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit little{.rlim_cur = 512 << 20, .rlim_max = 512 << 20};
    setrlimit(RLIMIT_AS, &little);
    const auto pool = thread_pool::start(500);
    const bool named = !pool && pool.error().category == errc::resource_exhausted
                       && pool.error().message.starts_with("intra_op_threads = 500: ");
    _exit(named ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

}  // namespace troupe
