// Where connections are that have no request: new ones, those between two requests, and those that are at their end. They take no thread,
// so that however many clients send nothing, or a head byte by byte, they keep nobody else from an answer.
#pragma once

#include "modules/http/exchange.hpp"
#include "modules/http/request_threads.hpp"

#include <atomic>

#include <poll.h>

namespace troupe {

class door {
 public:
  /// Accepts from `listening`, a socket that does not block. `options` and `handler` outlive it.
  door(descriptor listening, const http_options& options, const http_handler& handler);

  /// Until `stop`, and until every request that has begun is answered.
  void run();
  void stop();                   ///< Any thread.
  bool accepts() const;          ///< Any thread. False once the system has refused to let more connections in.

 private:
  using place = std::unique_ptr<connection>;

  // Of the thread that runs.
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

  // Of the threads that answer: of those for all requests, of those for requests that take no time, or of the one above, where the system has
  // no thread more.
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
  std::vector<place> places_;    ///< In the order in which they came; empty places go at the end of a turn.
  std::vector<pollfd> watched_;  ///< What wakes this thread, what lets connections in, and the places.
  bool has_descriptors_ = true;  ///< False: the system had none for the last connection.
  std::mutex guard_;
  std::vector<place> back_;
  request_threads many_, apart_;
};

}  // namespace troupe
