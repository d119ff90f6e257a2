// Datasets: descriptions of where batches come from; nothing is read before a job iterates one.
// Read it to begin with.
//
//   auto data = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");   // expected<train_and_test>
//   auto input = data->train.shuffle().batch(128).repeat();
//
// Examples of one's own come from tensors or from a function (`from_generator`), and `map` changes them one by one.
//
// A random-access dataset is a function from position to example, so its whole state is a position: resuming is exact.
// A dataset is a cheap value; any thread may copy or describe it.
//
// Transformations return datasets, not errors, so that a pipeline is one chain of calls: a count that makes no sense, a
// batch of batches, a shuffle after an endless repeat or data without an element are reported when the dataset is read
// (`iterate`, and so the start of a job), naming the first such stage and the whole chain.
#pragma once

#include <troupe/tfrecord.hpp>
#include <troupe/tensor.hpp>

#include <functional>
#include <map>

namespace troupe {

/// One named part of an element; `dims` without the batch.
struct component {
  std::string name = {};
  dtype type = dtype::float32;
  shape dims = {};
  /// Of one row.
  int64_t row_bytes() const noexcept { return dims.elements() * size_of(type); }
  friend bool operator==(const component&, const component&) = default;
};

/// The components of one element: features, then labels, each sorted by name.
struct element_spec {
  std::vector<component> features = {};
  std::vector<component> labels = {};
  /// All of them: the order in which an iterator fills its buffers.
  std::vector<component> components() const {
    auto all = features;
    all.insert(all.end(), labels.begin(), labels.end());
    return all;
  }
  friend bool operator==(const element_spec&, const element_spec&) = default;
};

/// One example as user functions make and receive it: a tensor for each component, without a batch axis.
struct example_tensors {
  std::map<std::string, tensor> features = {};
  std::map<std::string, tensor> labels = {};
};

/// Examples one after the other, as one reading of the data needs them. Used by one thread at a time. Errors of these
/// functions with the category out_of_range or cancelled, which data use for an end and a stop, become `state`.
struct example_stream {
  /// The next example; nothing at the end. An error ends the job.
  std::function<expected<std::optional<example_tensors>>()> next = {};
  /// The position before the next example as bytes, and the way back to it, in this process or the next one. Both or
  /// neither: without them no checkpoint can be made of a job that reads the stream. `save` is called for every block
  /// of batches, so it should be cheap.
  std::function<expected<std::string>()> save = {};
  std::function<expected<void>(std::string_view position)> restore = {};
};

class dataset_node;  // In dataset_iterator.hpp.

class TROUPE_API dataset {
 public:
  /// Without a source: whoever reads it, or a dataset made of it, gets invalid_argument saying so.
  dataset() = default;

  /// Examples in memory: axis 0 of every tensor is the example; counts must agree (invalid_argument naming both).
  static expected<dataset> from_tensors(std::vector<std::pair<std::string, tensor>> features,
                                        std::vector<std::pair<std::string, tensor>> labels = {});

  /// Examples made by a function of the caller's. `spec` says what every example has; one that differs is an error of
  /// the step (invalid_argument naming generator, example and component). `name` stands for the function in texts,
  /// errors and saved positions: a job resumes only with a generator of the same name and spec. An exception of the
  /// function becomes an error that names the generator. invalid_argument: an empty function, a spec without features,
  /// with a name twice or with a negative extent, a name that is empty or has a line break, a negative count.
  ///
  /// Random access: example i of `count` is `make(i)`, whenever and however often it is asked for, on any thread, also
  /// on several at once. It can be shuffled, and a job resumes exactly.
  static expected<dataset> from_generator(element_spec spec, int64_t count, std::function<expected<example_tensors>(int64_t index)> make,
                                          std::string name = "generator");
  /// A stream: `next` returns an example or, at the end, nothing. Every reading of the data (each epoch of `repeat`, each
  /// evaluation) begins with a copy of `next`, so what it counts belongs into its captures, by value. A stream cannot
  /// be shuffled, and its position cannot be saved: a job with checkpoints ends with unimplemented, naming it.
  static expected<dataset> from_generator(element_spec spec, std::function<expected<std::optional<example_tensors>>()> next,
                                          std::string name = "generator");
  /// A stream that may save its position; `open` makes a new one for every reading of the data, on any thread.
  static expected<dataset> from_generator(element_spec spec, std::function<expected<example_stream>()> open, std::string name = "generator");

