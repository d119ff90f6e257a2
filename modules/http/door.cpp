#include "modules/http/door.hpp"

#include <climits>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// After the response that ends a connection, a client that has sent nothing for this long is taken to have the
/// response. The wait is shorter once the server stops.
constexpr steady::duration lingering = 2s, lingering_at_the_end = 100ms;
/// The pause before accepting is tried again when the system had no descriptors.
constexpr auto without_descriptors = 10ms;
constexpr size_t threads_apart = 2, places_of_a_thread = 4;
/// At most so many are accepted in one turn, so that the connections that wait already get their turn.
constexpr int accepted_at_once = 32;

steady::duration seconds(double s) {
  return std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>(s));
}

connection_limits limits_of(const http_options& o) {
  // Chunk headers and bad compression make a body longer as sent, hence the factor 2 and 64 KiB.
  return {seconds(o.read_secs), seconds(o.request_secs), seconds(o.idle_secs),
          2 * static_cast<uint64_t>(o.body_bytes_max) + (uint64_t{1} << 16)};
}

/// Connections that wait for a thread use at most half of this process's descriptors.
size_t waiting_max(const http_options& o) {
  rlimit files{};
  const size_t half = ::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY ? files.rlim_cur / 2
                                                                                                 : SIZE_MAX;
  return std::max<size_t>(1, std::min(half, static_cast<size_t>(o.requests_max)));
}

/// Whether the threads that are reserved for such requests answer it.
bool is_apart(const request_head& head, const http_options& o) {
  return (head.method == "GET" || head.method == "HEAD") && !head.has_body()
         && std::find(o.apart.begin(), o.apart.end(), head.path) != o.apart.end();
}

}  // namespace

door::door(descriptor listening, const http_options& options, const http_handler& handler)
  : options_(options), handler_(handler), limits_(limits_of(options)), listening_(std::move(listening)),
    many_(static_cast<size_t>(options.connections_max), waiting_max(options),
          [this](place p) { serve(std::move(p), by::many); }),
    apart_(threads_apart, waiting_max(options), [this](place p) { serve(std::move(p), by::apart); }) {}

void door::stop() {
  ended_ = true;
  ::shutdown(listening_.fd(), SHUT_RDWR);
  woken_.set();
}

bool door::accepts() const { return accepting_; }

// -- the thread that runs -----------------------------------------------------------

void door::run() {
  const auto waits = [](const place& p) { return !p->lingers(); };
  while (!ended_ || std::any_of(places_.begin(), places_.end(), waits))
    turn();
  many_.end();
  apart_.end();
  while (!is_empty())
    turn();
}

bool door::is_empty() {
  const std::lock_guard held{guard_};
  return places_.empty() && back_.empty();
}

void door::turn() {
  try {
    take_those_who_come_back();
    // `stop` may have woken this thread before this turn cleared the signal: only this check then closes connections
    // without a request.
    if (ended_) {
      for (auto& p : places_)
        look_at(p, false);
      std::erase(places_, nullptr);
      if (places_.empty())
        return;
    }
    watch();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_deadline() - steady::now()).count();
    if (::poll(watched_.data(), watched_.size(), static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX))) < 0)
      return;
    for (size_t i = 0; i < places_.size(); ++i)
      look_at(places_[i], watched_[2 + i].revents != 0);
    has_descriptors_ = true;
    if (watched_[1].revents != 0)
      accept_some();
  } catch (const std::bad_alloc&) {  // The new connection is dropped; the next one may find memory.
  }
  std::erase(places_, nullptr);
}

void door::watch() {
  watched_.assign(
      {{woken_.fd(), POLLIN, 0}, {accepting_ && has_descriptors_ && !ended_ ? listening_.fd() : -1, POLLIN, 0}});
  for (const auto& p : places_)
    watched_.push_back({p->fd(), POLLIN, 0});
}

