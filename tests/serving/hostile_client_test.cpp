// Clients that send bad requests: they cannot take the server's memory, threads or ports.
#include "tests/modules/http/hostile_requests.hpp"
#include "tests/serving/small_server.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <future>
#include <sstream>

namespace troupe::test {

namespace {

std::string head(const std::string& headers, const std::string& method = "POST") {
  return method + " " + predict_path + " HTTP/1.1\r\nHost: t\r\n" + headers + "\r\n";
}

std::string chunk(const std::string& bytes) {
  std::ostringstream size;
  size << std::hex << bytes.size();
  return size.str() + "\r\n" + bytes + "\r\n";
}

std::string gzipped(const std::string& text) {
  z_stream z{};
  constexpr int gzip = 16 + MAX_WBITS;
  REQUIRE(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string bytes(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(bytes.data());
  z.avail_out = static_cast<uInt>(bytes.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  bytes.resize(z.total_out);
  deflateEnd(&z);
  return bytes;
}

std::string with_length(const std::string& headers, const std::string& body) {
  return head(headers + "Content-Length: " + std::to_string(body.size()) + "\r\n") + body;
}

/// Sends `piece` again and again until the server closes the connection. Returns the number of bytes sent.
size_t send_without_end(http_client& client, const std::string& piece) {
  size_t sent = 0;
  while (client.send(piece))
    sent += piece.size();
  return sent;
}

}  // namespace

TEST_CASE("a body that comes in chunks or compressed is read and the connection goes on, up to the size of a body") {
  const small_server s{{.body_bytes_max = 1000}};
  http_client client{s.port()};
  REQUIRE(client.send(head("Transfer-Encoding: chunked\r\n") + chunk(R"({"instances": )") + chunk("[[1, 2]]}")
                      + "0\r\n\r\n"));
  CHECK(client.receive().status == 200);
  REQUIRE(client.send(with_length("Content-Encoding: gzip\r\n", gzipped(one_row))));
  CHECK(client.receive().status == 200);
  CHECK(client.post(predict_path, one_row).status == 200);
  for (const auto& larger : {head("Transfer-Encoding: chunked\r\n") + chunk(std::string(600, ' '))
                                 + chunk(std::string(600, ' ')) + "0\r\n\r\n",
                             with_length("Content-Encoding: gzip\r\n", gzipped(std::string(100'000, ' ')))}) {
    http_client other{s.port()};
    REQUIRE(other.send(larger));
    CHECK(other.receive().status == 413);
    CHECK(other.receive().status == 0);
  }
}

TEST_CASE("a request that a proxy could read otherwise gets one answer, and what is hidden in it none") {
  const small_server s;
  const std::string second = with_length("", R"({"instances": [[7, 7]]})");
  const auto all = hostile_requests(predict_path, second);
  REQUIRE(all.size() > 300);
  for (const auto& hostile : all) {
    CAPTURE(hostile.line);
    http_client client{s.port()};
    REQUIRE(client.send(hostile.bytes));
    client.end_sending();
    const auto answers = client.receive_all();
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status == hostile.status);
    CHECK(answers[0].body.starts_with("{\"error\": "));
    if (hostile.status != 404 && hostile.status != 405)
      CHECK(has(answers[0].head, "Connection: close"));
  }
  CHECK(s.exports->facts->calls == 0);
  CHECK(http_client{s.port()}.post(predict_path, one_row).status == 200);
}

TEST_CASE("an answer that ends its connection reaches a client which goes on sending") {
  const small_server s{{.body_bytes_max = 1000}};
  const std::string much(60'000, ' ');
  for (const auto& request : {with_length("", much), head("Transfer-Encoding: chunked\r\n") + "x\r\n" + much,
                              head("Host: u\r\n") + much, std::string(60'000, 'a')}) {
    http_client client{s.port()};
    client.send(request);  // Ends early if the server closes.
    const auto answer = client.receive();
    CHECK(answer.status >= 400);
    CHECK(has(answer.head, "Connection: close"));
    CHECK(client.receive().status == 0);
  }
}

TEST_CASE("requests that come together are answered one after the other, and a blank line between them is none") {
  const small_server s;
  http_client client{s.port()};
  const std::string post = with_length("", one_row), get = "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n";
  REQUIRE(
      client.send(post + get + "\r\n" + head("Transfer-Encoding: chunked\r\n") + chunk(one_row) + "0\r\n\r\n" + get));
  client.end_sending();
  const auto answers = client.receive_all();
  REQUIRE(answers.size() == 4);
  for (const auto& a : answers)
    CHECK(a.status == 200);
}

TEST_CASE(
    "a client that waits for leave to send its body gets it, and one whose body is not wanted the answer at once") {
  const small_server s{{.body_bytes_max = 1000}};
  http_client client{s.port()};
  REQUIRE(client.send(head("Expect: 100-continue\r\nContent-Length: " + std::to_string(one_row.size()) + "\r\n")));
  CHECK(client.receive().status == 100);
  REQUIRE(client.send(one_row));
  CHECK(client.receive().status == 200);
  REQUIRE(client.send(head("Expect: 100-continue\r\nContent-Length: 1001\r\n")));
  CHECK(client.receive().status == 413);
}

TEST_CASE(
    "the answer to HEAD has the length of that to GET and no body, and a long one is compressed for those who take "
    "it") {
  const small_server s;
  http_client client{s.port()};
  const auto whole = client.get("/metrics");
  REQUIRE(
      client.send("HEAD /v1/models/half/metadata HTTP/1.1\r\nHost: t\r\n\r\nGET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"));
  CHECK(has(client.receive(false).head, "Content-Length: "));
  CHECK(client.receive().body == "{\"status\": \"ok\", \"version\": 1}\n");
  REQUIRE(client.send("GET /metrics HTTP/1.1\r\nHost: t\r\nAccept-Encoding: deflate, gzip\r\n\r\n"));
  const auto compressed = client.receive();
  CHECK(has(compressed.head, "Content-Encoding: gzip"));
  CHECK(compressed.body.size() < whole.body.size());
  CHECK(compressed.body.starts_with("\x1f\x8b"));
}

TEST_CASE("a body for which there is no memory is refused with 429 while others hold it, and taken afterwards") {
  std::promise<void> entered, let_go;
  small_server s{{.body_bytes_max = 300'000, .memory_bytes_max = 300'000}};
  s.exports->facts->during_call = [&, go = let_go.get_future().share(),
                                   first = std::make_shared<std::atomic<bool>>(true)] {
    if (first->exchange(false))
      entered.set_value(), go.wait();
  };
  std::string rows = "{\"instances\": [[1, 2]";
  for (int i = 1; i < 1000; ++i)
    rows += ", [1, 2]";
  rows += "]}";
  auto begun = std::async(std::launch::async, [&] { return http_client{s.port()}.post(predict_path, rows).status; });
  entered.get_future().wait();
  const std::string large = one_row + std::string(200'000, ' ');
  const auto refused = http_client{s.port()}.post(predict_path, large);
  CHECK(refused.status == 429);
  CHECK(has(refused.body, "{\"error\": \"there is no memory"));
  let_go.set_value();
  CHECK(begun.get() == 200);
  // The memory of the first request is held until its answer is sent.
  while (!has(http_client{s.port()}.get("/metrics").body, "\ntroupe_serve_request_bytes 0\n"))
    std::this_thread::yield();
  CHECK(http_client{s.port()}.post(predict_path, large).status == 200);
  CHECK(http_client{s.port()}.post(predict_path, std::string(300'001, ' ')).status == 413);
}

TEST_CASE("a body that says it is a form is read as any other") {
  const small_server s;
  http_client client{s.port()};
  const std::string large = one_row + std::string(20'000, ' ');
  REQUIRE(client.send(with_length("Content-Type: application/x-www-form-urlencoded\r\n", large)));
  CHECK(client.receive().status == 200);
  REQUIRE(client.send(with_length("Content-Type: multipart/form-data; boundary=x\r\n", one_row)));
  CHECK(client.receive().status == 200);
}

TEST_CASE(
    "a request without a body is answered at once, and one that has a body where none is wanted ends its connection") {
  const small_server s{{.read_secs = 30}};
  http_client client{s.port()};
  REQUIRE(client.send(head("")));
  CHECK(client.receive().status == 400);
  CHECK(client.post(predict_path, one_row).status == 200);
  REQUIRE(client.send("GET /healthz HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc"));
  CHECK(client.receive().status == 200);
  CHECK(client.receive().status == 0);
}

TEST_CASE("a line, headers, chunks or a compressed body without an end are cut off long before they take memory") {
  const small_server s{{.body_bytes_max = 1000}};
  const size_t bound = 32 << 20;  // Includes the bytes in socket buffers.
  for (const auto& [begin, piece] : std::vector<std::pair<std::string, std::string>>{
           {"", std::string(1000, 'a')},
           {"GET /healthz HTTP/1.1\r\nHost: t\r\n", "a: b\r\n"},
           {head("Transfer-Encoding: chunked\r\n"), chunk(std::string(1000, 'a'))},
           {head("Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n"),
            chunk(gzipped(std::string(100'000, 'a')))},
           {head("Transfer-Encoding: chunked\r\n", "PRI"), chunk(std::string(1000, 'a'))},
       }) {
    CAPTURE(begin);
    http_client client{s.port()};
    REQUIRE(client.send(begin));
    CHECK(send_without_end(client, piece) < bound);
  }
  CHECK(http_client{s.port()}.post(predict_path, one_row).status == 200);
}

TEST_CASE("a client that sends without a pause is let go when its request has taken too long") {
  const small_server s{{.body_bytes_max = int64_t{1} << 40, .request_secs = 0.05}};
  http_client fast{s.port()};
  REQUIRE(fast.send(head("Transfer-Encoding: chunked\r\n")));
  send_without_end(fast, chunk(std::string(16, 'a')));
  CHECK(http_client{s.port()}.post(predict_path, one_row).status == 200);
}

TEST_CASE("a request for ranges is answered in whole") {
  const small_server s;
  http_client client{s.port()};
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 1000; ++i)
    ranges += ",0-";
  REQUIRE(client.send("GET /healthz HTTP/1.1\r\nHost: t\r\nRange: " + ranges + "\r\n\r\n"));
  const auto answer = client.receive();
  CHECK(answer.status == 200);
  CHECK(answer.body == "{\"status\": \"ok\", \"version\": 1}\n");
}

TEST_CASE("a server that drains ends, whatever a client goes on asking on its connection") {
  const small_server s;
  http_client client{s.port()};
  auto asked = std::async(std::launch::async, [&client] {
    int64_t answers = 0;
    while (client.send("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\nGET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
           && client.receive().status != 0)
      ++answers;
    return answers;
  });
  s.server->drain();
  asked.get();
}

TEST_CASE("of two servers with one port the second does not start") {
  const small_server first;
  auto exports = std::make_shared<fake_exports>();
  exports->factors = {{1, 2.f}};
  const auto second = running_server::start(std::make_unique<fake_source>(exports), "half", {.port = first.port()}, {});
  REQUIRE_FALSE(second);
  CHECK(second.error().category == errc::unavailable);
  CHECK(has(second.error().message, "cannot listen on 127.0.0.1, port " + std::to_string(first.port()) + ": "));
}

TEST_CASE("a server whose socket the system takes away tells its program, once") {
  std::promise<std::string> told;
  std::atomic<int> count{0};
  const small_server s{{}, [&](const serve_event& e) {
                         if (e.what == serve_event::kind::failed && count++ == 0)
                           told.set_value(e.text);
                       }};
  http_client before{s.port()};
  CHECK(before.get("/healthz").status == 200);
  for (int fd = 3; fd < 1024; ++fd) {
    int accepts = 0;
    socklen_t size = sizeof accepts;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0)
      REQUIRE(::shutdown(fd, SHUT_RDWR) == 0);
  }
  CHECK(told.get_future().get() == "the system lets the server accept no further connection");
  CHECK(before.get("/healthz").status == 200);
  s.server->drain();
  CHECK(count == 1);
}

}  // namespace troupe::test
