// Stages that are functions of the index: element i of any epoch can be computed without reading the elements before
// it.
//
// A read has two loops: the stages convert an element to ranges of source rows, then the source copies these ranges. So
// a position is one number, adjacent rows are copied together, and no memory is allocated for a batch.
#pragma once

#include "input/streams/source_fingerprint.hpp"

#include <troupe/dataset_iterator.hpp>

#include <limits>

namespace troupe::input {

/// The length of an endless epoch.
inline constexpr int64_t endless = std::numeric_limits<int64_t>::max();

/// The source rows [first, first + count). They become consecutive rows of a batch.
struct row_range {
  int64_t first = 0;
  int64_t count = 0;
  bool begins = false;  ///< Whether they are of an example with which a stream begins (`dataset::streams`).
  friend bool operator==(const row_range&, const row_range&) = default;
};

/// The options of the job that change the meaning of a position, besides the stages themselves.
struct reading {
  uint64_t seed = 0;
  bool drop_remainder = false;
};

/// Copies rows of fixed size in any order.
class row_reader {
 public:
  virtual ~row_reader() = default;
  /// Copies the ranges in order into one buffer for each component. An error names the source and the row. Errors:
  /// cancelled after a request to stop, where a row may take long.
  virtual expected<void> read_rows(std::span<const row_range> ranges, std::span<std::byte* const> into,
                                   const std::stop_token& stop) const = 0;
  /// Whether the rows lie in memory as they are read, one after the other.
  virtual bool lends() const noexcept { return false; }
  /// In that case: the rows of a range, by component.
  virtual std::vector<tensor> lend_rows(const row_range& range) const {
    static_cast<void>(range);
    return {};
  }
  /// The fingerprint of the data that are read.
  virtual const lazy_fingerprint& fingerprint() const noexcept = 0;
};

class row_stage : public dataset_stage, public std::enable_shared_from_this<row_stage> {
 public:
  /// The number of elements in one epoch, or `endless`.
  virtual int64_t length(const reading& r) const = 0;
  /// Appends the rows of the elements [first, first + count) of an epoch. The elements must be within `length`.
  virtual void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
                      std::vector<row_range>& out) const = 0;
  /// The source of the rows.
  virtual const row_reader& source() const noexcept = 0;
  /// The number of rows in a full element. 0 before the stage `batch`, where an element is one example.
  virtual int64_t batch_size() const noexcept = 0;
  /// Whether elements are batches of consecutive examples, one epoch after the other. Then a position is an example of
  /// an epoch, so that batches of another size may go on from it.
  virtual bool batches_in_order() const noexcept { return false; }
  /// In that case: the number of batches in each epoch, or `endless`.
  virtual int64_t batches_of_epoch(const reading& r) const { return length(r); }
  /// The number of source rows for one example: 1 without windows.
  virtual int64_t rows_per_example() const noexcept = 0;
  /// Whether an example depends on nothing but its rows, and is the same wherever it is read. False if it also says
  /// whether a stream begins with it.
  virtual bool made_of_rows() const noexcept = 0;
  /// The number of shuffles up to this stage, so that each shuffle has its own key.
  virtual uint64_t shuffles() const noexcept = 0;
  /// Appends one text for each stage, source first. With `r`, options that a stage leaves to the job are included, so
  /// that the texts determine what a position means.
  virtual void describe(std::vector<std::string>& stages, const reading* r) const = 0;
  /// Error: invalid_argument naming the first stage that leaves no elements.
  virtual expected<void> check(const reading& r) const = 0;

  std::string to_text() const final;
  std::optional<int64_t> elements(bool drop_remainder) const final;
  bool never_ends() const noexcept final { return length({}) == endless; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const final;
};

/// A source; always the first stage.
class row_source : public row_stage, public row_reader {
 public:
  virtual int64_t rows() const noexcept = 0;
  /// Computed on first use.
  const lazy_fingerprint& fingerprint() const noexcept final { return fingerprint_; }

  int64_t length(const reading&) const final { return rows(); }
  void locate(const reading&, uint64_t, int64_t first, int64_t count, std::vector<row_range>& out) const final {
    out.push_back({first, count});
  }
  const row_reader& source() const noexcept final { return *this; }
  int64_t batch_size() const noexcept final { return 0; }
  int64_t rows_per_example() const noexcept final { return 1; }
  bool made_of_rows() const noexcept final { return true; }
  uint64_t shuffles() const noexcept final { return 0; }
  expected<void> check(const reading& r) const final;
  std::optional<int64_t> source_size() const final { return rows(); }

 protected:
  /// Computes the fingerprint. Called once, at the first use of `fingerprint()`.
  virtual source_fingerprint take_fingerprint() const = 0;

 private:
  lazy_fingerprint fingerprint_{[this] { return take_fingerprint(); }};
};

/// A transformation of another indexed node. It delegates to that node whatever it does not change.
class row_transformation : public row_stage {
 public:
  explicit row_transformation(std::shared_ptr<const row_stage> inner) : inner_(std::move(inner)) {}

  const row_reader& source() const noexcept override { return inner_->source(); }
  int64_t batch_size() const noexcept override { return inner_->batch_size(); }
  int64_t rows_per_example() const noexcept override { return inner_->rows_per_example(); }
  bool made_of_rows() const noexcept override { return inner_->made_of_rows(); }
  uint64_t shuffles() const noexcept override { return inner_->shuffles(); }
  void describe(std::vector<std::string>& stages, const reading* r) const final;
  expected<void> check(const reading& r) const final;
  element_spec spec() const override { return inner_->spec(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  int64_t streams() const noexcept override { return inner_->streams(); }

 protected:
  virtual std::string stage_text(const reading* r) const = 0;
  const row_stage& inner() const noexcept { return *inner_; }

 private:
  std::shared_ptr<const row_stage> inner_;
};

}  // namespace troupe::input
