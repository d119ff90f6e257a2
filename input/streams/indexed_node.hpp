// Stages that are functions of position: element i of pass `epoch` is computable without reading the elements before
// it.
//
// A read is two loops: stages turn one element into runs of source rows, then the source copies the runs. A position is
// therefore one number, adjacent rows are copied together, and nothing is allocated for a batch.
#pragma once

#include "input/streams/source_print.hpp"

#include <troupe/dataset_iterator.hpp>

#include <limits>

namespace troupe::input {

/// The length of a pass that has no end.
inline constexpr int64_t endless = std::numeric_limits<int64_t>::max();

/// Source rows [first, first + count), which become consecutive rows of a batch.
struct run {
  int64_t first = 0;
  int64_t count = 0;
  friend bool operator==(const run&, const run&) = default;
};

/// The job's options that a position depends on beside the stages themselves.
struct reading {
  uint64_t seed = 0;
  bool drop_remainder = false;
};

/// Copies rows of fixed size in any order.
class row_reader {
 public:
  virtual ~row_reader() = default;
  /// Copies `runs` in order into one buffer a component. An error names the source and the row.
  virtual expected<void> gather(std::span<const run> runs, std::span<std::byte* const> into) const = 0;
  /// The print of the data that are read.
  virtual const lazy_print& print() const noexcept = 0;
};

class indexed_node : public dataset_node, public std::enable_shared_from_this<indexed_node> {
 public:
  /// Elements of one pass, or `endless`.
  virtual int64_t length(const reading& r) const = 0;
  /// Appends the rows of elements [first, first + count) of pass `epoch`; the range must be within `length`.
  virtual void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count, std::vector<run>& out) const = 0;
  /// Where the rows come from.
  virtual const row_reader& source() const noexcept = 0;
  /// Rows of a full element; 0 before `batch`, where an element is an example.
  virtual int64_t batch_size() const noexcept = 0;
  /// Source rows of one example: 1, unless there are windows.
  virtual int64_t rows_per_example() const noexcept = 0;
  /// The number of shuffles up to here, so that each has a key of its own.
  virtual uint64_t shuffles() const noexcept = 0;
  /// Appends one text a stage, source first. With `r`, the options that the stage leaves to the job are filled in: such
  /// a text has everything that the meaning of a position depends on.
  virtual void describe(std::vector<std::string>& stages, const reading* r) const = 0;
  /// invalid_argument naming the first stage that leaves no elements.
  virtual expected<void> check(const reading& r) const = 0;

  std::string to_text() const final;
  std::optional<int64_t> elements(bool drop_remainder) const final;
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const final;
};

/// The first stage.
class row_source : public indexed_node, public row_reader {
 public:
  virtual int64_t rows() const noexcept = 0;
  /// Computed on first use.
  const lazy_print& print() const noexcept final { return print_; }

  int64_t length(const reading&) const final { return rows(); }
  void locate(const reading&, uint64_t, int64_t first, int64_t count, std::vector<run>& out) const final {
    out.push_back({first, count});
  }
  const row_reader& source() const noexcept final { return *this; }
  int64_t batch_size() const noexcept final { return 0; }
  int64_t rows_per_example() const noexcept final { return 1; }
  uint64_t shuffles() const noexcept final { return 0; }
  expected<void> check(const reading& r) const final;
  std::optional<int64_t> source_size() const final { return rows(); }

 protected:
  /// Called once, on the first use of `print()`.
  virtual source_print take_print() const = 0;

 private:
  lazy_print print_{[this] { return take_print(); }};
};

/// A transformation of another indexed node, to which it delegates everything that it does not change.
class indexed_stage : public indexed_node {
 public:
  explicit indexed_stage(std::shared_ptr<const indexed_node> inner) : inner_(std::move(inner)) {}

  const row_reader& source() const noexcept override { return inner_->source(); }
  int64_t batch_size() const noexcept override { return inner_->batch_size(); }
  int64_t rows_per_example() const noexcept override { return inner_->rows_per_example(); }
  uint64_t shuffles() const noexcept override { return inner_->shuffles(); }
  void describe(std::vector<std::string>& stages, const reading* r) const final;
  expected<void> check(const reading& r) const final;
  element_spec spec() const override { return inner_->spec(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }

 protected:
  virtual std::string stage_text(const reading* r) const = 0;
  const indexed_node& inner() const noexcept { return *inner_; }

 private:
  std::shared_ptr<const indexed_node> inner_;
};

}  // namespace troupe::input
