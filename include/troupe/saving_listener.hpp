// Saving listeners: user objects that take part in every save of a job.
// Not needed to begin with.
//
//   struct uploader : tr::saving_listener {
//     answer after_save(int64_t step, const std::string& prefix) override {
//       return upload(prefix) ? answer::go_on : answer::stop;
//     }
//   };
//   tr::train(estimator, {.input = data, .saving_listeners = {std::make_shared<uploader>()}});
//
// Training pauses at a save until all listeners have returned, so a listener that stops the job ends it at exactly the
// saved state. Evaluations of a checkpoint begin afterwards.
#pragma once

#include <troupe/error.hpp>

#include <string>

namespace troupe {

/// Called on the thread of hooks (hook.hpp), before them, in the order of `train_spec::saving_listeners`. A listener
/// that throws fails the job, as a hook does.
class TROUPE_API saving_listener {
 public:
  enum class answer : uint8_t { go_on, stop };

  virtual ~saving_listener();
  /// Called before the first step; `step` is where the job starts.
  virtual void begin(int64_t step);
  /// Called when state `step` has been reached; its checkpoint is committed after this returns. Not in a failing job.
  virtual void before_save(int64_t step);
  /// Called once the checkpoint `prefix` is durable. `stop` ends the job at this state; for the save before the first
  /// step it is ignored.
  virtual answer after_save(int64_t step, const std::string& prefix);
  /// The last call of a job that ended cleanly.
  virtual void end(int64_t step);
};

}  // namespace troupe