steady::time_point door::next_deadline() const {
  auto next = steady::now() + (has_descriptors_ ? steady::duration{1h} : steady::duration{without_descriptors});
  for (const auto& p : places_)
    next = std::min(next, p->deadline());
  return next;
}

void door::take_those_who_come_back() {
  woken_.clear();
  std::vector<place> back;
  {
    const std::lock_guard held{guard_};
    back.swap(back_);
  }
  for (auto& p : back) {
    places_.push_back(std::move(p));
    look_at(places_.back(), false);
  }
  std::erase(places_, nullptr);
}

void door::look_at(place& p, bool is_ready) {
  try {
    look(p, is_ready);
  } catch (const std::exception&) {  // Out of memory for this connection.
    p.reset();
  }
}

void door::look(place& p, bool is_ready) {
  const bool sends = !is_ready || p->receive();
  if (p->lingers()) {
    if (!sends || steady::now() >= p->deadline())
      p.reset();
    return;
  }
  const auto whole = p->look();
  if (!whole)
    refuse(p, whole.error());
  else if (*whole)
    let_in(p);
  else if (p->has_begun() && !sends)
    refuse(p, {400, "the connection ends within the head of a request"});
  else if (p->has_begun() && steady::now() >= p->deadline())
    refuse(p, {408});
  else if (!sends || steady::now() >= p->deadline() || (ended_ && !p->has_begun()))
    p.reset();
}

void door::let_in(place& p) {
  const bool apart = is_apart(*p->head(), options_);
  switch ((apart ? apart_ : many_).add(p)) {
    case request_threads::added::taken: p.reset(); break;
    case request_threads::added::full: refuse(p, {503, "as many requests as may wait for a thread"}); break;
    case request_threads::added::no_thread: serve(std::move(p), by::door); break;  // On this thread.
  }
}

void door::refuse(place& p, const refusal& why) {
  answer_refusal(*p, options_, why);
  if (!p->linger(ended_ ? lingering_at_the_end : lingering))
    p.reset();
}

void door::accept_some() {
  for (int i = 0; i < accepted_at_once; ++i) {
    const int fd = ::accept4(listening_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        has_descriptors_ = !places_.empty();
        return make_room();
      }
      accepting_ = errno != EBADF && errno != EINVAL && errno != ENOTSOCK && errno != EOPNOTSUPP;
      return;
    }
    descriptor socket{fd};
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    auto made = std::make_unique<connection>(std::move(socket), limits_);
    if (places_.size() >= places_of_a_thread * static_cast<size_t>(options_.connections_max))
      make_room();
    places_.push_back(std::move(made));
    look_at(places_.back(), true);
  }
}

/// Closes the connection that has been without a request for the longest time.
void door::make_room() {
  std::erase(places_, nullptr);
  if (!places_.empty())
    places_.erase(places_.begin());
}

// -- the threads that answer -----------------------------------------------------------

void door::serve(place p, by thread) {
  try {
    do {
      if (!answer_request(*p, options_, handler_,
                          {.last = ended_, .patience = thread == by::apart ? steady::duration{} : limits_.piece}))
        return end(std::move(p));
      p->await_request();
    } while (thread == by::many && brings_another(*p));
    come_back(std::move(p));
  } catch (const std::exception&) {  // Out of memory for the response: the connection ends.
  }
}

/// Waits for the next request of this connection for as long as no other connection needs the thread.
bool door::brings_another(connection& c) {
  for (;;) {
    const auto whole = c.look();
    if (!whole || ended_ || many_.is_wanted())
      return false;
    if (*whole)
      return true;
    if (!wait_for(c.fd(), POLLIN, c.deadline(), many_.wanted()) || !c.receive())
      return false;
  }
}

void door::come_back(place p) {
  {
    const std::lock_guard held{guard_};
    back_.push_back(std::move(p));
  }
  woken_.set();
}

void door::end(place p) {
  if (p->linger(ended_ ? lingering_at_the_end : lingering))
    come_back(std::move(p));
}

}  // namespace troupe
