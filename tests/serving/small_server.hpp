// A server of fake models on a loopback port.
#pragma once

#include "serving/running_server.hpp"
#include "tests/serving/fake_servable.hpp"
#include "tests/serving/http_client.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

struct small_server {
  std::shared_ptr<fake_exports> exports = std::make_shared<fake_exports>();
  std::unique_ptr<running_server> server;

  explicit small_server(serve_options options = {}, std::function<void(const serve_event&)> told = {}) {
    exports->factors = {{1, 2.f}};
    options.port = 0;
    options.poll_secs = 0.01;
    auto started = running_server::start(std::make_unique<fake_source>(exports), "half", options, std::move(told));
    REQUIRE_MESSAGE(started, (started ? "" : to_text(started.error())));
    server = std::move(*started);
  }
  int port() const { return server->port(); }
  void publish(int64_t number, float factor) {
    {
      const std::lock_guard held{exports->guard};
      exports->factors[number] = factor;
    }
    while (server->version() != number)
      std::this_thread::yield();
  }
};

inline const std::string predict_path = "/v1/models/half:predict";
inline const std::string one_row = R"({"instances": [[1, 2]]})";

}  // namespace troupe::test
