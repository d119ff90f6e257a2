#include "tests/cli/exported_project.hpp"
#include "tests/serving/http_client.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>

namespace troupe::cli {

TEST_CASE("serve tells where it predicts, and where health is if that has a port of its own") {
  const exported_project project;
  program server{project.serve({"--health-port", "0"})};
  const int port = port_of(server), health = port_of(server, ", health and metrics on http://127.0.0.1:");
  CHECK(port != health);
  CHECK(test::http_client{health}.get("/healthz").status == 200);
  CHECK(test::http_client{port}.get("/healthz").status == 404);
  CHECK(test::http_client{port}.get("/v1/models/m").status == 200);
  server.send(SIGTERM);
  CHECK(server.finish().status == 143);
}

TEST_CASE("serve with --json tells the address of health beside that of the predictions") {
  const exported_project project;
  program server{project.serve({"--health-port", "0", "--json"})};
  const int port = port_of(server, "\"address\":\"http://127.0.0.1:"),
            health = port_of(server, "\"health_address\":\"http://127.0.0.1:");
  CHECK(test::http_client{port}.get("/v1/models/m").status == 200);
  CHECK(test::http_client{health}.get("/metrics").status == 200);
  server.send(SIGINT);
  CHECK(server.finish().status == 130);
}

TEST_CASE("a port of health that is taken, or is no port, is an error of serve that names it") {
  const exported_project project;
  program server{project.serve()};
  const auto port = std::to_string(port_of(server));
  const auto taken = run_program(project.serve({"--health-port", port}));
  CHECK(taken.status == 1);
  CHECK(test::has(taken.err, "cannot listen on 127.0.0.1, port " + port));
  const auto none = run_program(project.serve({"--health-port", "65536"}));
  CHECK(none.status == 2);
  CHECK(test::has(none.err, "--health-port must be a whole number in [0, 65535], or \"none\", not '65536'"));
}

}  // namespace troupe::cli
