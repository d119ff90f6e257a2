// What a session costs: runs of 1 step beside hand-overs between sleeping threads, and runs of 1 to 1,000 steps beside
// the job itself, of a network so small that only the way there counts.
#include "tests/bench/gated_job.hpp"
#include "tests/bench/measured_session.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe::bench {
namespace {

/// A turn that two threads hand to each other; each sleeps until it has it.
class two_threads {
 public:
  two_threads() : other_([this] { serve(); }) {}
  ~two_threads() {
    hand(2);
    other_.join();
  }
  /// Makes `n` hand-overs, rounded up to an even number.
  void hand_over(int64_t n) {
    for (int64_t i = 0; i < n; i += 2) {
      hand(1);
      std::unique_lock lock{guard_};
      changed_.wait(lock, [this] { return turn_ == 0; });
    }
  }

 private:
  void hand(int to) {
    {
      const std::lock_guard lock{guard_};
      turn_ = to;
    }
    changed_.notify_all();
  }
  void serve() {
    for (;;) {
      {
        std::unique_lock lock{guard_};
        changed_.wait(lock, [this] { return turn_ != 0; });
        if (turn_ == 2)
          return;
      }
      hand(0);
    }
  }
  std::mutex guard_;
  std::condition_variable changed_;
  int turn_ = 0;
  std::thread other_;
};

void compare_run(suite& s, const std::string& name, measured_session& ours, int64_t hand_overs) {
  two_threads pair;
  s.compare({.name = "session/" + name,
             .unit = "runs/s",
             .reference_name = std::to_string(hand_overs) + " hand-overs",
             .rounds = 21,
             .seconds = 0.25,
             .clock = clock_kind::wall},
            ours.runs_of(1), [&](int64_t n) { pair.hand_over(n * hand_overs); });
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  bench::suite s{"session", argc, argv};
  {
    bench::measured_session plain;
    bench::compare_run(s, "run of 1", plain, 6);
    for (const int64_t steps : {1, 10, 100, 1000}) {
      bench::gated_job job{bench::small_job(), 1000};
      s.compare({.name = "session/runs of " + std::to_string(steps),
                 .reference_name = "the job",
                 .rounds = 15,
                 .seconds = 0.25,
                 .clock = bench::clock_kind::wall,
                 .granule = 1000},
                plain.runs_of(steps), [&](int64_t n) { job.run(n); });
    }
  }
  bench::measured_session with_hook{{std::make_shared<bench::watcher>()}};
  bench::compare_run(s, "run of 1, a hook", with_hook, 8);
  bench::measured_session with_run_hook{{std::make_shared<bench::quiet>()}};
  bench::compare_run(s, "run of 1, a run hook", with_run_hook, 10);
}
