// The fixture of most actor tests: CAF's deterministic scheduler, messages first in, first out, and a clock moved by
// hand.
#pragma once

#include "messages/interfaces.hpp"
#include "support/ids.hpp"
#include "support/recorder.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

namespace troupe::test {

class simulation {
 public:
  simulation() : system(config), schedule(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())) {}
  ~simulation() {
    // The destructor of CAF's system waits for every actor, so the actors of a test end here.
    for (const auto& actor : spawned_)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
    spawned_.clear();
    run();
  }

  template <class F, class... Ts>
  auto spawn(F f, Ts&&... xs) {
    auto handle = system.spawn(f, std::forward<Ts>(xs)...);
    spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(handle));
    return handle;
  }
  template <class... Ms>
  recorder<Ms...> record() {
    return keep(recorder<Ms...>{system});
  }
  /// Ends the recorder together with the test.
  template <class... Ms>
  recorder<Ms...> keep(recorder<Ms...> r) {
    spawned_.push_back(r.address());
    return r;
  }

  /// Sends a message, and runs until no message is left that is due without a delay.
  template <class Handle, class M>
  void tell(const Handle& to, M message) {
    caf::anon_send(to, std::move(message));
    run();
  }
  /// As `tell`, with `from` as the sender.
  template <class From, class Handle, class M>
  void tell_as(const From& from, const Handle& to, M message) {
    caf::send_as(from, to, std::move(message));
    run();
  }
  void run() {
    while (!schedule.jobs.empty())
      schedule.run_once();
  }
  /// Moves the clock in one leap, as if the process had been stopped meanwhile.
  void advance_time(caf::timespan by) {
    schedule.advance_time(by);
    run();
  }
  /// Moves the clock in small steps, so that every timer runs at its time.
  void let_pass(caf::timespan by) {
    for (const auto end = schedule.clock().now() + by; schedule.clock().now() < end;)
      advance_time(std::min<caf::timespan>(std::chrono::milliseconds{50}, end - schedule.clock().now()));
  }
  /// Moves the clock from within a handler, as if the handler took that long.
  void take_time(caf::timespan by) { schedule.clock().current_time += by; }

 private:
  struct settings : caf::actor_system_config {
    settings() {
      add_message_types<caf::id_block::troupe>();
      set("scheduler.policy", caf::atom("testing"));
      set("logger.verbosity", caf::atom("quiet"));
    }
  };
  settings config;
  std::vector<caf::strong_actor_ptr> spawned_;

 public:
  caf::actor_system system;
  caf::scheduler::test_coordinator& schedule;
};

}  // namespace troupe::test
