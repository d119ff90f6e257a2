// Iterators: how a job reads a dataset, and the interface for your own sources.
// Not needed to begin with.
//
// An iterator is used by one thread at a time, the infeed's. `save` returns its position as a few bytes. After
// `restore` with them, in this process or another, the same batches follow.
#pragma once

#include <troupe/dataset.hpp>

#include <stop_token>

namespace troupe {

/// Batches that lie one after the other in the memory of their source.
struct lent_batches {
  int64_t count = 0;
  std::vector<tensor> components = {};  ///< In the order of `spec()`: count · batch_rows() rows, which nobody changes.
};

class TROUPE_API dataset_iterator {
 public:
  virtual ~dataset_iterator();

  /// The components of one row; those of a batch have one more axis in front.
  virtual const element_spec& spec() const noexcept = 0;
  /// Rows of a full batch.
  virtual int64_t batch_rows() const noexcept = 0;
  /// Writes the next batch, row after row, into one buffer for each component (features, then labels, in the order of
  /// `spec()`), each with room for `batch_rows()` rows. Returns the number of rows written, at least 1. out_of_range:
  /// the end of the data. cancelled: `stop` was requested while waiting. Any other error ends the job, and names source
  /// and position.
  virtual expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) = 0;
  /// The next full batches, at most `most` (at least 1), which need not be copied: the position is then behind them.
  /// None: the next batch has to be read, as at the end of the data. Does not wait. An error ends the job. None unless
  /// overridden.
  virtual expected<lent_batches> lend(int64_t most);
  /// The position before the next batch. unimplemented, naming the stage: it cannot be saved.
  virtual expected<std::string> save() const = 0;
  /// Goes to a saved position. invalid_argument, naming the difference: `state` was saved by another pipeline.
  virtual expected<void> restore(std::string_view state) = 0;
  /// Problems that the last `restore` found but that are no errors, one sentence each, such as a file whose data have
  /// changed since the position was saved. Empty unless overridden.
  virtual std::vector<std::string> warnings() const;
  /// The number of rows of an indexed source, if each example is one of them and the same in every epoch: what is
  /// computed from it can then be kept. Absent: it is not so, or not known. Absent unless overridden.
  virtual std::optional<int64_t> source_rows() const;
  /// Writes the source row of each example of the last batch that was read. Called only where `source_rows` has a
  /// value.
  virtual void last_rows(std::span<int64_t> into) const;
};

struct iterate_options {
  uint64_t seed = 0;            ///< For shuffles without a seed of their own.
  bool drop_remainder = false;  ///< For `batch` stages that do not specify it.
  int32_t host = 0;             ///< The iterator reads every `hosts`-th batch:
  int32_t hosts = 1;            ///<   host, host + hosts, ...
};

/// One stage of a dataset: immutable and shared. Any thread may call it.
class TROUPE_API dataset_stage {
 public:
  virtual ~dataset_stage();
  virtual element_spec spec() const = 0;
  virtual std::string to_text() const = 0;
  /// `source_size`: examples in one epoch of the source. `elements`: elements in one epoch of this stage, where
  /// `drop_remainder` is for `batch` stages that do not specify it. Absent: unknown, or an endless repeat.
  virtual std::optional<int64_t> source_size() const = 0;
  virtual std::optional<int64_t> elements(bool drop_remainder) const = 0;
  virtual expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const = 0;
  /// n if example j of an epoch continues example j - n, as after `dataset::streams(n)`, also where the examples are
  /// those of batches. Later stages that keep this order report it too. 0: it is not so, or not known. 0 unless
  /// overridden.
  virtual int64_t streams() const noexcept;
  /// Whether its elements never end, as after an endless repeat: an evaluation of all of them is refused. False unless
  /// overridden.
  virtual bool never_ends() const noexcept;
};

}  // namespace troupe
