// An HTTP server over plain sockets. It frames requests itself: what a general library tolerates from a client, a proxy
// in front of it may read as another request.
#include "serving/http_listener.hpp"

#include "modules/http/door.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace troupe {

namespace {

int port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return -1;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

/// A socket that listens on the first address that is free. If there is none, throws the reason.
descriptor listening_on(const std::string& host, int port) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); failed != 0)
    throw std::runtime_error(failed == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{found, ::freeaddrinfo};
  int reason = 0;
  for (const auto* a = found; a; a = a->ai_next) {
    descriptor made{::socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol)};
    // Not SO_REUSEPORT: with it, two servers would silently share a port.
    const int yes = 1;
    ::setsockopt(made.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (made.fd() >= 0 && ::bind(made.fd(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(made.fd(), SOMAXCONN) == 0)
      return made;
    reason = errno;
  }
  throw std::runtime_error(std::strerror(reason));
}

class socket_listener final : public http_listener {
 public:
  socket_listener(descriptor listening, const http_options& options, http_handler handler)
    : port_(port_of(listening.fd())), options_(options), handler_(std::move(handler)),
      door_(std::move(listening), options_, handler_) {}

  int port() const override { return port_; }
  bool listens() const override { return door_.accepts(); }
  void run() override { door_.run(); }
  void stop() override { door_.stop(); }

 private:
  const int port_;
  const http_options options_;
  const http_handler handler_;
  door door_;
};

}  // namespace

}  // namespace troupe

extern "C" __attribute__((visibility("default"))) troupe::http_listener* troupe_http_listen(
    const troupe::http_options& options, const troupe::http_handler& handler, std::string& reason) {
  try {
    return std::make_unique<troupe::socket_listener>(troupe::listening_on(options.host, options.port), options, handler)
        .release();
  } catch (const std::exception& e) {
    reason = e.what();
  }
  return nullptr;
}
