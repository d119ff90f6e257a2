// The call of the user's code that a thread is in, by name, for the error of whoever waits in vain for its return.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace troupe {

/// One thread at a time makes calls; any thread may ask for the name.
class current_call {
 public:
  /// The call is under way as long as this lives.
  class [[nodiscard]] mark {
   public:
    explicit mark(current_call* of) noexcept : of_(of) {}
    mark(mark&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    mark& operator=(mark&&) = delete;
    ~mark() {
      if (of_)
        of_->set({}, {});
    }

   private:
    current_call* of_;
  };
  /// "on_step() of hooks[0] (my::early_stop)". `where`: may be null.
  static mark enter(current_call* where, std::string_view what, std::string_view who) {
    if (where)
      where->set(what, who);
    return mark{where};
  }
  /// Empty: no call is under way.
  std::string name() const {
    std::lock_guard lock{guard_};
    return name_;
  }
  /// The same, if the calling thread is in it: whoever waits there for the end of the call waits for himself.
  std::string name_here() const {
    std::lock_guard lock{guard_};
    return thread_ == std::this_thread::get_id() ? name_ : std::string{};
  }

 private:
  void set(std::string_view what, std::string_view who) {
    std::lock_guard lock{guard_};
    name_.assign(what).append(who.empty() ? "" : " of ").append(who);
    thread_ = std::this_thread::get_id();
  }

  mutable std::mutex guard_;
  std::string name_;
  std::thread::id thread_;
};

}  // namespace troupe
