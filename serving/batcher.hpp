// Computes the requests for one signature of one model in batches, on the threads that bring them: a thread that finds
// a batch due and a caller free computes that batch, for itself and for the other requests in it. A request that comes
// alone is thus computed by its own thread, and no thread has to be woken.
#pragma once

#include "serving/batch_queue.hpp"
#include "serving/servable.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace troupe {

struct batcher_options {
  batch_limits limits = {};
  int64_t callers_max = 1;                                       ///< How many batches are computed at one time.
  std::chrono::nanoseconds wait_max = std::chrono::seconds{10};  ///< How long a request waits for its turn.
  std::function<void(int64_t rows)> on_batch = {};               ///< Called before each batch; any thread.
};

/// Any thread. The batcher must outlive the calls.
class batcher {
 public:
  batcher(std::shared_ptr<const servable> model, std::string signature, batcher_options options)
    : model_(std::move(model)), signature_(std::move(signature)), options_(std::move(options)),
      queue_(options_.limits) {
    idle_.reserve(static_cast<size_t>(options_.callers_max));
  }

  /// The outputs for `rows` rows of each input; blocks until they are computed. resource_exhausted: too many requests
  /// wait; deadline_exceeded: the request had no turn within `wait_max`; errors of the model. If the model refuses one
  /// request of a batch, only that request fails.
  expected<std::vector<tensor>> call(std::span<const tensor> inputs, int64_t rows);

  int64_t waiting() const;

 private:
  using results = expected<std::vector<tensor>>;
  struct request {
    std::span<const tensor> inputs;
    int64_t rows = 0;
    bool taken = false, done = false;
    /// Written without the lock by the thread that computes the batch, until `done`.
    results result = fail(errc::resource_exhausted, "no memory");
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
  std::map<uint64_t, request*> requests_;  ///< The requests that wait.
  std::vector<std::unique_ptr<servable_caller>> idle_;
  int64_t leaders_ = 0;
  uint64_t next_id_ = 0;
};

}  // namespace troupe
