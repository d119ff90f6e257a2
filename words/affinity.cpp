#include "words/affinity.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>

namespace troupe {

namespace {

constexpr size_t processors_of_a_set = CPU_SETSIZE;

/// One bit for each processor, in as many words as it takes: cpu_set_t alone has 1024.
using processor_set = std::vector<cpu_set_t>;
size_t bytes_of(const processor_set& set) { return set.size() * sizeof(cpu_set_t); }

}  // namespace

std::vector<int32_t> allowed_processors() {
  constexpr size_t sets_max = 64;  // More processors than Linux can be configured for.
  for (size_t sets = 1; sets <= sets_max; sets *= 2) {
    processor_set set(sets);
    if (::sched_getaffinity(0, bytes_of(set), set.data()) != 0) {
      if (errno == EINVAL)
        continue;  // The machine has more processors than the set.
      return {};
    }
    std::vector<int32_t> all;
    for (size_t p = 0; p < sets * processors_of_a_set; ++p)
      if (CPU_ISSET_S(p, bytes_of(set), set.data()))
        all.push_back(static_cast<int32_t>(p));
    return all;
  }
  return {};
}

std::error_code restrict_to(std::thread& thread, std::span<const int32_t> processors) {
  const auto most = processors.empty() ? 0 : *std::max_element(processors.begin(), processors.end());
  processor_set set(static_cast<size_t>(most) / processors_of_a_set + 1);
  for (const auto p : processors)
    CPU_SET_S(static_cast<size_t>(p), bytes_of(set), set.data());
  return {::pthread_setaffinity_np(thread.native_handle(), bytes_of(set), set.data()), std::generic_category()};
}

}  // namespace troupe
