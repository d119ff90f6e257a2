// Datasets: descriptions of where batches come from; nothing is read before a job iterates one.
// Read it to begin with.
//
//   auto data = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");   // expected<train_and_test>
//   auto input = data->train.shuffle().batch(128).repeat();
//
// Your own examples come from tensors or from a function (`from_generator`), and `map` changes them one by one.
//
// A random-access dataset is a function from index to example, so its position is all that a checkpoint stores: a job
// resumes exactly. A dataset is a cheap value; any thread may copy or describe it.
//
// Stages return datasets, not errors, so that a pipeline is one chain of calls. A stage that cannot be, such as a batch
// of batches, is an error when the dataset is read: when a job starts. It names the first such stage and the chain.
#pragma once

#include <troupe/tensor.hpp>

#include <functional>
#include <map>

namespace troupe {

/// One named part of an element. `dims` is the shape of one row, without the batch axis.
struct component {
  std::string name = {};
  dtype type = dtype::float32;
  shape dims = {};
  /// The size of one row in bytes.
  int64_t row_bytes() const noexcept { return dims.elements() * size_of(type); }
  friend bool operator==(const component&, const component&) = default;
};

/// The components of one element: features, then labels, each sorted by name.
struct element_spec {
  std::vector<component> features = {};
  std::vector<component> labels = {};
  /// Features, then labels: the order in which an iterator fills its buffers.
  std::vector<component> components() const {
    auto all = features;
    all.insert(all.end(), labels.begin(), labels.end());
    return all;
  }
  friend bool operator==(const element_spec&, const element_spec&) = default;
};

/// One example, as user functions make and receive it: a tensor for each component, without a batch axis.
struct example_tensors {
  std::map<std::string, tensor> features = {};
  std::map<std::string, tensor> labels = {};
};

/// A sequence of examples for one reading of the data. Used by one thread at a time. An error of these functions with
/// the category out_of_range or cancelled becomes a `state` error, since datasets use these two for the end and a stop.
struct example_stream {
  /// The next example; nothing at the end. An error ends the job.
  std::function<expected<std::optional<example_tensors>>()> next = {};
  /// `save` returns the position before the next example as bytes; `restore` goes back to it, in this process or
  /// another. Give both or neither: without them a job that reads the stream cannot write checkpoints. `save` is called
  /// for every block of batches, so it should be cheap.
  std::function<expected<std::string>()> save = {};
  std::function<expected<void>(std::string_view position)> restore = {};
};

struct stream_options {
  /// The name of a feature, boolean [], that is added to every example: whether a stream begins with it, so that a
  /// model resets its state. True for the first example of each stream in each epoch. Empty: no such feature.
  std::string begins = {};
};

class dataset_stage;  // In dataset_iterator.hpp.

/// A source of examples with stages: an immutable description that jobs read.
class TROUPE_API dataset {
 public:
  /// A dataset without a source. Reading it, or a dataset made from it, is invalid_argument.
  dataset() = default;

  /// Examples in memory, which are shared and not copied. Axis 0 of every tensor is the example; invalid_argument:
  /// tensors with different numbers of examples.
  static expected<dataset> from_tensors(std::vector<std::pair<std::string, tensor>> features,
                                        std::vector<std::pair<std::string, tensor>> labels = {});

  /// Examples made by your function. `spec` lists the components that every example has; an example that differs is an
  /// error of the step (invalid_argument naming generator, example and component). `name` identifies the function in
  /// texts, errors and saved positions: a job resumes only with a generator of the same name and spec. An exception
  /// from the function becomes an error that names the generator. invalid_argument: an empty function; a spec without
  /// features, a repeated name or a negative extent; a name that is empty or has a line break; a negative count.
  ///
  /// Random access: `make(i)` returns example i of `count`, always the same one. It is called on any thread, on several
  /// at once, and as often as needed. Such a dataset can be shuffled, and a job resumes exactly: prefer it to a stream.
  static expected<dataset> from_generator(element_spec spec, int64_t count,
                                          std::function<expected<example_tensors>(int64_t index)> make,
                                          std::string name = "generator");
  /// A stream: `next` returns an example or, at the end, nothing. Each reading of the data (an epoch of `repeat`, an
  /// evaluation) begins with a copy of `next`, so `next` must hold its state in captures, by value. A stream cannot be
  /// shuffled, and its position cannot be saved: a job with checkpoints ends with unimplemented, naming the stream.
  static expected<dataset> from_generator(element_spec spec,
                                          std::function<expected<std::optional<example_tensors>>()> next,
                                          std::string name = "generator");
  /// A stream that can save its position. `open` makes a new one for each reading of the data, on any thread.
  static expected<dataset> from_generator(element_spec spec, std::function<expected<example_stream>()> open,
                                          std::string name = "generator");

