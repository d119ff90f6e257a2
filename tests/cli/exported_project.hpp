// A project with an export, for tests of the program that serves it.
#pragma once

#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

namespace troupe::cli {

/// A project with an export of a model that reads 784 numbers.
struct exported_project : small_project {
  exported_project() {
    REQUIRE(run_program(train({"--max-steps", "8", "--quiet"})).status == 0);
    REQUIRE(run_program(command("export", {"--output", small_project::path("exports")})).status == 0);
  }
  std::vector<std::string> serve(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"serve", small_project::path("exports"), "--name", "m", "--port", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

/// Waits until a server listens. Returns the port that it prints after `before`.
inline int port_of(program& server, const std::string& before = "http://127.0.0.1:") {
  REQUIRE(server.wait_for("\n"));
  const size_t at = server.printed().find(before);
  REQUIRE(at != std::string::npos);
  return std::atoi(server.printed().c_str() + at + before.size());
}

}  // namespace troupe::cli
