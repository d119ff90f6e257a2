// Batch feeds: data that threads of the program bring while a job reads them.
// Not needed to begin with.
//
//   tr::batch_feed feed{spec, {.batch_size = 64, .capacity = 8, .feeders = 2}};
//   auto job = tr::start(estimator, {.input = feed.input()});
//   ...                                       // in each of the two threads:
//   while (auto batch = next_batch())
//     if (!feed.put(*batch)) break;           // waits while eight batches wait to be read
//   feed.close();                             // the data end once both have closed
//
// A feed is a handle: copies are the same feed. Any thread may make any call.
#pragma once

#include <troupe/coordinator.hpp>
#include <troupe/dataset.hpp>

namespace troupe {

struct batch_feed_options {
  int64_t batch_size = 1;
  int64_t capacity = 8;  ///< Batches that wait to be read.
  int64_t feeders = 1;   ///< The data end when so many have closed.
  /// What was put is gone once it is read, so a checkpoint has no position of it: a job that saves is refused. True: it
  /// saves, and one that resumes reads what is put then.
  bool forgets = false;
  std::string name = "feed";  ///< For errors and positions.
};

class TROUPE_API batch_feed {
 public:
  batch_feed(const batch_feed&) = default;  // A move is a copy.
  batch_feed& operator=(const batch_feed&) = default;
  /// `spec` lists the components of one row.
  batch_feed(element_spec spec, batch_feed_options options);

  /// The batches, for one reader at a time. invalid_argument when it is read: a spec as of a generator, a number below
  /// 1, or a stage after it, which could not go back; failed_precondition: somebody reads it already, or several hosts
  /// would.
  dataset input() const;
  /// Adds a batch: tensors [batch_size, dims...]. Waits for room, up to `patience`. invalid_argument naming a component
  /// that is missing, is none of the spec's or has another dtype or shape; deadline_exceeded; cancelled: after `cancel`
  /// or `fail`; state: all feeders have closed.
  expected<void> put(example_tensors batch, std::optional<std::chrono::milliseconds> patience = {});
  /// One of the feeders has no more batches. What was put before can still be read.
  void close();
  /// The reader gets this error once it has read what was put; nothing more is taken. The first error counts.
  /// out_of_range and cancelled become `state`: a reader takes them for the end of the data and for a stop.
  void fail(error cause);
  /// Nobody waits any more: `put` returns cancelled, and the data end.
  void cancel();

  struct shared;

 private:
  friend TROUPE_API void feed_from(coordinator& together, batch_feed feed, const std::string& name,
                                   const std::function<expected<std::optional<example_tensors>>()>& next);
  /// How often the feed was opened to be read.
  int64_t openings() const;
  /// Reads are cancelled until it is opened again after the first `openings` times; waits for that. False: it has
  /// ended.
  bool await_opening(int64_t openings);

  std::shared_ptr<shared> shared_;
};

/// Feeds what `next` returns until it returns nothing, on the calling thread, which the coordinator waits for under
/// `name`. An error that is clean for the coordinator closes the feed, as the end of the data does; another one stops
/// all threads, and the job. A stop cancels the feed, unless it passes (`coordinator_options::passing`, as `aborted`
/// and `unavailable` do beside a session): then nothing ends, and nothing is lost that was put. If `next` itself has
/// failed with such an error, a read is cancelled once what was put is read, and `next` is called again when the job
/// has gone back to its checkpoint.
TROUPE_API void feed_from(coordinator& together, batch_feed feed, const std::string& name,
                          const std::function<expected<std::optional<example_tensors>>()>& next);

}  // namespace troupe
