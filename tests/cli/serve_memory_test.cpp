// `troupe serve` with little memory, and the memory that it uses.
#include "tests/cli/exported_project.hpp"
#include "tests/serving/http_client.hpp"

#include <doctest/doctest.h>

#include <barrier>
#include <csignal>
#include <fstream>
#include <future>

namespace troupe::cli {

namespace {

const std::string path = "/v1/models/m:predict";

/// A request body of `rows` rows of 784 numbers, padded with spaces to `bytes` bytes.
std::string body_of(const std::string& number, int rows, size_t bytes) {
  std::string row = "[" + number;
  for (int i = 1; i < 784; ++i)
    row += "," + number;
  row += "]";
  std::string body = "{\"instances\": [" + row;
  for (int i = 1; i < rows; ++i)
    body += "," + row;
  body += "]}";
  if (body.size() < bytes)
    body.append(bytes - body.size(), ' ');
  return body;
}

std::string list_of(size_t bytes) {
  std::string body = "{\"instances\": [[0";
  while (body.size() < bytes)
    body += ",0";
  return body + "]]}";
}

/// Sends `clients` requests whose bodies become complete at the same time. Returns their statuses.
std::vector<int> statuses(int port, const std::string& body, int clients) {
  std::barrier together{clients};
  std::vector<std::future<int>> asked;
  for (int i = 0; i < clients; ++i)
    asked.push_back(std::async(std::launch::async, [&] {
      test::http_client client{port};
      const auto head = "POST " + path + " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size())
                        + "\r\n\r\n";
      // The sends may fail: the server may answer and close before.
      (void)(client.send(head) && client.send(std::string_view{body}.substr(0, body.size() - 1)));
      together.arrive_and_wait();
      (void)client.send(std::string_view{body}.substr(body.size() - 1));
      return client.receive().status;
    }));
  std::vector<int> all;
  for (auto& a : asked)
    all.push_back(a.get());
  return all;
}

/// A line of /proc/PID/status in MB: "VmHWM" is the peak of resident memory, "VmRSS" its present size.
int64_t megabytes(const program& p, const std::string& what) {
  std::ifstream file{"/proc/" + std::to_string(p.id()) + "/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(what + ":"))
      return std::stoll(line.substr(what.size() + 1)) / 1000;
  return -1;
}

}  // namespace

TEST_CASE("where the system gives little memory, large bodies are refused with 429 and the server goes on") {
  const exported_project project;
  constexpr size_t bytes = 14 << 20;
  const std::string right = body_of("0.25", 3700, bytes), wrong = list_of(bytes), one = body_of("0.25", 1, 0);
  const std::string passed_over = "{\"x\": \"" + std::string(bytes, 'a') + "\", " + one.substr(1);
  int refused = 0, answered = 0;
  for (const int limit : {120, 200, 300, 450, 600}) {
    CAPTURE(limit);
    program server{"ulimit -v " + std::to_string(limit * 1000), project.serve()};
    const int port = port_of(server);
    for (const auto& [body, whole] : {std::pair{&right, 200}, {&wrong, 400}, {&passed_over, 200}})
      for (const int status : statuses(port, *body, 3)) {
        CHECK((status == whole || status == 429 || status == 413));
        ++(status == whole ? answered : refused);
      }
    CHECK(test::http_client{port}.post(path, one).status == 200);
    server.send(SIGTERM);
    CHECK(server.finish().status == 143);
  }
  CHECK(answered > 0);
  CHECK(refused > 0);
}

TEST_CASE("6 bodies of 15 MiB at once take at most 300 MB, and what is held afterwards is little more than before") {
  const exported_project project;
  program server{project.serve()};
  const int port = port_of(server);
  const auto body = body_of("0.25", 3900, 15 << 20);
  CHECK(test::http_client{port}.post(path, body_of("0.25", 1, 0)).status == 200);
  const auto before = megabytes(server, "VmRSS");
  for (int round = 0; round < 2; ++round)
    CHECK(statuses(port, body, 6) == std::vector<int>(6, 200));
  const auto peak = megabytes(server, "VmHWM");
  CHECK(peak > 90);
  CHECK(peak <= 300);
  while (test::http_client{port}.get("/metrics").body.find("\ntroupe_serve_request_bytes 0\n") == std::string::npos) {}
  CHECK(megabytes(server, "VmRSS") <= before + 30);
  MESSAGE("peak ", peak, " MB, before ", before, " MB, after ", megabytes(server, "VmRSS"), " MB");
}

}  // namespace troupe::cli
