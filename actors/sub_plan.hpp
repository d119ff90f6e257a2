// A sub-plan: an infeed, a replica and an outfeed beside a job, or without one, driven by an evaluator or a predictor.
#pragma once

#include "actors/crew.hpp"

#include <caf/fwd.hpp>

namespace troupe {

struct sub_plan {
  infeed_actor source;
  replica_actor worker;
  outfeed_actor drain;

  bool started() const { return source != nullptr; }
  /// Starts and connects the nodes of `nodes`; `driver` monitors them and hears of progress.
  void start(caf::local_actor& driver, const progress_sink_actor& progress, crew& nodes);
  /// A new attempt, from the beginning of the data.
  void begin_attempt(int32_t attempt) const;
  void grant(int32_t attempt, int64_t until) const;
  bool has(const caf::actor_addr& node) const;
  /// Asks each node where it stands; `driver` hears of it, from the nodes by these names.
  void ask(caf::local_actor& driver, uint64_t number) const;
  static std::vector<std::string> names(const std::string& driver) { return {driver + "/infeed/0", driver + "/replica/0", driver + "/outfeed"}; }
  /// Ends the nodes; a later `start` starts new ones.
  void send_home();
};

}  // namespace troupe
