// How messages reach an actor: through the world's carrier, which may delay them. A world on threads has no carrier,
// and each message goes straight to the mailbox.
#pragma once

#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>

namespace troupe {

/// An actor whose messages may go through a carrier.
class carried_actor {
 public:
  /// Puts `message` into the mailbox.
  virtual void deliver(caf::mailbox_element_ptr message, caf::execution_unit* unit) = 0;
  /// The object that the scheduler runs for this actor; always the same one.
  virtual caf::resumable* scheduled() noexcept = 0;

 protected:
  ~carried_actor() = default;
};

/// Must outlive every actor whose messages it carries.
class carrier {
 public:
  /// Delivers the message now or later. Messages between the same two actors stay in order.
  virtual void carry(carried_actor& to, caf::mailbox_element_ptr message, caf::execution_unit* unit) = 0;

 protected:
  ~carrier() = default;
};

}  // namespace troupe
