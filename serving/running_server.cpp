#include "serving/running_server.hpp"

#include "serving/http_module.hpp"
#include "words/guarded.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::chrono::nanoseconds seconds(double s) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(s));
}

batcher_options batches_of(const serve_options& options, server_metrics& metrics) {
  return {.limits = {.rows_max = options.batch_rows_max,
                     .delay_max = seconds(options.batch_delay_ms / 1000),
                     .requests_max = options.requests_max},
          .callers_max = options.threads,
          .wait_max = seconds(options.wait_secs),
          .on_batch = [&metrics](int64_t rows) { metrics.computed(rows); }};
}

}  // namespace

running_server::running_server(std::unique_ptr<version_source> versions, std::string name, const serve_options& options,
                               std::function<void(const serve_event&)> told)
  : name_(std::move(name)), told_(std::move(told)), memory_(options.memory_bytes_max),
    versions_(std::move(versions), batches_of(options, metrics_)),
    service_(name_, options.request_rows_max, versions_, metrics_, &memory_) {}

expected<std::unique_ptr<running_server>> running_server::start(std::unique_ptr<version_source> versions,
                                                                std::string name, const serve_options& options,
                                                                std::function<void(const serve_event&)> told) {
  std::unique_ptr<running_server> made{
      new running_server{std::move(versions), std::move(name), options, std::move(told)}};
  if (auto found = made->look(); !found)
    return fail(std::move(found.error()));
  if (auto listens = made->listen(options); !listens)
    return fail(std::move(listens.error()));
  auto* const self = made.get();
  const auto begun = guarded("the threads of the server", [&] {
    made->accepting_ = std::thread{[self] { self->listener_->run(); }};
    if (made->health_)
      made->accepting_health_ = std::thread{[self] { self->health_->run(); }};
    made->looking_ = std::thread{[self, every = seconds(options.poll_secs)] { self->look_again(every); }};
  });
  if (!begun)
    return fail(errc::resource_exhausted, begun.error().message);
  return made;
}

expected<void> running_server::listen(const serve_options& options) {
  using paths = rest_service::paths;
  const auto at = [&, this](int64_t port, int64_t connections_max, paths there) {
    const http_options http{
        .host = options.host,
        .port = static_cast<int>(port),
        .body_bytes_max = std::min(options.body_bytes_max, options.memory_bytes_max),
        .memory = &memory_,
        .connections_max = connections_max,
        .requests_max = options.requests_max,
        .apart = {std::begin(health_paths), std::end(health_paths)},
        .read_secs = options.read_secs,
        .request_secs = options.request_secs,
        .idle_secs = options.idle_secs,
        .refuse = [this](int status, std::string_view reason) { return service_.refuse(status, reason); }};
    return listen_for_http(http,
                           [this, there](const http_request& request) { return service_.answer(request, there); });
  };
  auto listener = at(options.port, options.connections_max, options.health_port ? paths::models : paths::all);
  if (!listener)
    return fail(std::move(listener.error()));
  listener_ = std::move(*listener);
  if (!options.health_port)
    return {};
  constexpr int64_t threads_of_health = 2;
  auto health = at(*options.health_port, threads_of_health, paths::health);
  if (!health)
    return fail(std::move(health.error()));
  health_ = std::move(*health);
  return {};
}

expected<void> running_server::look() {
  auto change = versions_.refresh();
  if (!change)
    return fail(std::move(change.error()));
  if (change->opened)
    metrics_.swapped();
  if (!told_)
    return {};
  for (auto& w : change->warnings)
    told_({serve_event::kind::warning, version(), std::move(w)});
  if (change->opened)
    told_({serve_event::kind::version, *change->opened, {}});
  return {};
}

void running_server::look_at_listener() {
  {
    const std::lock_guard held{guard_};
    if (ended_ || deaf_ || (listener_->listens() && (!health_ || health_->listens())))
      return;
  }
  deaf_ = true;
  if (told_)
    told_({serve_event::kind::failed, version(), "the system lets the server accept no further connection"});
}

void running_server::look_again(std::chrono::nanoseconds every) {
  std::unique_lock held{guard_};
  while (!ended_changed_.wait_for(held, every, [this] { return ended_; })) {
    held.unlock();
    (void)guarded("the look for versions", [this] { return look(); });  // If it fails, the current version stays.
    (void)guarded("the look at the listener", [this] { look_at_listener(); });
    held.lock();
  }
}

void running_server::drain() {
  {
    const std::lock_guard held{guard_};
    if (std::exchange(ended_, true))
      return;
  }
  service_.drain();
  ended_changed_.notify_all();
  // The health listener stops last: it answers until the requests that have begun are done.
  for (const auto& [listener, thread] :
       {std::pair{listener_.get(), &accepting_}, std::pair{health_.get(), &accepting_health_}}) {
    if (listener)
      listener->stop();
    if (thread->joinable())
      thread->join();
  }
  if (looking_.joinable())
    looking_.join();
}

}  // namespace troupe