  /// Every example changed by `change`, whose results have the components of `becomes`, or those of this dataset when
  /// absent. Only before `batch`. `change` is called once for each reading of an example, on any thread, also on several
  /// at once, and must give equal results for equal examples: resuming relies on it. `name` stands for it in texts,
  /// errors and saved positions. An example that does not fit, and an exception, are errors as in `from_generator`.
  dataset map(std::string name, std::function<expected<example_tensors>(const example_tensors&)> change,
              std::optional<element_spec> becomes = {}) const;
  /// A keyed permutation of the elements (examples; whole batches after `batch`), another one for each epoch. Without a
  /// seed the job's seed is used.
  dataset shuffle(std::optional<uint64_t> seed = {}) const;
  /// `size` consecutive examples as one element. Unless `drop_remainder` is given, a partial last batch is dropped in
  /// training and kept otherwise.
  dataset batch(int64_t size, std::optional<bool> drop_remainder = {}) const;
  /// `epochs` passes; without end when absent.
  dataset repeat(std::optional<int64_t> epochs = {}) const;
  /// The first `count` elements; without the first `count` elements.
  dataset take(int64_t count) const;
  dataset skip(int64_t count) const;
  /// Element i holds the elements [i·shift, i·shift + size) of this dataset, stacked: a component of dims d becomes
  /// [size, d...]. Elements at the end that do not fill a window are dropped. Windows overlap where shift < size, yet
  /// each row is stored once and copied as it is read. Only before `batch`, and only over sources that can be read in
  /// any order.
  dataset window(int64_t size, int64_t shift) const;

  element_spec spec() const;
  /// "idx(train-images) -> shuffle -> batch(128) -> repeat".
  std::string to_text() const;
  /// Examples in one pass of the source; absent where it is not known.
  std::optional<int64_t> source_size() const;

  /// A null pointer is as good as no source.
  explicit dataset(std::shared_ptr<const dataset_node> node) : node_(std::move(node)) {}
  /// Never null.
  const std::shared_ptr<const dataset_node>& node() const noexcept;

 private:
  std::shared_ptr<const dataset_node> node_;
};

struct train_and_test {
  dataset train = {};
  dataset test = {};
};

struct idx_options {
  std::string images = {};  ///< IDX file of unsigned bytes, rank >= 2, optionally gzip'ed.
  std::string labels = {};  ///< IDX file of unsigned bytes, rank 1, as many as there are images.
};
/// Feature "pixels": float32 [rows·columns] in [0, 1] (byte / 255); label "label": int32.
/// not_found, data_loss (wrong magic, truncated, trailing bytes; with offset), invalid_argument (counts differ).
TROUPE_API expected<dataset> open_idx(const idx_options& options);
/// The four files of Fashion-MNIST (or MNIST) in `directory`, named as published, plain or `.gz`.
TROUPE_API expected<train_and_test> fashion_mnist(const std::string& directory);
/// The named half only; the files of the other half need not exist.
TROUPE_API expected<dataset> mnist_train(const std::string& directory);
TROUPE_API expected<dataset> mnist_test(const std::string& directory);

struct tfrecord_options {
  /// Features to read from each example: float32 from a list of floats, int32 and int64 from a list of integers, uint8
  /// from one byte string. Every example must have each of them, with exactly as many values as `dims` says; it may
  /// have others.
  std::vector<component> features = {};
  std::vector<component> labels = {};
  troupe::compression compression = troupe::compression::none;
};
/// Record files of examples (tf.Example), read one after the other. Uncompressed files are indexed here, header by
/// header (8 bytes of memory a record, 8 MiB at most), and can be read in any order, so `shuffle` is exact. Compressed files can only
/// be streamed: they cannot be shuffled, and resuming decompresses again what was read before.
/// invalid_argument (no path, no feature, a name given twice, a dtype that examples do not hold), not_found, data_loss
/// (a truncated or damaged file). The contents of examples are checked when they are read: an error then names file,
/// record and feature, what was found and what was expected.
TROUPE_API expected<dataset> open_tfrecord(const std::vector<std::string>& paths, tfrecord_options options);

}  // namespace troupe
