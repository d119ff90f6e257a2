// The resident memory of this process, as the operating system reports it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace troupe::test {

inline int64_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace troupe::test
