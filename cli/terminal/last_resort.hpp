// Ends the program when memory or threads run out, wherever that happens.
#pragma once

#include <troupe/error.hpp>

namespace troupe::cli {

/// Makes an uncaught exception for lack of memory or of a thread, on any thread, end the program like an error and not
/// like a crash: the data on disk are whole at every moment. `json`: report on standard output too. Other exceptions
/// end it as usual. resource_exhausted: the limit of the stack is too low for what follows, which would crash.
expected<void> end_in_order(bool json);
/// The same for the current exception; returns main's exit status.
int fail_for_want() noexcept;
/// From now on a large block of the heap has pages of its own, which are the system's again when it is freed; otherwise glibc keeps ever larger
/// ones for itself.
void return_large_blocks() noexcept;

}  // namespace troupe::cli
