// HTTP by cpp-httplib, which only this module includes.
#include "serving/http_listener.hpp"

#include "modules/http/timed_connection.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/eventfd.h>

namespace troupe {

namespace {

/// A thread for each connection, up to a number: while all are taken, the thread that accepts waits, and further connections stay
/// with the system.
class connection_threads final : public httplib::TaskQueue {
 public:
  explicit connection_threads(size_t most) : most_(most) {}

  void enqueue(std::function<void()> connection) override {
    std::unique_lock held{guard_};
    room_.wait(held, [this] { return waiting_.size() + busy_ < most_ || ended_; });
    waiting_.push_back(std::move(connection));
    if (busy_ + waiting_.size() > threads_.size() && !add_thread() && threads_.empty()) {
      const auto alone = std::move(waiting_.front());
      waiting_.pop_front();
      held.unlock();
      return alone();  // No thread is to be had: one connection after the other.
    }
    work_.notify_one();
  }
  void shutdown() override {
    {
      const std::lock_guard held{guard_};
      ended_ = true;
    }
    work_.notify_all();
    room_.notify_all();
    for (auto& t : threads_)
      t.join();
    threads_.clear();
  }

 private:
  bool add_thread() {
    try {
      threads_.emplace_back([this] { work(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
  void work() {
    std::unique_lock held{guard_};
    for (;;) {
      work_.wait(held, [this] { return !waiting_.empty() || ended_; });
      if (waiting_.empty())
        return;
      const auto connection = std::move(waiting_.front());
      waiting_.pop_front();
      ++busy_;
      held.unlock();
      connection();
      held.lock();
      --busy_;
      room_.notify_one();
    }
  }

  const size_t most_;
  std::mutex guard_;
  std::condition_variable work_, room_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t busy_ = 0;
  bool ended_ = false;
};

std::chrono::steady_clock::duration seconds(double s) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(s));
}

/// A body in chunks is longer on the way; lines and headers are beside it.
uint64_t bytes_of_request(const http_options& options) { return 2 * static_cast<uint64_t>(options.body_bytes_max) + (uint64_t{1} << 16); }

/// The library's server with connections of our own: each request has a time, and those that are idle end with the server.
class timed_server final : public httplib::Server {
 public:
  explicit timed_server(const http_options& options)
    : piece_(seconds(options.read_secs)), whole_(seconds(options.request_secs)), idle_(seconds(options.idle_secs)), bytes_(bytes_of_request(options)) {
    if (ended_ < 0)
      throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~timed_server() override { httplib::detail::close_socket(ended_); }

  void end_idle_connections() {
    ends_ = true;
    (void)::eventfd_write(ended_, 1);
  }
  /// In a handler: the connection that brought the request, which the library does not tell.
  static timed_connection& current() { return *current_; }
  /// In a handler: holds what the answer takes until it has been sent.
  static void hold(memory_share of_answer) { answer_memory_ = std::move(of_answer); }

 private:
  /// What the library would do with a request beside handing it over.
  static void simplify(httplib::Request& request) {
    request.ranges.clear();  // It would cut the answer, and repeat it for each of thousands of ranges.
    if (request.is_multipart_form_data())
      request.headers.erase("Content-Type");  // It would take the body apart.
    if (request.method == "PRI")
      request.headers.erase("Content-Encoding");  // It reads this body itself, without a bound on what it is decompressed to.
  }

  bool process_and_close_socket(socket_t fd) override {
    timed_connection connection{fd, piece_, whole_, bytes_};
    current_ = &connection;
    bool closed = false, right = true;
    const auto is_there = [&] { return connection.has_read_ahead() || wait_for(fd, POLLIN, std::chrono::steady_clock::now() + idle_, ended_); };
    while (!closed && right && is_there()) {
      connection.begin_request();
      const bool last = ends_;
      try {
        right = process_request(connection, last, closed, simplify);
      } catch (...) {  // There is no memory for its headers.
        right = false;
      }
      answer_memory_.set(0);
      closed = closed || last || connection.ends();
    }
    current_ = nullptr;
    ::shutdown(fd, SHUT_RDWR);
    httplib::detail::close_socket(fd);
    return right;
  }

  static inline thread_local timed_connection* current_ = nullptr;
  static inline thread_local memory_share answer_memory_{};

  const std::chrono::steady_clock::duration piece_, whole_, idle_;
  const uint64_t bytes_;
  const int ended_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  ///< Readable from the end on.
  std::atomic<bool> ends_{false};
};

class httplib_listener final : public http_listener {
 public:
  httplib_listener(const http_options& options, http_handler handler) : server_(options), handler_(std::move(handler)) {
    constexpr size_t requests_of_a_connection = SIZE_MAX;
    server_.set_keep_alive_timeout(std::max<time_t>(1, static_cast<time_t>(options.idle_secs)));  // What answers say of it.
    server_.set_keep_alive_max_count(requests_of_a_connection);
    server_.set_payload_max_length(static_cast<size_t>(options.body_bytes_max));
    server_.set_tcp_nodelay(true);
    server_.new_task_queue = [most = static_cast<size_t>(options.connections_max)] { return new connection_threads{most}; };
    // Not SO_REUSEPORT, the library's choice: two servers would share a port without a word.
    server_.set_socket_options([this](socket_t fd) {
      listening_ = fd;
      const int yes = 1;
      ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    const auto answer = [this](const httplib::Request& from, httplib::Response& to) {
      if (from.has_header("Content-Length") || from.has_header("Transfer-Encoding"))
        timed_server::current().end_with_this();  // The library reads no body of these methods.
      request_body none;
      put(handler_({from.method, from.path, none}), to);
    };
    const auto read = [this, most = static_cast<size_t>(options.body_bytes_max), memory = options.memory, refuse = options.refuse](
                        const httplib::Request& from, httplib::Response& to, const httplib::ContentReader& content) {
      request_body body{memory};
      bool larger = false, kept = true;
      // A body that is too large is read to its end, as far as the connection allows, so that the next request is found.
      const auto keep = [&](const char* bytes, size_t n) {
        larger = larger || n > most - body.size();
        kept = kept && !larger && body.append(bytes, n);
        if (!kept)
          body.release();
        return true;
      };
      // Without either there is no body; the library would wait for the end of the connection.
      const bool has_body = from.has_header("Content-Length") || from.has_header("Transfer-Encoding");
      const bool whole = !has_body || content(keep);
      if (from.method == "DELETE" && !from.has_header("Content-Length"))
        timed_server::current().end_with_this();  // The library does not read what comes in chunks.
      larger = larger || to.status == 413;
      if (!whole || larger || !kept) {
        if (!whole)
          timed_server::current().end_with_this();
        to.status = larger ? 413 : kept ? 400 : 429;
        return put(refuse(to.status), to);
      }
      put(handler_({from.method, from.path, body}), to);
    };
    const std::string any = R"([\s\S]*)";
    server_.Get(any, answer).Options(any, answer).Post(any, read).Put(any, read).Patch(any, read).Delete(any, read);
    server_.set_error_handler([refuse = options.refuse](const httplib::Request&, httplib::Response& to) {
      if (to.body.empty())  // Otherwise it is our own answer.
        put(refuse(to.status), to);
    });
    server_.set_exception_handler([refuse = options.refuse](const httplib::Request&, httplib::Response& to, const std::exception_ptr& thrown) {
      timed_server::current().end_with_this();  // Its body may not have been read.
      try {
        std::rethrow_exception(thrown);
      } catch (const std::bad_alloc&) {
        to.status = 429;
      } catch (...) {
        to.status = 500;
      }
      put(refuse(to.status), to);
    });
  }

  bool bind(const http_options& options) {
    port_ = options.port == 0 ? server_.bind_to_any_port(options.host.c_str())
                              : server_.bind_to_port(options.host.c_str(), options.port) ? options.port : -1;
    if (port_ > 0)
      ::listen(listening_, SOMAXCONN);  // The library's 5 would drop connections that come together.
    return port_ > 0;
  }

  int port() const override { return port_; }
  bool listens() const override {
    int accepts = 0;
    socklen_t size = sizeof accepts;
    return ::getsockopt(listening_, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0;
  }
  void run() override {
    runs_ = true;
    if (!stopped_)
      server_.listen_after_bind();
    runs_ = false;
  }
  void stop() override {
    stopped_ = true;
    while (runs_ && !server_.is_running())  // Its own stop does nothing before that.
      std::this_thread::yield();
    server_.end_idle_connections();
    server_.stop();
  }

 private:
  static void put(http_response from, httplib::Response& to) {
    to.status = from.status;
    to.set_header("Content-Type", from.content_type);
    to.body = std::move(from.body);
    timed_server::hold(std::move(from.memory));
  }

  timed_server server_;
  http_handler handler_;
  int port_ = -1;
  int listening_ = -1;  ///< The library's socket.
  std::atomic<bool> stopped_{false}, runs_{false};
};

}  // namespace

}  // namespace troupe

extern "C" __attribute__((visibility("default"))) troupe::http_listener* troupe_http_listen(const troupe::http_options& options,
                                                                                            const troupe::http_handler& handler, std::string& reason) {
  try {
    auto listener = std::make_unique<troupe::httplib_listener>(options, handler);
    errno = 0;
    if (listener->bind(options))
      return listener.release();
    reason = errno != 0 ? std::strerror(errno) : "the address is not one of this host, or is taken";
  } catch (const std::exception& e) {
    reason = e.what();
  }
  return nullptr;
}
