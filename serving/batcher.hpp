// Computes the requests for one signature of one model in batches, on the threads that bring them: whoever finds a batch due and a
// caller free computes it, for himself and for the others in it. A request that comes alone is thus computed where it came, without
// waking anybody.
#pragma once

#include "serving/batch_queue.hpp"
#include "serving/servable.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace troupe {

struct batcher_options {
  batch_limits limits = {};
  int64_t callers_max = 1;                              ///< Batches that are computed at one time.
  std::chrono::nanoseconds wait_max = std::chrono::seconds{10};  ///< What a request waits for its turn.
  std::function<void(int64_t rows)> on_batch = {};      ///< Told of each batch before it is computed; any thread.
};

/// Any thread; must outlive its calls.
class batcher {
 public:
  batcher(std::shared_ptr<const servable> model, std::string signature, batcher_options options)
    : model_(std::move(model)), signature_(std::move(signature)), options_(std::move(options)), queue_(options_.limits) {
    idle_.reserve(static_cast<size_t>(options_.callers_max));
  }

  /// The outputs for `rows` rows of each input. Blocks until they are there. resource_exhausted: too many requests wait;
  /// deadline_exceeded: it had no turn in time; errors of the model. A request that the model refuses fails alone.
  expected<std::vector<tensor>> call(std::span<const tensor> inputs, int64_t rows);

  int64_t waiting() const;

 private:
  using results = expected<std::vector<tensor>>;
  struct request {
    std::span<const tensor> inputs;
    int64_t rows = 0;
    bool taken = false, done = false;
    results result = fail(errc::resource_exhausted, "no memory");  ///< Written by the leader, without the lock, until it is done.
    std::condition_variable woken = {};
  };
  using lock = std::unique_lock<std::mutex>;

  static batch_queue::time now() { return std::chrono::steady_clock::now().time_since_epoch(); }
  results wait(lock& held, uint64_t id, request& mine, batch_queue::time deadline);
  void lead(lock& held);
  void compute_in_order(std::unique_ptr<servable_caller>& caller, const std::vector<request*>& batch) const noexcept;
  void compute(std::unique_ptr<servable_caller>& caller, const std::vector<request*>& batch) const;
  static void compute_apart(servable_caller& caller, const std::vector<request*>& batch);
  static void refuse(const std::vector<request*>& batch, const error& why);
  void wake_oldest();

  std::shared_ptr<const servable> model_;
  std::string signature_;
  batcher_options options_;

  mutable std::mutex guard_;
  batch_queue queue_;
  std::map<uint64_t, request*> requests_;               ///< Those that wait.
  std::vector<std::unique_ptr<servable_caller>> idle_;
  int64_t leaders_ = 0;
  uint64_t next_id_ = 0;
};

}  // namespace troupe
