// Clusters of TF_CONFIG, for tests.
#pragma once

#include <troupe/cluster.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

inline cluster parsed(std::string_view text) {
  CAPTURE(text);
  const auto c = parse_cluster(text);
  REQUIRE_MESSAGE(c, (c ? "" : c.error().message));
  return *c;
}

/// A chief, the numbers of parameter servers and of workers, and the jobs in `more`; this process is `task`.
inline cluster cluster_with(cluster_task task, size_t ps = 2, size_t workers = 3, const cluster_jobs& more = {}) {
  cluster c{.jobs = {{"chief", {"chief0:1"}}}, .task = std::move(task)};
  for (size_t i = 0; i < ps; ++i)
    c.jobs["ps"].push_back("ps" + std::to_string(i) + ":1");
  for (size_t i = 0; i < workers; ++i)
    c.jobs["worker"].push_back("worker" + std::to_string(i) + ":1");
  c.jobs.insert(more.begin(), more.end());
  return c;
}

inline task_description described(const cluster& c, const run_config& config = {}) {
  const auto d = describe_task(c, config);
  REQUIRE_MESSAGE(d, (d ? "" : d.error().message));
  return *d;
}

}  // namespace troupe::test
