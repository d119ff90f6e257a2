// The checkpoints of a model directory as they come, for programs that follow a job in another process.
// Not needed to begin with.
//
//   auto all = tr::commits("runs/fashion", {.deadline = std::chrono::hours{1}});
//   for (auto next = all.next(); next && *next; next = all.next())
//     std::cout << (*next)->prefix << "\n";
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/error.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace troupe {

struct commits_options {
  std::chrono::milliseconds least_interval{0};  ///< From one commit that is returned to the next.
  /// How long to wait for a commit. None: without limit.
  std::optional<std::chrono::milliseconds> deadline = {};
  /// Asked when the deadline has passed: true ends the stream, false waits again. Empty: the deadline ends it.
  std::function<bool()> until = {};
};

struct committed_checkpoint {
  checkpoint_id id;
  std::string prefix;  ///< "runs/fashion/model.ckpt-390"
};

/// Each commit is returned once; those that a newer one supersedes before `next` is called are left out. Nothing keeps
/// a checkpoint from being deleted by its job's retention. One thread at a time. `state`: it was moved from.
class TROUPE_API commit_stream {
 public:
  commit_stream(commit_stream&&) noexcept;
  commit_stream& operator=(commit_stream&&) noexcept;
  ~commit_stream();
  /// Blocks until the newest commit is another one than that returned last. Nothing: the stream has ended. Errors of
  /// the disk, such as failed_precondition for a path that is no directory; one that is not there yet is waited for.
  expected<std::optional<committed_checkpoint>> next();

  struct impl;
  explicit commit_stream(std::unique_ptr<impl> i) noexcept;

 private:
  std::unique_ptr<impl> impl_;
};

TROUPE_API commit_stream commits(std::string model_dir, commits_options options = {});

}  // namespace troupe
