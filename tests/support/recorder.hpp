// An actor that only remembers: the neighbour of an actor under test.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <tuple>
#include <vector>

namespace troupe::test {

/// Accepts the messages `Ms` and keeps every one, in order.
template <class... Ms>
class recorder {
 public:
  using actor_type = caf::typed_actor<caf::reacts_to<Ms>...>;

  explicit recorder(caf::actor_system& system) : kept_(std::make_shared<std::tuple<std::vector<Ms>...>>()) {
    handle_ = system.spawn([kept = kept_](typename actor_type::pointer) {
      return typename actor_type::behavior_type{[kept](const Ms& m) { std::get<std::vector<Ms>>(*kept).push_back(m); }...};
    });
  }

  const actor_type& handle() const { return handle_; }
  caf::strong_actor_ptr address() const { return caf::actor_cast<caf::strong_actor_ptr>(handle_); }
  template <class M>
  std::vector<M>& all() { return std::get<std::vector<M>>(*kept_); }

 private:
  std::shared_ptr<std::tuple<std::vector<Ms>...>> kept_;
  actor_type handle_;
};

}  // namespace troupe::test
