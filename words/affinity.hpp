// The processors on which a thread may run.
#pragma once

#include <cstdint>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

namespace troupe {

/// The processors on which the calling thread may run, ascending. Empty if the system does not say.
std::vector<int32_t> allowed_processors();

/// Lets `thread`, which must be joinable, run on these processors only. Threads that it starts later inherit them. An
/// error: the system refuses, and the thread runs where it ran.
std::error_code restrict_to(std::thread& thread, std::span<const int32_t> processors);

}  // namespace troupe
