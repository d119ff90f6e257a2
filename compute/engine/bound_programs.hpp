// The programs of a model, one for each number of rows that its batches have had.
#pragma once

#include "compute/engine/step_engine.hpp"
#include "compute/graph/graph.hpp"

namespace troupe {

/// Plans a program when its number of rows is first asked for. Used by one thread at a time.
class bound_programs {
 public:
  /// Keeps a reference to `options`.
  explicit bound_programs(const program_engine_options& options);

  /// The program for batches of `rows`; it stays valid until eight others have been asked for, and the first one for ever. `forward_only`: it computes no
  /// gradients. Whatever planning fails with.
  expected<program*> find(int64_t rows, bool forward_only = false);
  /// The first program that was asked for, if it is for `rows`; else null.
  program* first_if(int64_t rows, bool forward_only) const;
  const program& first() const { return *gradients_.front().second; }

 private:
  using bindings = std::vector<std::pair<int64_t, std::unique_ptr<program>>>;

  const program_engine_options& options_;
  std::shared_ptr<thread_pool> pool_;    ///< Null: only the caller's thread computes.
  bindings gradients_, forward_;
};

}  // namespace troupe
