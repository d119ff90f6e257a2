// What messages cost. A block of batches, a report of steps and an entry of a host call are sent to an actor with a
// thread of its own, 64 before the sender waits, beside a queue with a mutex between two threads. Then, in a whole job
// at 10-16-2: the messages and allocations of its steps, what the actors' accounts of their time cost, and what the job
// costs while it is paused.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/local_system.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "tests/bench/processor_share.hpp"
#include "tests/bench/whole_job.hpp"
#include "words/activity.hpp"

#include <troupe/job_report.hpp>

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

static std::atomic<int64_t> allocations{0};

// Takes the place of the C library's; operator new ends here too.
extern "C" {
void* __libc_malloc(size_t size);
void* malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
}

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;

constexpr int64_t window = 64;

/// Lets the sender wait for the end of a window.
class window_end {
 public:
  void handled() {
    if (++handled_ % window != 0)
      return;
    const std::lock_guard lock{guard_};
    ended_ = handled_;
    changed_.notify_one();
  }
  void wait_for(int64_t messages) {
    std::unique_lock lock{guard_};
    changed_.wait(lock, [&] { return ended_ >= messages; });
  }

 private:
  int64_t handled_ = 0;
  std::mutex guard_;
  std::condition_variable changed_;
  int64_t ended_ = 0;
};

template <class M>
class to_an_actor {
 public:
  explicit to_an_actor(M sample) : sample_(std::move(sample)) {
    handle_ = (**system_).spawn<caf::detached>([this](typename actor::pointer) {
      return typename actor::behavior_type{[this](const M&) { end_.handled(); }};
    });
  }
  ~to_an_actor() { caf::anon_send_exit(handle_, caf::exit_reason::user_shutdown); }
  to_an_actor(const to_an_actor&) = delete;
  to_an_actor& operator=(const to_an_actor&) = delete;

  void send(int64_t messages) {
    for (int64_t i = 0; i < messages; ++i) {
      caf::anon_send(handle_, sample_);
      if (++sent_ % window == 0)
        end_.wait_for(sent_);
    }
  }

 private:
  using actor = caf::typed_actor<caf::reacts_to<M>>;
  M sample_;
  int64_t sent_ = 0;
  window_end end_;
  std::unique_ptr<local_system> system_ = must(local_system::make());  // As that of a job.
  actor handle_;
};

template <class M>
class through_a_queue {
 public:
  explicit through_a_queue(M sample)
    : sample_(std::move(sample)), reader_([this](std::stop_token stop) { read(stop); }) {}

  void send(int64_t messages) {
    for (int64_t i = 0; i < messages; ++i) {
      {
        const std::lock_guard lock{guard_};
        queue_.push_back(sample_);
      }
      changed_.notify_one();
      if (++sent_ % window == 0)
        end_.wait_for(sent_);
    }
  }

 private:
  void read(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock{guard_};
      if (!changed_.wait(lock, stop, [&] { return !queue_.empty(); }))
        return;
      const M one = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      end_.handled();
    }
  }

  M sample_;
  int64_t sent_ = 0;
  window_end end_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::deque<M> queue_;
  std::jthread reader_;
};

template <class M>
void compare_message(suite& s, const std::string& name, const M& sample) {
  to_an_actor<M> ours{sample};
  through_a_queue<M> reference{sample};
  s.compare(
      {.name = name,
       .unit = "messages/s",
       .reference_name = "a queue with a mutex",
       .rounds = 9,
       .seconds = 0.2,
       .clock = clock_kind::wall,
       .granule = window},
      [&](int64_t n) { ours.send(n); }, [&](int64_t n) { reference.send(n); });
  const auto made_by = [](auto& way) {
    const int64_t before = allocations;
    way.send(100 * window);
    return static_cast<double>(allocations - before) / (100 * window);
  };
  char text[96];
  std::snprintf(text, sizeof text, "%.1f allocations each; by the queue %.1f", made_by(ours), made_by(reference));
  s.note(text);
}

void compare_messages(suite& s) {
  const std::vector<tensor> batch{tensor::zeros(dtype::float32, {256, 10}), tensor::zeros(dtype::int32, {256})};
  compare_message(s, "block of 8 batches", block{1, edge_id{0}, 0, 8, 0, 32, batch});
  step_report report{1, node_id{1}, 8, std::vector<double>(8), {}, {}};
  compare_message(s, "report of 8 steps", report);
  compare_message(s, "entry of a host call", block{1, edge_id{1}, 0, 1, 0, 32, {batch.front()}});
}

int64_t messages_in(const job_report& r) {
  return std::accumulate(r.actors.begin(), r.actors.end(), int64_t{0},
                         [](int64_t sum, const actor_report& a) { return sum + a.messages; });
}

/// Nanoseconds of keeping account of one message.
double counting_ns() {
  activity spent{0};
  const auto clock_ns = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(caf::actor_clock::clock_type::now().time_since_epoch())
        .count();
  };
  constexpr int64_t times = 1'000'000;
  const double began = now(clock_kind::thread);
  for (int64_t i = 0; i < times; ++i) {
    spent.work(clock_ns(), i, typeid(block), i % 7);
    spent.wait(clock_ns(), wait_cause::input, i % 3);
  }
  const double taken = now(clock_kind::thread) - began;
  return spent.counts(clock_ns()).messages == times ? 1e9 * taken / static_cast<double>(times) : 0;
}

void measure_job(suite& s) {
  const auto m = dense_model({10, 16, 2}, 32);
  const auto job = local_launcher{}.train(must(prepare(whole_job(m))));
  const double each_ns = counting_ns();
  std::this_thread::sleep_for(500ms);
  std::vector<double> made, sent, with, without;
  auto before = must(job->report(10s));
  for (int round = 0; round < 9; ++round) {
    const int64_t made_before = allocations;
    std::this_thread::sleep_for(500ms);
    const int64_t made_now = allocations - made_before;
    const auto after = must(job->report(10s));
    const auto part = since(after, before);
    const auto steps = static_cast<double>(after.step - before.step);
    made.push_back(1e3 * static_cast<double>(made_now) / steps);
    sent.push_back(1e3 * static_cast<double>(messages_in(part)) / steps);
    with.push_back(1e9 * part.seconds / steps);
    without.push_back(with.back() - each_ns * sent.back() / 1e3);
    before = after;
  }
  s.compare({.name = "allocations, " + m.name, .unit = "/1,000 steps", .reference_name = "messages"}, made, sent, true);
  s.compare({.name = "step, " + m.name, .unit = "ns", .reference_name = "without keeping account of time"}, with,
            without, true);
  job->pause();
  must(job->report(10s));  // The chief answers in order: it has heard of the pause.
  if (!job->progress().paused) {
    std::fprintf(stderr, "bench_messages: the job has not paused\n");
    std::exit(1);
  }
  std::vector<double> paused, asked;
  for (int round = 0; round < 5; ++round) {
    paused.push_back(100 * share_of_core([] { std::this_thread::sleep_for(2s); }));
    const double other = 100 * share_of_core([&] {
                           for (const double until = now(clock_kind::wall) + 2; now(clock_kind::wall) < until;) {
                             static_cast<void>(job->progress());
                             std::this_thread::sleep_for(10ms);
                           }
                         });
    asked.push_back(other);
  }
  s.compare({.name = "paused", .unit = "% core", .reference_name = "asked every 10 ms"}, paused, asked, true);
  job->abort();
  static_cast<void>(job->wait(30s));
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  suite s{"messages", argc, argv};
  compare_messages(s);
  measure_job(s);
}
