// How messages come to an actor: through a carrier, if the world has one, which may keep them for a while. A world on threads has
// none, and each message goes straight to the mailbox.
#pragma once

#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>

namespace troupe {

/// The receiving end of an actor whose world has a carrier.
class carried_actor {
 public:
  /// Puts the message into the mailbox.
  virtual void deliver(caf::mailbox_element_ptr message, caf::execution_unit* unit) = 0;
  /// The actor as its scheduler knows it; the same object in each call.
  virtual caf::resumable* scheduled() noexcept = 0;

 protected:
  ~carried_actor() = default;
};

/// Outlives every actor whose messages it carries.
class carrier {
 public:
  /// Delivers the message now or later, in order for each pair of actors.
  virtual void carry(carried_actor& to, caf::mailbox_element_ptr message, caf::execution_unit* unit) = 0;

 protected:
  ~carrier() = default;
};

}  // namespace troupe
