#include "storage/files/processors.hpp"

#include <doctest/doctest.h>

#include <sched.h>

#include <map>
#include <thread>

namespace troupe {

namespace {

using files = std::map<std::string, std::string>;

int32_t usable(int32_t affinity, const std::string& groups, const files& there) {
  return usable_processors(affinity, groups, [&](const std::string& path) {
    const auto found = there.find(path);
    return found == there.end() ? std::optional<std::string>{} : found->second;
  });
}

}  // namespace

TEST_CASE("a process without a control group uses the processors of its affinity, one at least and 1024 at most") {
  CHECK(usable(8, "", {}) == 8);
  CHECK(usable(0, "", {}) == 1);
  CHECK(usable(5000, "", {}) == 1024);
  CHECK(usable(8, "no group at all\n0:\n", {}) == 8);
}

TEST_CASE("a quota of version 2 limits them, whichever group above the process's own has it, in whole processors") {
  const std::string groups = "0::/user.slice/job\n";
  CHECK(usable(8, groups, {{"/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n"}}) == 8);
  CHECK(usable(8, groups, {{"/sys/fs/cgroup/user.slice/job/cpu.max", "300000 100000\n"}}) == 3);
  CHECK(usable(8, groups, {{"/sys/fs/cgroup/user.slice/job/cpu.max", "299999 100000\n"}}) == 2);
  CHECK(usable(8, groups, {{"/sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n"}}) == 1);
  CHECK(usable(8, groups, {{"/sys/fs/cgroup/user.slice/job/cpu.max", "6400000 100000\n"}}) == 8);
  CHECK(usable(8, groups,
               {{"/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n"},
                {"/sys/fs/cgroup/user.slice/cpu.max", "200000 50000\n"}})
        == 4);
  CHECK(usable(8, "0::/\n", {{"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}) == 2);
  CHECK(usable(8, "0::/seen/from/the/host\n", {{"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}) == 2);
}

TEST_CASE("a quota of version 1 limits them, in the hierarchy of the processor controller alone") {
  const std::string groups = "5:cpuset:/other\n4:cpu,cpuacct:/docker/a\n0::/\n";
  const std::string at = "/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_";
  CHECK(usable(8, groups, {{at + "quota_us", "-1\n"}, {at + "period_us", "100000\n"}}) == 8);
  CHECK(usable(8, groups, {{at + "quota_us", "350000\n"}, {at + "period_us", "100000\n"}}) == 3);
  CHECK(usable(8, groups,
               {{"/sys/fs/cgroup/cpuset/other/cpu.cfs_quota_us", "100000\n"},
                {"/sys/fs/cgroup/cpuset/other/cpu.cfs_period_us", "100000\n"}})
        == 8);
}

TEST_CASE("a file that says something else limits nothing") {
  for (const std::string text : {"", "much\n", "100000\n", "-5 100000\n", "100000 0\n", "nan 100000\n"})
    CHECK_MESSAGE(usable(8, "0::/a\n", {{"/sys/fs/cgroup/a/cpu.max", text}}) == 8, text);
}

TEST_CASE("a thread that is bound to one processor may use one") {
  int32_t here = 0;
  std::thread bound{[&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    here = usable_processors();
  }};
  bound.join();
  CHECK(here == 1);
  CHECK(usable_processors() >= 1);
}

}  // namespace troupe
