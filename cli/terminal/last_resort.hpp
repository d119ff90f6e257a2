// How the program ends where it has no memory or no thread left, wherever that is found out.
#pragma once

namespace troupe::cli {

/// An exception that nobody catches, on any thread, for want of memory or of a thread ends the program as an error does, and not as a
/// crash: what is on the disk is whole at every moment. `json`: standard output is told too. Others end it as they always do.
void end_in_order(bool json) noexcept;
/// The same of the exception that is being handled; what main returns.
int fail_for_want() noexcept;

}  // namespace troupe::cli
