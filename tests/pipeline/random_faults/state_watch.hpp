// Looks into actors between turns, for faults that neither messages nor files show.
#pragma once

#include "actors/steps/outfeed.hpp"
#include "actors/steps/replica.hpp"
#include "support/simulated_job.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {
struct chief_state;
}

namespace troupe::test::random_faults {

class state_watch {
 public:
  struct sights {
    std::string over_credit;                        ///< The first batch that a replica received beyond its credit.
    std::string early_step;                         ///< The first step that the outfeed passed on before its time.
    std::string engine_twice;                       ///< The first engine that two replicas had one after the other.
    std::string stop_unheard;                       ///< What was granted in an attempt after a stop was asked for.
    std::map<int32_t, std::string> known_failures;  ///< By attempt: a permanent failure that the outfeed knew.
  };

  /// Called with each message that is delivered.
  void saw(const std::string& to, const caf::type_erased_tuple& content);
  /// Called after each turn.
  void look(const simulated_job& job);
  const sights& seen() const noexcept { return seen_; }
  /// Sends a replica a block of an earlier attempt that begins with the batch which the replica expects next. False:
  /// there is no such block.
  bool send_late_block(const simulated_job& job, const std::string& replica) const;

 private:
  void look_at(const std::string& name, const caf::strong_actor_ptr& node);
  void look_at(const std::string& name, caf::actor_id id, const replica_state& state);
  void look_at(const outfeed_state& state);
  /// The outfeed passes on, and makes host calls of, what all replicas have applied.
  void compare(const outfeed_state& state);
  /// The horizon of an attempt does not move far once the chief has handled a stop in training.
  void look_at(const chief_state& state);

  size_t started_ = 0;
  std::vector<std::pair<std::string, caf::weak_actor_ptr>> nodes_;  ///< The current replicas, and the outfeed.
  std::map<std::shared_ptr<step_engine>, caf::actor_id> engines_;   ///< Kept alive, so no address is reused.
  std::map<std::pair<std::string, int64_t>, block> blocks_;         ///< By replica and first batch.
  int64_t sent_to_chief_ = 0;                                       ///< Messages put into its mailbox.
  std::optional<int64_t> stop_number_;                              ///< Which of them was the first stop.
  bool handled_stop_ = false;                                       ///< The chief has handled as many.
  std::optional<std::pair<int32_t, int64_t>> stopped_at_;           ///< The attempt, and its horizon after that turn.
  sights seen_;
};

}  // namespace troupe::test::random_faults
