// Holds the connections without a request in progress: new ones, those between two requests, and those that are ending.
// They take no thread, so that clients that send nothing, or one byte at a time, never delay another client's response.
#pragma once

#include "modules/http/exchange.hpp"
#include "modules/http/request_threads.hpp"

#include <poll.h>

#include <atomic>

namespace troupe {

class door {
 public:
  /// Accepts from `listening`, a non-blocking socket. `options` and `handler` outlive the door.
  door(descriptor listening, const http_options& options, const http_handler& handler);

  /// Runs until `stop` has been called and every request that has begun is answered.
  void run();
  void stop();  ///< Any thread.
  /// Any thread. False once the system has refused to accept more connections.
  bool accepts() const;

 private:
  using place = std::unique_ptr<connection>;

  // Called on the thread of `run`.
  void turn();
  void take_those_who_come_back();
  void accept_some();
  void make_room();
  bool is_empty();
  void look_at(place& p, bool is_ready);
  void look(place& p, bool is_ready);
  void let_in(place& p);
  void refuse(place& p, const refusal& why);
  void watch();
  steady::time_point next_deadline() const;

  // Called on the threads that answer: `many` for all requests, `apart` for those of `http_options::apart`, or `door`,
  // the thread of `run`, if the system can start no thread.
  enum class by : uint8_t { many, apart, door };
  void serve(place p, by thread);
  bool brings_another(connection& c);
  void come_back(place p);
  void end(place p);

  const http_options& options_;
  const http_handler& handler_;
  const connection_limits limits_;
  const descriptor listening_;
  const wake_up woken_;
  std::atomic<bool> ended_{false}, accepting_{true};
  std::vector<place> places_;    ///< In order of arrival; empty ones are erased at the end of a turn.
  std::vector<pollfd> watched_;  ///< The descriptors for poll: `woken_`, `listening_`, and those of `places_`.
  bool has_descriptors_ = true;  ///< False if the system had none for the last connection.
  std::mutex guard_;
  std::vector<place> back_;
  request_threads many_, apart_;
};

}  // namespace troupe
