// A sub-plan: the infeeds, replicas and outfeed that an evaluator or a predictor drives, beside a training job or
// alone.
#pragma once

#include "actors/crew.hpp"

#include <caf/fwd.hpp>

namespace troupe {

class sub_plan {
 public:
  bool started() const { return !nodes_.empty(); }
  /// Starts and connects the nodes of `from`; `driver` monitors them and hears of progress.
  void start(caf::local_actor& driver, std::shared_ptr<crew> from);
  /// A new attempt, from the beginning of the data.
  void begin_attempt(int32_t attempt) const;
  void grant(int32_t attempt, int64_t until) const;
  bool has(const caf::actor_addr& node) const { return nodes_.find(node) != nullptr; }
  /// Asks each node where it stands; `driver` gets the answers, each with one of these names.
  void ask(caf::local_actor& driver, uint64_t number) const;
  std::vector<std::string> names() const;
  /// Ends the nodes; a later `start` makes new ones.
  void send_home();

 private:
  /// Sends as the driver, so that its messages and those that connect the nodes arrive in order.
  template <class Handle, class M>
  void tell(const Handle& node, M message) const;

  caf::local_actor* driver_ = nullptr;  ///< It owns this.
  std::shared_ptr<crew> crew_;
  roster nodes_;
};

}  // namespace troupe
