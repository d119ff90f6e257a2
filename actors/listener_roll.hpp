// The user's saving listeners, without duplicates, and the facts that they are shown.
#pragma once

#include "actors/current_call.hpp"
#include "messages/status.hpp"

#include <troupe/saving_listener.hpp>

namespace troupe {

/// Calls each listener separately, so that an exception of one does not keep the others from being called. Used by one
/// thread at a time.
class listener_roll {
 public:
  listener_roll() = default;
  /// No pointer is null. A listener that occurs twice is called once.
  explicit listener_roll(const std::vector<std::shared_ptr<saving_listener>>& listeners);

  /// Calls are marked there from now on.
  void mark_in(current_call* where) noexcept { calls_ = where; }

  bool empty() const noexcept { return listeners_.empty(); }
  /// Shows a fact to the listeners; ignores all other facts. Returns their exceptions, in the order of the calls.
  ///
  ///   begin_at  begin
  ///   saving    before_save
  ///   event     after_save, of a save; a stop is passed on to the job, unless it is the save of the job's first state
  ///   end_at    end, of a job that ended cleanly
  std::vector<error> show(const fact& x, job_control& job);

 private:
  template <class Call>
  void tell_all(std::string_view what, std::vector<error>& thrown, Call call) const;

  std::vector<std::shared_ptr<saving_listener>> listeners_;
  bool begun_ = false;
  int64_t first_step_ = 0;
  current_call* calls_ = nullptr;
};

}  // namespace troupe
