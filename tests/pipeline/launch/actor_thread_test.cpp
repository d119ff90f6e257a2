// A thread that waits for work, and actors that report why they ended.
#include "pipeline/launch/actor_thread.hpp"

#include "pipeline/launch/local_system.hpp"
#include "pipeline/launch/spawn.hpp"
#include "words/affinity.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <doctest/doctest.h>

#include <new>
#include <stdexcept>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

caf::behavior thrower(caf::event_based_actor*) {
  return {[](int what) {
    if (what == 1)
      throw std::runtime_error{"the third wheel came off"};
    throw std::bad_alloc{};
  }};
}

/// The exit reason of an actor that receives `what`.
caf::error end_of(caf::actor_system& system, bool own_thread, int what) {
  caf::scoped_actor me{system};
  const auto node = spawn_actor(system, {.own_thread = own_thread}, thrower);
  me->monitor(node);
  me->send(node, what);
  caf::error reason;
  bool told = false;
  me->receive([&](const caf::down_msg& x) { reason = x.reason, told = true; }, caf::after(60s) >> [] {});
  CHECK(told);
  return reason;
}

}  // namespace

TEST_CASE("a thread does what it is given later, once") {
  auto thread = actor_thread::start();
  REQUIRE(thread);
  std::promise<int> done;
  thread->run([&done] { done.set_value(7); });
  auto answer = done.get_future();
  REQUIRE(answer.wait_for(60s) == std::future_status::ready);
  CHECK(answer.get() == 7);
}

TEST_CASE("an actor's thread runs on the processor that it is given; one that is refused leaves it where it may run") {
  auto system = local_system::make();
  REQUIRE(system);
  const auto all = allowed_processors();
  auto given = all;
  given.push_back(1023);
  for (const auto p : given) {
    CAPTURE(p);
    std::error_code refusal;
    caf::scoped_actor me{***system};
    const auto node = spawn_actor(***system, {.own_thread = true, .processor = p, .refusal = &refusal},
                                  [](caf::event_based_actor*) -> caf::behavior {
                                    return {[](int) {
                                      std::string text;
                                      for (const auto own : allowed_processors())
                                        text += std::to_string(own) + " ";
                                      return text;
                                    }};
                                  });
    std::string where, wanted;
    me->request(node, 60s, 0).receive([&](const std::string& text) { where = text; }, [](const caf::error&) {});
    for (const auto own : p == 1023 ? all : std::vector<int32_t>{p})
      wanted += std::to_string(own) + " ";
    CHECK(where == wanted);
    CHECK((refusal == std::errc::invalid_argument) == (p == 1023));
    caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
  }
}

TEST_CASE(
    "an exception that leaves a handler is the actor's exit reason, with its text, on its own thread and on the "
    "scheduler") {
  auto system = local_system::make();
  REQUIRE(system);
  for (const bool own_thread : {true, false}) {
    const auto thrown = end_of(***system, own_thread, 1);
    CHECK(describe(thrown) == "an exception left a handler: the third wheel came off");
    CHECK(category_of(thrown) == errc::aborted);
    const auto hungry = end_of(***system, own_thread, 2);
    CHECK(describe(hungry) == "there is no more memory");
    CHECK(category_of(hungry) == errc::resource_exhausted);
  }
}

TEST_CASE("a system of ours delivers what is due later, and ends with messages still on their way") {
  for (int i = 0; i < 20; ++i) {
    auto system = local_system::make();
    REQUIRE(system);
    caf::scoped_actor me{***system};
    const auto echo = spawn_actor(***system, {}, [](caf::event_based_actor* self) -> caf::behavior {
      return {[self](int x) {
        if (const auto asker = caf::actor_cast<caf::actor>(self->current_sender()))
          self->delayed_send(asker, 1ms, x);
      }};
    });
    me->send(echo, i);
    int got = -1;
    me->receive([&](int x) { got = x; }, caf::after(60s) >> [] {});
    CHECK(got == i);
    for (int more = 0; more < 100; ++more)
      caf::anon_send(echo, more);
    caf::anon_send_exit(echo, caf::exit_reason::user_shutdown);
  }
}

}  // namespace troupe::test
