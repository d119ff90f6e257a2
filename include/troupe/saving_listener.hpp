// Saving listeners: user objects that take part in every save of a job.
// Not needed to begin with.
//
//   struct uploader : tr::saving_listener {
//     verdict after_save(int64_t step, const std::string& prefix) override { return upload(prefix) ? verdict::go_on : verdict::stop; }
//   };
//   tr::train(estimator, {.input = data, .saving_listeners = {std::make_shared<uploader>()}});
//
// Training stands still from a save until all listeners have heard of it, so that one that stops the job ends it at exactly the saved state.
// Evaluations of a checkpoint begin after them.
#pragma once

#include <troupe/error.hpp>

#include <string>

namespace troupe {

/// Called where hooks are called (hook.hpp), before them, listener after listener in the order of `train_spec::saving_listeners`. An exception
/// that leaves a listener ends the job as one that leaves a hook does.
class TROUPE_API saving_listener {
 public:
  enum class verdict : uint8_t { go_on, stop };

  virtual ~saving_listener();
  /// Before the first step; `step` is where the job starts.
  virtual void begin(int64_t step);
  /// State `step` has been reached, and nothing of its checkpoint can be found before this has returned; unless the job is failing.
  virtual void before_save(int64_t step);
  /// The checkpoint `prefix` is durable. `stop` ends the job at this state; it is ignored for the save before the first step.
  virtual verdict after_save(int64_t step, const std::string& prefix);
  /// Last call of a job that ended cleanly.
  virtual void end(int64_t step);
};

}  // namespace troupe
