// A server on a loopback socket: requests over HTTP, limits, a change of version under load, and its end.
#include "tests/serving/small_server.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <future>

namespace troupe::test {

TEST_CASE("a server answers several requests on one connection, errors of HTTP and of the body alike in JSON") {
  const small_server s{{.body_bytes_max = 1000}};
  http_client client{s.port()};
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.post(predict_path, one_row);
    CHECK(answer.status == 200);
    CHECK(answer.body == "{\"predictions\": [{\"y\": [2, 4], \"parity\": 1, \"parity_word\": \"odd\"}]}\n");
  }
  CHECK(client.post(predict_path, "{").status == 400);
  CHECK(client.get("/none").status == 404);
  CHECK(client.get("/healthz").status == 200);
  http_client large{s.port()};
  const auto refused = large.post(predict_path, std::string(2000, ' '));
  CHECK(refused.status == 413);
  CHECK(refused.body == "{\"error\": \"the body is larger than this server takes\"}\n");
  http_client broken{s.port()};
  REQUIRE(broken.send("HELLO\r\n\r\n"));
  CHECK(broken.receive().status == 400);
  CHECK(http_client{s.port()}.get("/healthz").status == 200);
}

TEST_CASE("a client that sends half a request is let go after a while, and others are answered meanwhile") {
  const small_server s{{.connections_max = 2, .read_secs = 0.05}};
  http_client slow{s.port()};
  REQUIRE(slow.send("POST /v1/models/half:predict HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{"));
  CHECK(http_client{s.port()}.post(predict_path, one_row).status == 200);
  CHECK(slow.receive().status == 408);
  CHECK(slow.receive().status == 0);
}

TEST_CASE("a client that goes on sending pieces is let go when the whole request has taken too long") {
  const small_server s{{.request_secs = 0.05}};
  http_client slow{s.port()};
  REQUIRE(slow.send("POST /v1/models/half:predict HTTP/1.1\r\nHost: t\r\nContent-Length: 16000000\r\n\r\n{"));
  const auto sent = std::async(std::launch::async, [&] {
    while (slow.send(" "))
      std::this_thread::yield();
  });
  CHECK(slow.receive().status == 408);
  CHECK(slow.receive().status == 0);
}

TEST_CASE("a client that takes no answer is let go, however many requests it has sent") {
  const small_server s{{.connections_max = 2, .read_secs = 0.05}};
  http_client deaf{s.port()};
  const std::string request = "GET /v1/models/half/metadata HTTP/1.1\r\nHost: t\r\n\r\n";
  while (deaf.send(request)) {  // Until the server has closed the connection.
  }
  CHECK(http_client{s.port()}.post(predict_path, one_row).status == 200);
}

TEST_CASE("versions change under load without a request that is dropped or answered by two of them") {
  small_server s;
  std::atomic<bool> stop{false};
  std::vector<std::future<std::pair<int64_t, int64_t>>> clients;
  for (int i = 0; i < 4; ++i)
    clients.push_back(std::async(std::launch::async, [&] {
      http_client client{s.port()};
      std::pair<int64_t, int64_t> counted{0, 0};
      while (!stop) {
        const auto answer = client.post(predict_path, one_row);
        const bool right = answer.status == 200
                           && (answer.body.find("[2, 4]") != std::string::npos
                               || answer.body.find("[3, 6]") != std::string::npos
                               || answer.body.find("[4, 8]") != std::string::npos
                               || answer.body.find("[5, 10]") != std::string::npos);
        ++(right ? counted.first : counted.second);
      }
      return counted;
    }));
  for (const int64_t number : {2, 3, 4})
    s.publish(number, static_cast<float>(number) + 1);
  CHECK(has(http_client{s.port()}.post(predict_path, one_row).body, "[5, 10]"));
  stop = true;
  for (auto& c : clients) {
    const auto [right, wrong] = c.get();
    CHECK(right > 0);
    CHECK(wrong == 0);
  }
  s.server->drain();
  CHECK(s.exports->facts->living <= 1);
}

TEST_CASE("a server that drains answers what has begun, and accepts nothing after it") {
  small_server s;
  std::promise<void> entered, let_go;
  s.exports->facts->during_call = [&, go = let_go.get_future().share()] { entered.set_value(), go.wait(); };
  const int port = s.port();
  auto begun = std::async(std::launch::async, [port] { return http_client{port}.post(predict_path, one_row); });
  entered.get_future().wait();
  auto drained = std::async(std::launch::async, [&] { s.server->drain(); });
  let_go.set_value();
  CHECK(begun.get().status == 200);
  drained.get();
  http_client late{port};
  CHECK((!late.connected() || late.get("/healthz").status == 0));
}

TEST_CASE("a server that drains closes connections without a request, also while others wait to be accepted") {
  for (int i = 0; i < 50; ++i) {  // The drain may hit any moment of the server's loop.
    const small_server s{{.connections_max = 1, .idle_secs = 3600}};
    http_client idle{s.port()};
    CHECK(idle.get("/healthz").status == 200);
    http_client next{s.port()}, after_next{s.port()};
    s.server->drain();
    CHECK(idle.receive().status == 0);
  }
}

TEST_CASE("an address of another host, and no version, are errors before anything is served") {
  const small_server s;
  auto exports = std::make_shared<fake_exports>();
  const auto none = running_server::start(std::make_unique<fake_source>(exports), "half", {.port = 0}, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().category == errc::not_found);
  exports->factors = {{1, 2.f}};
  const auto taken = running_server::start(std::make_unique<fake_source>(exports), "half",
                                           {.host = "192.0.2.1", .port = 1}, {});
  REQUIRE_FALSE(taken);
  CHECK(taken.error().category == errc::unavailable);
  CHECK(taken.error().message.starts_with("cannot listen on 192.0.2.1, port 1: "));
}

}  // namespace troupe::test
