// More clients than threads: some send nothing, some send slowly, some wait.
#include "tests/serving/small_server.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <future>

namespace troupe::test {

namespace {

/// Opens `n` connections, which may be more than the server admits, sends `bytes` on each, and keeps them open.
std::vector<std::unique_ptr<http_client>> clients_that_send(int port, int n, const std::string& bytes) {
  std::vector<std::unique_ptr<http_client>> all;
  for (int i = 0; i < n; ++i) {
    all.push_back(std::make_unique<http_client>(port));
    REQUIRE(all.back()->connected());
    REQUIRE(all.back()->send(bytes));
  }
  return all;
}

const std::string half_a_body = "POST " + predict_path + " HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{";

}  // namespace

TEST_CASE("clients that send nothing, or half a head, keep nobody from an answer, however many they are") {
  const small_server s{{.connections_max = 4, .read_secs = 3600, .request_secs = 3600, .idle_secs = 3600}};
  for (const std::string begin : {"", "POST /v1", "GET /healthz HTTP/1.1\r\nHost: t\r\n"}) {
    CAPTURE(begin);
    const auto silent = clients_that_send(s.port(), 128, begin);
    for (int i = 0; i < 3; ++i) {
      http_client other{s.port()};
      CHECK(other.get("/healthz").status == 200);
      CHECK(other.get("/metrics").status == 200);
      CHECK(other.post(predict_path, one_row).status == 200);
    }
  }
}

TEST_CASE(
    "of more connections without a request than may be, those that have been without one for longest are closed") {
  const small_server s{{.connections_max = 2, .idle_secs = 3600}};
  const auto silent = clients_that_send(s.port(), 9, "");
  CHECK(http_client{s.port()}.get("/healthz").status == 200);
  CHECK(silent[0]->receive().status == 0);
  CHECK(silent[8]->get("/healthz").status == 200);
}

TEST_CASE("a client that has had an answer gives its thread to one that waits, and keeps its connection") {
  const small_server s{{.connections_max = 1, .idle_secs = 3600}};
  const auto clients = clients_that_send(s.port(), 4, "");
  for (int round = 0; round < 3; ++round)
    for (const auto& c : clients)
      CHECK(c->post(predict_path, one_row).status == 200);
}

TEST_CASE("health and metrics are answered while every thread waits for a body, and so is a prediction after it") {
  const small_server s{{.connections_max = 2, .read_secs = 3600, .request_secs = 3600}};
  auto slow = clients_that_send(s.port(), 40, half_a_body);
  auto waits = std::async(std::launch::async, [&] { return http_client{s.port()}.post(predict_path, one_row).status; });
  for (int i = 0; i < 3; ++i) {
    http_client other{s.port()};
    CHECK(other.get("/healthz").status == 200);
    CHECK(has(other.get("/metrics").body, "troupe_serve_rows_total"));
  }
  slow.clear();
  CHECK(waits.get() == 200);
}

TEST_CASE("a request that finds as many waiting for a thread as may wait is refused with 503") {
  const small_server s{{.connections_max = 1, .requests_max = 1, .read_secs = 3600, .request_secs = 3600}};
  const auto slow = clients_that_send(s.port(), 2, half_a_body);  // One has the thread, the other waits for it.
  const auto answer = http_client{s.port()}.post(predict_path, one_row);
  CHECK(answer.status == 503);
  CHECK(has(answer.body, "as many requests as may wait"));
  CHECK(has(answer.head, "Connection: close"));
  CHECK(http_client{s.port()}.get("/healthz").status == 200);
}

TEST_CASE(
    "health that has a port of its own is answered there and nowhere else, while every thread of the other is taken") {
  const small_server s{
      {.health_port = 0, .connections_max = 1, .read_secs = 3600, .request_secs = 3600, .idle_secs = 3600}};
  REQUIRE(s.server->health_port() != s.port());
  const auto slow = clients_that_send(s.port(), 40, half_a_body);
  const auto silent = clients_that_send(s.server->health_port(), 128, "");
  http_client health{s.server->health_port()};
  CHECK(health.get("/healthz").body == "{\"status\": \"ok\", \"version\": 1}\n");
  CHECK(has(health.get("/metrics").body, "troupe_serve_rows_total"));
  CHECK(has(health.get("/v1/models/half").body,
            "/v1/models/half is no path of this server: there are /metrics and /healthz"));
  CHECK(has(http_client{s.port()}.get("/healthz").body,
            "/healthz is no path of this server: there are those of /v1/models/half"));
}

TEST_CASE("health without a port of its own is at that of the predictions") {
  const small_server s;
  CHECK(s.server->health_port() == s.port());
}

TEST_CASE("a client that takes no answers to its questions after health does not keep others from them") {
  const small_server s{{.connections_max = 1, .read_secs = 3600, .request_secs = 3600}};
  http_client deaf{s.port()};
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n";
  while (deaf.send(request)) {  // Until the server has closed the connection.
  }
  CHECK(http_client{s.port()}.get("/healthz").status == 200);
}

}  // namespace troupe::test
