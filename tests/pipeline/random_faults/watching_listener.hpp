// A saving listener that records its calls, and stops the job at the state that the recipe names.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

#include <troupe/saving_listener.hpp>

namespace troupe::test::random_faults {

class watching_listener final : public saving_listener {
 public:
  enum class place : uint8_t { begin, before, after, end };
  struct call {
    place where = place::begin;
    int64_t step = 0;
  };

  explicit watching_listener(const recipe& r) : stops_from_(r.listener_stops_from.value_or(INT64_MAX)) {}

  const std::vector<call>& calls() const { return calls_; }
  /// The saved state at which the listener stopped the job.
  const std::optional<int64_t>& stopped_at() const { return stopped_at_; }

  void begin(int64_t step) override { calls_.push_back({place::begin, step}); }
  void before_save(int64_t step) override { calls_.push_back({place::before, step}); }
  answer after_save(int64_t step, const std::string&) override {
    calls_.push_back({place::after, step});
    const bool before_training = step == calls_.front().step;  // The verdict on this save is ignored.
    if (stopped_at_ || step < stops_from_ || before_training)
      return answer::go_on;
    stopped_at_ = step;
    return answer::stop;
  }
  void end(int64_t step) override { calls_.push_back({place::end, step}); }

 private:
  int64_t stops_from_;
  std::vector<call> calls_;
  std::optional<int64_t> stopped_at_;
};

}  // namespace troupe::test::random_faults
