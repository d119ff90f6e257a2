// Iterators: how a job reads a dataset, and the interface for sources of one's own.
// Not needed to begin with.
//
// One iterator is used by one thread at a time (the infeed's). Its position is a few bytes that `save` returns and
// `restore` takes back, in this process or the next one: after it, the same batches follow.
#pragma once

#include <troupe/dataset.hpp>

#include <stop_token>

namespace troupe {

class TROUPE_API dataset_iterator {
 public:
  virtual ~dataset_iterator();

  /// The components of one row; a batch has one more axis in front.
  virtual const element_spec& spec() const noexcept = 0;
  /// Rows of a full batch.
  virtual int64_t batch_rows() const noexcept = 0;
  /// Writes the next batch, row after row, into one buffer a component (features, then labels, in the order of
  /// `spec()`), each with room for `batch_rows()` rows. Returns the rows written, at least 1.
  /// out_of_range: there is no further batch (and there will be none). cancelled: `stop` was requested while waiting.
  /// Any other error ends the job, and names the source and the position.
  virtual expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) = 0;
  /// The position before the next batch; unimplemented, naming the transformation, where it cannot be saved.
  virtual expected<std::string> save() const = 0;
  /// invalid_argument, saying what differs, when `state` was saved by a different pipeline.
  virtual expected<void> restore(std::string_view state) = 0;
  /// Findings of the last `restore` that are no reason to stop, one sentence each, such as a file that holds other data
  /// than when the position was saved. None unless overridden.
  virtual std::vector<std::string> warnings() const;
};

struct iterate_options {
  uint64_t seed = 0;          ///< For shuffles without a seed of their own.
  bool drop_remainder = false;///< For `batch` stages that do not specify it.
  int32_t host = 0;           ///< This infeed reads every `hosts`-th batch-sized share of the data: elements
  int32_t hosts = 1;          ///< host, host + hosts, ... of the batched sequence.
};

/// One stage of a dataset: immutable, shared, and any thread may call it.
class TROUPE_API dataset_node {
 public:
  virtual ~dataset_node();
  virtual element_spec spec() const = 0;
  virtual std::string to_text() const = 0;
  /// `source_size`: examples in one pass of the source. `elements`: elements in one whole pass of this stage;
  /// `drop_remainder` is for `batch` stages that do not specify it. Absent: unknown; an endless repeat has no element
  /// count.
  virtual std::optional<int64_t> source_size() const = 0;
  virtual std::optional<int64_t> elements(bool drop_remainder) const = 0;
  virtual expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const = 0;
};

}  // namespace troupe
