// The printer actor that CAF requires of a scheduler. Troupe does not print through CAF, and standard output belongs to
// the host program.
#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace troupe {

/// An actor that ignores all messages.
caf::actor silent_printer(caf::actor_system& system);

}  // namespace troupe
