// The printer that CAF wants of a scheduler. Troupe does not print through CAF, and standard output belongs to the program.
#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace troupe {

/// An actor that drops what it is told.
caf::actor silent_printer(caf::actor_system& system);

}  // namespace troupe
