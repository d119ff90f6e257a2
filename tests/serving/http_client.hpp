// An HTTP client over a socket that sends what a test says, byte for byte.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

struct http_answer {
  int status = 0;  ///< 0: the connection ended without an answer.
  std::string body;
  std::string head = {};
};

class http_client {
 public:
  explicit http_client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const timeval patience{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~http_client() { ::close(socket_); }
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  /// Closes the sending half of the connection.
  void end_sending() { ::shutdown(socket_, SHUT_WR); }

  /// All answers until the server closes the connection.
  std::vector<http_answer> receive_all() {
    std::vector<http_answer> all;
    for (auto next = receive(); next.status != 0; next = receive())
      all.push_back(std::move(next));
    return all;
  }
  /// The next answer, of the length in its header. `has_body` is false for an answer to HEAD.
  http_answer receive(bool has_body = true) {
    size_t end = 0;
    while ((end = text_.find("\r\n\r\n")) == std::string::npos)
      if (!read_some())
        return {};
    const std::string head = text_.substr(0, end);
    const size_t length = head.find("Content-Length: ");
    const size_t bytes = length == std::string::npos || !has_body
                             ? 0
                             : std::strtoul(head.c_str() + length + 16, nullptr, 10);
    while (text_.size() < end + 4 + bytes)
      if (!read_some())
        return {};
    http_answer answer{std::atoi(head.c_str() + std::strlen("HTTP/1.1 ")), text_.substr(end + 4, bytes), head};
    text_.erase(0, end + 4 + bytes);
    return answer;
  }
  http_answer get(const std::string& path) {
    return send("GET " + path + " HTTP/1.1\r\nHost: t\r\n\r\n") ? receive() : http_answer{};
  }
  http_answer post(const std::string& path, const std::string& body) {
    const std::string length = "Content-Length: " + std::to_string(body.size());
    const bool sent = send("POST " + path + " HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n" + length
                           + "\r\n\r\n" + body);
    return sent ? receive() : http_answer{};
  }

 private:
  bool read_some() {
    char part[4096];
    const auto got = ::recv(socket_, part, sizeof part, 0);
    if (got > 0)
      text_.append(part, static_cast<size_t>(got));
    return got > 0;
  }

  int socket_;
  bool connected_ = false;
  std::string text_;
};

}  // namespace troupe::test
