// Turns settings into the library's types: an estimator or a searcher, data, and the specs of training and evaluation.
#pragma once

#include "cli/configuration/data_options.hpp"
#include "cli/configuration/search_setup.hpp"
#include "cli/configuration/settings.hpp"

#include <troupe/troupe.hpp>

#include <algorithm>

namespace troupe::cli {

/// One [[evaluate]], or the only [evaluate].
struct evaluation_setup {
  std::string key;  ///< The table: "evaluate", "evaluate[1]".
  test_options data;
  eval_spec spec{.input = dataset{nullptr}};  ///< Complete, except for the data.
  bool while_training = true;                 ///< False if `when` is "never".
};

struct job_setup {
  troupe::estimator estimator;         ///< Of a search without a model.
  std::optional<search_setup> search;  ///< What [search] describes.
  input_options input;
  train_spec training{.input = dataset{nullptr}};  ///< Complete, except for the data.
  std::vector<evaluation_setup> evaluations;       ///< At least one. Predictions use the first one's data too.
  /// Whether there are evaluations during training.
  bool evaluates() const {
    return std::any_of(evaluations.begin(), evaluations.end(),
                       [](const evaluation_setup& e) { return e.while_training; });
  }
};

/// What a command does with the job of a file; it decides which keys are needed.
enum class job_purpose : uint8_t {
  training,
  searching,
  evaluating,
  predicting,  ///< Prediction, export: data need no labels.
};
/// False where a checkpoint of a training or of a search is read.
constexpr bool writes_checkpoints(job_purpose p) { return p == job_purpose::training || p == job_purpose::searching; }

/// invalid_argument: a missing key, keys that exclude each other, or a configuration of another purpose.
expected<job_setup> make_job_setup(const settings& given, job_purpose purpose);

/// Only the data, without a model and a model directory: for an exported model, which brings its own. Other keys are
/// ignored.
expected<job_setup> make_data_setup(const settings& given);

/// The evaluation with this name, or the first one if `name` is absent. invalid_argument, with the names that exist.
expected<evaluation_setup> find_evaluation(const job_setup& setup, const std::optional<std::string>& name);

/// Opens the data for training, or for an evaluation and for prediction, without reading examples. If the data does not
/// exist, the error names the package that contains it.
expected<dataset> open_training_data(const job_setup& setup);
expected<dataset> open_test_data(const job_setup& setup, const evaluation_setup& evaluation);

/// The searcher of a configuration with [search]; opens the data of its evaluator.
expected<searcher> make_searcher(const job_setup& setup);
/// For commands that read a checkpoint: makes the winner of a search the setup's estimator. Does nothing for a
/// training.
expected<void> take_winner(job_setup& setup, const checkpoint_ref& which);

train_spec make_train_spec(const job_setup& setup, const dataset& data);
eval_spec make_eval_spec(const evaluation_setup& evaluation, const dataset& data);

/// The number of steps in an epoch of `data`, or of batches in an evaluation of it; nothing if it is not known.
std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data);
std::optional<int64_t> evaluation_batches(const evaluation_setup& evaluation, const dataset& data);

}  // namespace troupe::cli
