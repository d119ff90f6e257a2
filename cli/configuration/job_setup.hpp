// Turns settings into the library's types: an estimator, data, and how to train and evaluate.
#pragma once

#include "cli/configuration/data_options.hpp"
#include "cli/configuration/settings.hpp"

#include <troupe/troupe.hpp>

namespace troupe::cli {

struct job_setup {
  troupe::estimator estimator;
  input_options input;
  test_options test;
  train_spec training{.input = dataset{nullptr}};    ///< But for its data.
  eval_spec evaluation{.input = dataset{nullptr}};   ///< But for its data.
  bool evaluates = true;                             ///< Evaluates while training.
};

/// invalid_argument: a missing key, or keys that exclude each other. `training` decides which are needed.
expected<job_setup> make_job_setup(const settings& given, bool training);

/// The data alone: no model and no place for one. For an exported model, which has its own; other keys are not looked at.
expected<job_setup> make_data_setup(const settings& given);

/// Opens the data for training, or those for evaluation and prediction; reads nothing else. If they do not exist, the
/// error names the package that has them.
expected<dataset> open_training_data(const job_setup& setup);
expected<dataset> open_test_data(const job_setup& setup);

train_spec make_train_spec(const job_setup& setup, const dataset& data);
eval_spec make_eval_spec(const job_setup& setup, const dataset& data);

/// Steps of a pass over `data` in training; batches in an evaluation of `data`.
std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data);
std::optional<int64_t> evaluation_batches(const job_setup& setup, const dataset& data);

}  // namespace troupe::cli
