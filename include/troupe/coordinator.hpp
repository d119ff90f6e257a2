// Coordinators: threads of a program that end together, and the first error of any of them.
// Not needed to begin with.
//
//   tr::coordinator together;
//   std::thread reader{[together, here = together.enlist("reader")]() mutable {
//     together.stop_on_error([&] { return read_all(together); });   // looks at together.should_stop() now and then
//     here.leave();
//   }};
//   ...
//   auto ended = together.join();   // the first error, or state: "reader" has not ended
//
// A coordinator is a handle: copies are the same coordinator. It starts no thread. Any thread may make any call.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace troupe {

/// The time of a coordinator. The default is the system's steady clock; tests move theirs by hand.
class TROUPE_API coordinator_clock {
 public:
  using time = std::chrono::steady_clock::time_point;
  virtual ~coordinator_clock();
  virtual time now() = 0;
  /// Waits for a notification or, if there is one, for the deadline. May return earlier.
  virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                    std::optional<time> deadline) = 0;
};

struct coordinator_options {
  std::set<errc> clean = {errc::out_of_range};  ///< Errors of these categories ask for a stop and are no errors.
  /// A stop by an error of these categories passes: whoever joins makes the error good and begins anew
  /// (`join_options::begins_anew`). A session's coordinator has `aborted` and `unavailable` (session.hpp).
  std::set<errc> passing = {};
  std::shared_ptr<coordinator_clock> clock = {};  ///< Null: the steady clock.
};

struct join_options {
  std::chrono::milliseconds grace{120'000};  ///< How long threads may take to end after the stop.
  bool ignore_live = false;                  ///< Threads that have not ended then are no error, but a line of `log`.
  bool begins_anew = false;  ///< The coordinator is then as after `clear_stop`: no stop request gets lost between.
  std::function<void(const std::string& line)> log = {};  ///< Empty: standard error.
};

struct loop_options {
  /// From the beginning of one call to that of the next. None: back to back. Calls are due on a grid from the first one
  /// on; those that a long call has delayed follow at once.
  std::optional<std::chrono::milliseconds> every = {};
  std::function<void()> begin = {};  ///< Before the first call.
  std::function<void()> end = {};    ///< After the last one, unless that failed.
  std::function<bool()> until = {};  ///< Asked before each call, on its thread: true ends the loop, as a stop does.
};

class TROUPE_API coordinator {
 public:
  explicit coordinator(coordinator_options options = {});
  coordinator(const coordinator&) = default;  // A move is a copy.
  coordinator& operator=(const coordinator&) = default;

  /// Asks all threads to end. Of the requests until `join` the first counts: its error, if there is one and it is not
  /// clean, is kept, and later ones are dropped. After `join` nobody would hear of an error: it is returned.
  expected<void> request_stop(std::optional<error> cause = {});
  bool should_stop() const;
  /// Whether an error of this category is one (`coordinator_options::clean`).
  bool is_clean(errc category) const;
  /// Whether a stop by an error of this category passes (`coordinator_options::passing`).
  bool is_passing(errc category) const;
  /// Returns whether a stop was requested, after at most `patience`.
  bool wait_for_stop(std::chrono::milliseconds patience) const;
  /// Calls `what` once when a stop is requested, at once if it was, on the thread of the request. Not after the
  /// returned object has gone; its destruction waits for a call under way. An exception of `what` is dropped.
  [[nodiscard]] std::shared_ptr<void> at_stop(std::function<void()> what) const;
  /// The same once it is certain that threads end: at a stop that does not pass, else at a join that does not begin
  /// anew.
  [[nodiscard]] std::shared_ptr<void> at_end(std::function<void()> what) const;
  /// The error that a stop request has brought.
  std::optional<error> requested_error() const;
  struct stop_request {
    std::optional<error> cause = {};
  };
  /// The stop request that counts, if there was one: `should_stop` and `requested_error` at one moment.
  std::optional<stop_request> requested() const;
  /// Calls `work`, which may return an expected value. Its error, or its exception, is a stop request.
  template <class Work>
  void stop_on_error(Work&& work) {
    static_cast<void>(request_unless(attempt([&]() -> expected<void> {
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
      } else if (auto result = work(); !result) {
        return fail(std::move(result.error()));
      }
      return {};
    })));
  }

  /// A thread that `join` waits for, until `leave` is called or the object is destroyed.
  class TROUPE_API membership {
   public:
    membership(membership&&) noexcept;
    membership& operator=(membership&&) noexcept;
    ~membership();
    void leave() noexcept;

   private:
    friend class coordinator;
    struct impl;
    explicit membership(std::unique_ptr<impl> i) noexcept;
    std::unique_ptr<impl> impl_;
  };
  /// `name` is for errors.
  membership enlist(std::string name);
  /// The same of a thread that goes on through stops that pass, and ends `at_end`: a join that begins anew after such a
  /// stop does not wait for it and does not forget it.
  membership enlist_until_end(std::string name);

  /// Waits until all that have enlisted have left or a stop is requested; then up to `grace` for those that are left.
  /// The kept error; otherwise state, naming who has not left, unless that is ignored. Forgets everybody.
  expected<void> join(const join_options& options = {});
  /// Makes the coordinator as new: no stop, no error, not joined.
  void clear_stop();

  /// Calls `work` until a stop is requested, on the calling thread. An error or exception of any of the functions is a
  /// stop request, ends the loop and is returned.
  expected<void> loop(const std::function<expected<void>()>& work, const loop_options& options = {});

 private:
  struct shared;
  static expected<void> attempt(const std::function<expected<void>()>& work);
  expected<void> request_unless(expected<void> done);

  std::shared_ptr<shared> shared_;
};

}  // namespace troupe
