// Turns settings into the library's types: an estimator, data, and how to train and evaluate.
#pragma once

#include "cli/configuration/data_options.hpp"
#include "cli/configuration/settings.hpp"

#include <troupe/troupe.hpp>

#include <algorithm>

namespace troupe::cli {

/// One [[evaluate]], or the only [evaluate].
struct evaluation_setup {
  std::string key;                                   ///< "evaluate", "evaluate[1]"
  test_options data;
  eval_spec spec{.input = dataset{nullptr}};         ///< But for its data.
  bool while_training = true;                        ///< Where it is not `never`.
};

struct job_setup {
  troupe::estimator estimator;
  input_options input;
  train_spec training{.input = dataset{nullptr}};    ///< But for its data.
  std::vector<evaluation_setup> evaluations;         ///< At least one; the first one's data are predicted from, too.
  /// Whether there are evaluations while training.
  bool evaluates() const { return std::any_of(evaluations.begin(), evaluations.end(), [](const evaluation_setup& e) { return e.while_training; }); }
};

/// invalid_argument: a missing key, or keys that exclude each other. `training` decides which are needed.
expected<job_setup> make_job_setup(const settings& given, bool training);

/// The data alone: no model and no place for one. For an exported model, which has its own; other keys are not looked at.
expected<job_setup> make_data_setup(const settings& given);

/// The evaluation of that name; the first one when absent. invalid_argument with the names that there are.
expected<evaluation_setup> find_evaluation(const job_setup& setup, const std::optional<std::string>& name);

/// Opens the data for training, or those for an evaluation and for prediction; reads nothing else. If they do not exist, the
/// error names the package that has them.
expected<dataset> open_training_data(const job_setup& setup);
expected<dataset> open_test_data(const job_setup& setup, const evaluation_setup& evaluation);

train_spec make_train_spec(const job_setup& setup, const dataset& data);
eval_spec make_eval_spec(const evaluation_setup& evaluation, const dataset& data);

/// Steps of a pass over `data` in training; batches in an evaluation of `data`.
std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data);
std::optional<int64_t> evaluation_batches(const evaluation_setup& evaluation, const dataset& data);

}  // namespace troupe::cli
