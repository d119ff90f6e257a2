// The planned programs of a model, one for each batch size.
#pragma once

#include "compute/engine/step_engine.hpp"
#include "compute/graph/graph.hpp"

namespace troupe {

/// Plans the program for a batch size when it is first requested. Used by one thread at a time.
class bound_programs {
 public:
  /// Keeps a reference to `options`.
  explicit bound_programs(const program_engine_options& options);

  /// The program for batches of `rows` rows. The first program stays valid forever, any other until seven further batch
  /// sizes have been planned. With `forward_only` the program computes no gradients. Returns the errors of planning.
  expected<program*> find(int64_t rows, bool forward_only = false);
  /// The first program, if it was planned for `rows`; else null.
  program* first_if(int64_t rows, bool forward_only) const;
  const program& first() const { return *gradients_.front().second; }

 private:
  using bindings = std::vector<std::pair<int64_t, std::unique_ptr<program>>>;

  const program_engine_options& options_;
  std::shared_ptr<thread_pool> pool_;  ///< Null: no helper threads.
  bindings gradients_, forward_;
};

}  // namespace troupe
