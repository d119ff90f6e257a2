// HTTP by cpp-httplib. The one file that includes it, in a module of its own.
#include "serving/http_listener.hpp"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

class httplib_listener final : public http_listener {
 public:
  httplib_listener(const http_options& options, http_handler handler) : handler_(std::move(handler)) {
    constexpr size_t requests_of_a_connection = SIZE_MAX;
    const auto read = static_cast<time_t>(options.read_secs);
    const auto read_us = static_cast<time_t>((options.read_secs - static_cast<double>(read)) * 1e6);
    server_.set_read_timeout(read, read_us);
    server_.set_write_timeout(read, read_us);
    server_.set_keep_alive_timeout(std::max<time_t>(1, static_cast<time_t>(options.idle_secs)));
    server_.set_keep_alive_max_count(requests_of_a_connection);
    server_.set_payload_max_length(static_cast<size_t>(options.body_bytes_max));
    server_.set_tcp_nodelay(true);
    server_.new_task_queue = [most = static_cast<size_t>(options.connections_max)] { return new connection_threads{most}; };
    const auto answer = [this](const httplib::Request& from, httplib::Response& to) {
      const auto made = handler_({from.method, from.path, from.body});
      to.status = made.status;
      to.set_content(made.body, made.content_type.c_str());
    };
    const std::string any = R"([\s\S]*)";
    server_.Get(any, answer).Post(any, answer).Put(any, answer).Patch(any, answer).Delete(any, answer).Options(any, answer);
    server_.set_error_handler([refuse = options.refuse](const httplib::Request&, httplib::Response& to) {
      if (!to.body.empty() || !refuse)
        return;  // Our own answer.
      const auto made = refuse(to.status);
      to.set_content(made.body, made.content_type.c_str());
    });
    server_.set_exception_handler([refuse = options.refuse](const httplib::Request&, httplib::Response& to, std::exception_ptr) {
      to.status = 500;
      if (refuse)
        to.set_content(refuse(500).body, "application/json");
    });
  }

  bool bind(const http_options& options) {
    port_ = options.port == 0 ? server_.bind_to_any_port(options.host.c_str())
                              : server_.bind_to_port(options.host.c_str(), options.port) ? options.port : -1;
    return port_ > 0;
  }

  int port() const override { return port_; }
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
    server_.stop();
  }

 private:
  httplib::Server server_;
  http_handler handler_;
  int port_ = -1;
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
