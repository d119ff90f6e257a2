// Predictions: a model's outputs for each example, as a lazy stream in the order of the input.
// Read it to begin with.
//
//   auto predictions = tr::predict(estimator, {.input = images.batch(500), .keys = {"class_ids"}});
//   if (!predictions) return tr::print_error(predictions.error());
//   for (const auto& one : *predictions)
//     use(one.values.at("class_ids").as<int64_t>()[0]);
//   if (auto status = predictions->status(); !status) return tr::print_error(status.error());
//
// Nothing is read, built or computed before the first `next` or `begin`. Batches are computed ahead of the consumer, at
// most `batches_ahead`. A stream may be destroyed early. Streams of one estimator are independent of each other.
#pragma once

#include <troupe/estimator.hpp>

#include <iterator>

namespace troupe {

struct predict_spec {
  dataset input = {};                  ///< With or without labels; the model function gets those that exist.
  std::vector<std::string> keys = {};  ///< Names of the predictions to compute; empty: all.
  checkpoint_ref checkpoint = {};      ///< Where the variables come from; by default the newest.
  bool single_examples = true;         ///< One result for each row. False: for each batch, with less work.
  int64_t batches_ahead = 16;          ///< Most batches computed ahead of the consumer; 0: none, for least memory.
  int64_t replicas = 1;                ///< Batches are dealt to them; results have the order of the data.
  int64_t batch_bytes_below = int64_t{1} << 30;   ///< The predictions of one batch must take fewer bytes.
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Called for each batch and at the end, by the taking thread.
};

/// The predictions for one example, by name, without the batch axis; or a whole batch. Tensors of a batch share memory.
struct prediction {
  std::map<std::string, tensor> values;
  /// Predictions as words (`model::texts`): a word for each element of the integer prediction.
  std::map<std::string, std::vector<std::string>> texts;
};

/// A move-only handle of one thread; any other may call `cancel`. Moved from, it gives `state` errors.
class TROUPE_API prediction_stream {
 public:
  prediction_stream(prediction_stream&&) noexcept;
  prediction_stream& operator=(prediction_stream&&) noexcept;
  /// Ends the actors and waits for them, as long as a step or a read takes, at most 30 s.
  ~prediction_stream();

  /// Blocks for the next result; nothing at the end of the data. After the end or an error each call returns the same.
  /// An error follows the results before it: invalid_argument (an unknown key, naming the known ones; with single
  /// examples, a prediction whose first extent is not the batch; `batch_bytes_below` bytes of predictions in a batch;
  /// errors of the model or the input), not_found (no such checkpoint), data_loss, cancelled, deadline_exceeded (10
  /// min).
  expected<std::optional<prediction>> next();
  /// The results of `next` as a range: `for (const auto& one : stream)`. It ends at the end of the data or at an error;
  /// `status` tells which. A second loop continues where the first one ended.
  class iterator;
  iterator begin();
  std::default_sentinel_t end() const noexcept { return {}; }
  /// The error that ended the stream; none before it has ended, or at the end of the data.
  expected<void> status() const;

  /// Makes `next`, even one that is waiting, return `cancelled`. A long step or read is interrupted.
  void cancel();

  // Available after the first `next`:
  std::string checkpoint() const;  ///< Prefix of the checkpoint read; empty: freshly initialised variables.
  int64_t global_step() const;     ///< The step of that checkpoint; else 0.
  std::string remark() const;      ///< That there was no checkpoint, or which damaged ones were skipped; else empty.

  struct impl;
  explicit prediction_stream(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

/// An input iterator that holds one result. Valid until its stream is destroyed or moved.
class prediction_stream::iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = prediction;
  using difference_type = std::ptrdiff_t;

  explicit iterator(prediction_stream& from) : from_(&from) { ++*this; }
  const prediction& operator*() const noexcept { return *one_; }
  const prediction* operator->() const noexcept { return &*one_; }
  iterator& operator++() {
    auto next = from_->next();
    one_ = next ? std::move(*next) : std::nullopt;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept { return !i.one_; }

 private:
  prediction_stream* from_;
  std::optional<prediction> one_;
};
inline prediction_stream::iterator prediction_stream::begin() { return iterator{*this}; }

/// Makes a stream of predictions. invalid_argument: invalid fields of the configuration or `spec`, a model without a
/// function, a repeated key, a null hook, an invalid checkpoint reference. The first `next` returns all other errors.
TROUPE_API expected<prediction_stream> predict(const estimator& e, const predict_spec& spec);

}  // namespace troupe