  /// Applies `change` to every example; only before `batch`. The results have the components of `becomes`, by default
  /// those of this dataset. `change` is called each time an example is read, on any thread, on several at once. It must
  /// give equal results for equal examples, since resuming relies on it. `name` identifies it in texts, errors and
  /// saved positions. A result that does not fit and an exception are errors, as in `from_generator`.
  dataset map(std::string name, std::function<expected<example_tensors>(const example_tensors&)> change,
              std::optional<element_spec> becomes = {}) const;
  /// Permutes all elements (examples; after `batch`, whole batches) in a new order each epoch. Absent `seed`: that of
  /// the job. unimplemented: a source that cannot be read in any order, such as a stream.
  dataset shuffle(std::optional<uint64_t> seed = {}) const;
  /// Joins `size` consecutive examples, at least 1, to one element. `drop_remainder`: whether to drop a partial last
  /// batch; by default it is dropped in training and kept otherwise.
  dataset batch(int64_t size, std::optional<bool> drop_remainder = {}) const;
  /// Repeats the data for `epochs` epochs, at least 1, or endlessly when absent.
  dataset repeat(std::optional<int64_t> epochs = {}) const;
  /// Keeps (take), or drops (skip), the first `count` elements, at least 1 (take) or 0 (skip).
  dataset take(int64_t count) const;
  dataset skip(int64_t count) const;
  /// Every `count`-th element, `count` in [1, 2^31], from element `index` on, `index` in [0, count). Keeps streams
  /// apart only after `batch`.
  dataset shard(int64_t count, int64_t index) const;
  /// Element i stacks the elements [i·shift, i·shift + size): a component of dims d becomes [size, d...]. What does not
  /// fill a window is dropped. Only before `batch`, and only over sources that can be read in any order.
  dataset window(int64_t size, int64_t shift) const;
  /// For models that carry state from batch to batch (truncated backpropagation through time): an epoch of L elements
  /// becomes n streams of L/n consecutive ones, n at least 1. Element j is element (j mod n)·(L/n) + j/n of this
  /// dataset, so in `.streams(n).batch(n)` row i of a batch continues row i of the batch before. The last L mod n
  /// elements are dropped. Where k readers or replicas take batches in turn, n is k times the size of a batch.
  ///
  /// Only before `batch`, and only over sources that can be read in any order. What would break the rows apart is
  /// invalid_argument: `shuffle`, `window` and `streams` after it, `take` and `skip` between it and `batch`. So shuffle
  /// documents or windows before it. Also invalid_argument: `begins` is a component of the dataset already.
  dataset streams(int64_t n, stream_options options = {}) const;

  /// The components of one example, also after `batch`.
  element_spec spec() const;
  /// The chain of stages: "idx(train-images) -> shuffle -> batch(128) -> repeat".
  std::string to_text() const;
  /// Examples in one epoch of the source; absent if unknown.
  std::optional<int64_t> source_size() const;

  /// A null pointer gives a dataset without a source.
  explicit dataset(std::shared_ptr<const dataset_stage> last_stage) : last_stage_(std::move(last_stage)) {}
  /// The last stage; never null.
  const std::shared_ptr<const dataset_stage>& last_stage() const noexcept;

 private:
  std::shared_ptr<const dataset_stage> last_stage_;
};

struct train_and_test {
  dataset train = {};
  dataset test = {};
};

struct idx_options {
  std::string images = {};  ///< IDX file of unsigned bytes, rank >= 2, plain or gzip.
  std::string labels = {};  ///< IDX file of unsigned bytes, rank 1, one for each image; empty: there are no labels.
};
/// Reads IDX files: feature "pixels", float32 [rows·columns] in [0, 1] (byte / 255), and label "label", int32. Errors:
/// not_found; data_loss (wrong magic number, truncated, trailing bytes; with offset); invalid_argument (counts differ).
TROUPE_API expected<dataset> open_idx(const idx_options& options);
/// Opens the four files of Fashion-MNIST (or MNIST) in `directory`, as published, plain or `.gz`. Errors as above.
TROUPE_API expected<train_and_test> fashion_mnist(const std::string& directory);
/// Opens only the training or the test half; the files of the other half need not exist.
TROUPE_API expected<dataset> mnist_train(const std::string& directory);
TROUPE_API expected<dataset> mnist_test(const std::string& directory);

}  // namespace troupe
