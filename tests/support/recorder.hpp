// An actor that only records its messages: a neighbour of the actor under test.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <tuple>
#include <vector>

namespace troupe::test {

/// Accepts the messages `Ms` and records all of them in order.
template <class... Ms>
class recorder {
 public:
  using actor_type = caf::typed_actor<caf::reacts_to<Ms>...>;

  explicit recorder(caf::actor_system& system) : kept_(std::make_shared<memory>()) {
    handle_ = system.spawn([kept = kept_](typename actor_type::pointer) {
      return typename actor_type::behavior_type{[kept](const Ms& m) {
        std::get<std::vector<Ms>>(kept->messages).push_back(m);
        kept->order.push_back(caf::type_id<Ms>::value);
      }...};
    });
  }

  const actor_type& handle() const { return handle_; }
  caf::strong_actor_ptr address() const { return caf::actor_cast<caf::strong_actor_ptr>(handle_); }
  /// Converts to the handle type that the actor under test expects.
  template <class Handle>
  Handle as() const {
    return caf::actor_cast<Handle>(handle_);
  }

  template <class M>
  std::vector<M>& all() {
    return std::get<std::vector<M>>(kept_->messages);
  }
  template <class M>
  size_t count() {
    return all<M>().size();
  }
  template <class M>
  M& last() {
    return all<M>().at(count<M>() - 1);
  }
  /// The types of all messages, oldest first.
  const std::vector<caf::type_id_t>& order() const { return kept_->order; }

 private:
  struct memory {
    std::tuple<std::vector<Ms>...> messages;
    std::vector<caf::type_id_t> order;
  };
  std::shared_ptr<memory> kept_;
  actor_type handle_;
};

/// The expected value of `recorder::order()`.
template <class... Ms>
std::vector<caf::type_id_t> order_of() {
  return {caf::type_id<Ms>::value...};
}

}  // namespace troupe::test
