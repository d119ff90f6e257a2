// Ends the program in an orderly way when memory or threads run out, wherever that happens.
#pragma once

#include <troupe/error.hpp>

namespace troupe::cli {

/// From then on an uncaught exception for lack of memory or of a thread, on any thread, ends the program like an error
/// and not like a crash; the data on disk is complete at every moment. `json`: report on standard output too. Other
/// exceptions end the program as usual. resource_exhausted: the limit of the stack is too low, and the program would
/// crash later.
expected<void> end_in_order(bool json);
/// Reports the current exception in the same way; returns main's exit status.
int fail_for_want() noexcept;
/// From then on a large block of the heap has pages of its own, which return to the system when it is freed. By default
/// glibc keeps ever larger blocks for itself.
void return_large_blocks() noexcept;

}  // namespace troupe::cli
