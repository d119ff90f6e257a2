// Predictions: a model's outputs for each example, as a lazy stream in the order of the input.
// Read it to begin with.
//
//   auto predictions = tr::predict(estimator, {.input = images.batch(500), .keys = {"class_ids"}});
//   if (!predictions) return tr::report(predictions.error());
//   for (const auto& one : *predictions)
//     use(one.values.at("class_ids").as<int64_t>()[0]);
//   if (auto status = predictions->status(); !status) return tr::report(status.error());
//
// Nothing is read, built or computed before the first `next` or `begin`. Batches are computed ahead of the consumer, at most as
// many as the spec says. A stream that is destroyed early ends its actors and frees what they held. Streams are
// independent of each other, also those of one estimator.
#pragma once

#include <troupe/estimator.hpp>

#include <iterator>

namespace troupe {

struct predict_spec {
  dataset input = {};                      ///< With or without labels; the model's function gets what there is.
  std::vector<std::string> keys = {};      ///< The predictions to compute; empty: all of them.
  checkpoint_ref checkpoint = {};          ///< Where the variables come from.
  bool single_examples = true;             ///< One result a row; false: one a batch, as the model yields it.
  int64_t batches_ahead = 16;              ///< Most batches computed beyond the one being taken; 0: none.
  /// Called for each batch that is taken, by the thread that takes it, and at the end of the stream, also of one that is destroyed or stopped early.
  std::vector<std::shared_ptr<hook>> hooks = {};
};

/// One example's predictions by name, each without the batch axis; or a whole batch's, if requested. Tensors of one
/// batch share its memory.
struct prediction {
  std::map<std::string, tensor> values;
  /// Predictions as words (`model::texts`): one for each element of the integers that they stand for.
  std::map<std::string, std::vector<std::string>> texts;
};

/// A handle: move-only, used by one thread at a time; only `cancel` may be called from any thread meanwhile.
class TROUPE_API prediction_stream {
 public:
  prediction_stream(prediction_stream&&) noexcept;
  prediction_stream& operator=(prediction_stream&&) noexcept;
  /// Ends the actors and waits for them: for no longer than a step or a read takes, 30 s at most.
  ~prediction_stream();

  /// The next result; nothing at the end of the data, and at every later call. An error comes after all results before
  /// it, and again at every later call: invalid_argument (an unknown key, naming the known ones; a prediction whose
  /// first extent is not the batch, where single examples were requested; 2^30 bytes or more of predictions in a batch;
  /// any such error of the model or the input), not_found (no such checkpoint), data_loss, cancelled,
  /// deadline_exceeded (no batch for ten minutes).
  expected<std::optional<prediction>> next();
  /// The results as a range, each as `next` returns it: `for (const auto& one : stream)`. The range ends at the end of
  /// the data and at an error, which `status` tells apart. What was taken does not come again: a second loop goes on.
  class iterator;
  iterator begin();
  std::default_sentinel_t end() const noexcept { return {}; }
  /// The error that ended the stream; none at the end of the data, and none while it goes on.
  expected<void> status() const;

  /// Makes `next`, also one that is waiting now, return `cancelled`; a long step or read is interrupted.
  void cancel();

  /// Available once `next` has returned:
  std::string checkpoint() const;  ///< Prefix of the checkpoint read; empty: freshly initialised variables.
  int64_t global_step() const;     ///< The step of that checkpoint; else 0.
  std::string remark() const;      ///< That there was no checkpoint, or which damaged ones were skipped; else empty.

  struct impl;
  explicit prediction_stream(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

/// An input iterator: it holds one result. Valid while its stream lives and stays where it is.
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

/// invalid_argument: the configuration's fields, a model without a function, batches_ahead below 0, a key given twice, a hook that is null, a checkpoint
/// that there cannot be. The first `next` returns all other errors.
TROUPE_API expected<prediction_stream> predict(const estimator& e, const predict_spec& spec);

}  // namespace troupe
