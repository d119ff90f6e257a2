// Evaluation listeners: user objects that decide whether an evaluator goes on.
// Not needed to begin with.
//
//   struct patience : tr::evaluation_listener {
//     bool after(tr::evaluation_outcome what, const tr::evaluation_result*) override {
//       return what != tr::evaluation_outcome::missing;  // Gives up if ten minutes have brought no checkpoint.
//     }
//   };
//
// Only a process that evaluates and does not train calls them (cluster.hpp); other processes ignore them.
#pragma once

#include <troupe/results.hpp>

namespace troupe {

enum class evaluation_outcome : uint8_t {
  evaluated,  ///< A checkpoint was evaluated, and its exporters have run.
  no_new,     ///< There has been no other checkpoint since the last evaluation; told every ten minutes, with a warning.
  missing,    ///< There has been no checkpoint at all; told like `no_new`.
};
TROUPE_API std::string_view to_string(evaluation_outcome o) noexcept;

/// Called on the thread of the evaluator's driver, one call at a time. False ends the process as a stop does: an
/// evaluation of another `eval_spec` that runs is awaited. One that throws fails it.
class TROUPE_API evaluation_listener {
 public:
  virtual ~evaluation_listener();
  /// Called before a checkpoint is evaluated.
  virtual bool before();
  /// `result` is null unless `what` is `evaluated`.
  virtual bool after(evaluation_outcome what, const evaluation_result* result);
};

}  // namespace troupe
