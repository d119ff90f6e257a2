// The wait for a sub-plan's next batch, and the inquiry after a silence.
#pragma once

#include "actors/inquiry.hpp"
#include "actors/sub_plan.hpp"
#include "actors/wait_timer.hpp"

#include <optional>

namespace troupe {

/// Used by an evaluator or a predictor. A silence does not show its cause, so all nodes are asked how far they are; a
/// node that does not answer is busy with the missing batch.
template <class Self>
class sub_plan_wait {
 public:
  /// `outcome` completes the error "batch N was not OUTCOME within ...", for example "evaluated". No wait begins yet.
  void start(Self self, std::string driver, std::string outcome, std::chrono::milliseconds silence_max) {
    self_ = self;
    driver_ = std::move(driver);
    outcome_ = std::move(outcome);
    silence_max_ = silence_max;
    waiting_.start(self, waits{4, waits::period_for({silence_max})});
  }
  /// Begins the wait for the nodes.
  void await_nodes() {
    disarm();
    waiting_.arm(kind::nodes, silence_max_);
  }
  /// Begins the wait for the next batch, which replaces the previous wait.
  void await(int64_t batch) {
    disarm();
    batch_ = batch;
    waiting_.arm(kind::batch, silence_max_);
  }
  /// Begins the wait for replicas that are to stop. They get the time of a batch, and less if they have had it.
  void await_halted(bool after_silence) {
    disarm();
    halted_max_ = after_silence ? std::min(silence_max_, answers_max) : silence_max_;
    waiting_.arm(kind::halted, halted_max_);
  }
  void disarm() { waiting_.disarm_all(); }
  /// Returns the error if the wait has failed.
  std::optional<error> on(const deadline& x, const sub_plan& nodes) {
    const auto over = waiting_.on(x);
    if (over == kind::nodes)
      return error{errc::deadline_exceeded,
                   "the nodes were not started within " + std::to_string(silence_max_.count() / 1000)
                       + " s, waiting for " + nodes.agents_awaited(),
                   {},
                   driver_};
    if (over == kind::halted)
      return error{errc::deadline_exceeded,
                   "the replicas did not stop within " + std::to_string(halted_max_.count() / 1000) + " s",
                   {},
                   driver_};
    if (over == kind::answers)
      return silent();
    if (over == kind::batch) {
      nodes.ask(whereabouts_.begin(nodes.names()));
      waiting_.arm(kind::answers, std::min(silence_max_, answers_max));
    }
    return {};
  }
  std::optional<error> on(const standing& x) {
    return whereabouts_.on(x) && waiting_.armed(kind::answers) ? std::optional{silent()} : std::nullopt;
  }

 private:
  enum class kind : int32_t { nodes, batch, answers, halted };
  static constexpr std::chrono::milliseconds answers_max{30'000};
  error silent() const {
    return {errc::deadline_exceeded,
            "batch " + std::to_string(batch_) + " was not " + outcome_ + " within "
                + std::to_string(silence_max_.count() / 1000) + " s: " + whereabouts_.text(),
            {},
            driver_};
  }

  Self self_ = nullptr;
  std::string driver_, outcome_;
  std::chrono::milliseconds silence_max_{}, halted_max_{};
  int64_t batch_ = 0;
  wait_timer<Self, kind> waiting_;
  inquiry whereabouts_;
};

}  // namespace troupe
