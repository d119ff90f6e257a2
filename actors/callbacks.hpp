// The callbacks: call the user's hooks, on a thread of their own or one at a time on a user's thread, and the job's
// log. Apart from infeeds with their input functions, the only actor of training that runs user code.
#pragma once

#include "actors/hook_calls.hpp"
#include "actors/hook_roll.hpp"
#include "actors/listener_roll.hpp"
#include "messages/interfaces.hpp"

namespace troupe {

struct callbacks_options {
  node_id id{};
  std::string name = "callbacks";
  std::vector<std::shared_ptr<hook>> hooks;                      ///< No pointer is null.
  std::vector<std::shared_ptr<saving_listener>> listeners = {};  ///< Called before the hooks; no pointer is null.
  std::shared_ptr<run_port> runs = {};                           ///< Of a session; may be null.
  std::shared_ptr<hook> log;  ///< Receives events before the hooks, on the callbacks' own thread; may be null.
  std::shared_ptr<hook_calls> hook_thread = std::make_shared<hook_calls>();
};

struct callbacks_state {
  static inline const char* name = "callbacks";
  callbacks_actor::stateful_pointer<callbacks_state> self = nullptr;
  callbacks_options options;
  activity spent;  ///< See counted.hpp.
  hook_listener_actor driver;
  hook_roll hooks;
  listener_roll listeners;
  /// The hooks have seen the end; later facts are answered without being shown.
  bool ended = false;

  void on_fact(const fact& x);
  void show(const fact& x);
  void fail_at(int64_t step, error cause);
};

callbacks_actor::behavior_type callbacks(callbacks_actor::stateful_pointer<callbacks_state> self,
                                         callbacks_options options, hook_listener_actor driver);

}  // namespace troupe
