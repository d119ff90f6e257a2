#include "actors/exit_reason.hpp"

#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>

namespace troupe {

std::string describe(const caf::error& reason) {
  if (!reason)
    return "it ended normally";
  if (reason == caf::exit_reason::kill)
    return "it was killed";
  if (reason == caf::sec::runtime_error)
    return "an exception left a handler";
  if (reason.category() == caf::atom("exit"))
    return caf::to_string(static_cast<caf::exit_reason>(reason.code()));
  if (reason.category() == caf::atom("system"))
    return caf::to_string(static_cast<caf::sec>(reason.code()));
  return "code " + std::to_string(reason.code());
}

}  // namespace troupe
