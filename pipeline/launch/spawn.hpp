// Spawns the actors of a job, on their own threads or on a scheduler. In both cases an exception in a handler, or a
// failure before the first handler, becomes the exit reason that the actor's monitors receive.
#pragma once

#include "actors/exit_reason.hpp"
#include "pipeline/launch/actor_thread.hpp"
#include "pipeline/launch/carriage.hpp"

#include <caf/actor_system.hpp>
#include <caf/detail/private_thread.hpp>
#include <caf/scheduled_actor.hpp>

#include <exception>
#include <optional>
#include <system_error>

namespace troupe {

/// Options for spawning an actor.
struct spawn_options {
  bool own_thread = false;                ///< For an actor that may block.
  carrier* messages = nullptr;            ///< Carries the actor's messages; null: they go straight to its mailbox.
  std::optional<int32_t> processor = {};  ///< Its own thread runs on this processor only; absent: on any.
  /// Where to say that the system refuses the processor, so that the thread runs on any; null: nowhere.
  std::error_code* refusal = nullptr;
};

/// An actor that may have a carrier and an existing thread. CAF infers `Base` from the actor's function.
template <class Base>
class job_actor final : public Base, public carried_actor {
 public:
  job_actor(caf::actor_config& config, carrier* messages, std::optional<actor_thread> thread)
    : Base(config), carrier_(messages), thread_(std::move(thread)) {
    this->set_exception_handler([](caf::scheduled_actor*, std::exception_ptr& thrown) { return to_reason(thrown); });
  }

  void launch(caf::execution_unit* unit, bool lazy, bool hide) override {
    if (!thread_)
      return Base::launch(unit, lazy, hide);
    // As in CAF, except that the thread exists already.
    auto* const on = this->private_thread_ = new caf::detail::private_thread{this};
    if (!hide)
      this->register_at_system();
    thread_->run([on] { caf::detail::private_thread::exec(on); });
  }

  using Base::enqueue;
  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* unit) override {
    if (carrier_)
      carrier_->carry(*this, std::move(message), unit);
    else
      Base::enqueue(std::move(message), unit);
  }
  void deliver(caf::mailbox_element_ptr message, caf::execution_unit* unit) override {
    Base::enqueue(std::move(message), unit);
  }
  caf::resumable* scheduled() noexcept override { return this; }

 private:
  carrier* carrier_;
  std::optional<actor_thread> thread_;
};

/// Spawns `f(self, xs...)` as an actor. If no thread can be created, the returned actor ends at once with that error as
/// its exit reason.
template <class F, class... Ts>
caf::infer_handle_from_fun_t<F> spawn_actor(caf::actor_system& system, spawn_options how, F f, Ts&&... xs) {
  using base = caf::infer_impl_from_fun_t<F>;
  using actor = job_actor<base>;
  caf::actor_config config;
  std::optional<actor_thread> thread;
  if (how.own_thread) {
    auto made = actor_thread::start(how.processor);
    if (!made) {
      config.init_fun = caf::actor_config::init_fun_type{
          [reason = to_reason(made.error())](caf::local_actor* self) -> caf::behavior {
            static_cast<base*>(self)->quit(reason);
            return {};
          }};
      return system.spawn_impl<actor, caf::no_spawn_options>(config, how.messages, std::optional<actor_thread>{});
    }
    if (how.refusal)
      *how.refusal = made->refusal();
    thread.emplace(std::move(*made));
  }
  caf::detail::init_fun_factory<base, F> factory;
  config.init_fun = factory(std::move(f), std::forward<Ts>(xs)...);
  return how.own_thread ? system.spawn_impl<actor, caf::detached>(config, how.messages, std::move(thread))
                        : system.spawn_impl<actor, caf::no_spawn_options>(config, how.messages, std::move(thread));
}

}  // namespace troupe
