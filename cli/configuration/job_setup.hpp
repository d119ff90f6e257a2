// Settings become what the library takes: an estimator, data, and how to train and evaluate.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/troupe.hpp>

namespace troupe::cli {

struct job_setup {
  troupe::estimator estimator;

  std::string format;
  std::string data;
  idx_options training_files, evaluation_files;  ///< Format idx.

  int64_t batch_size = 128;
  bool shuffle = true;
  std::optional<uint64_t> shuffle_seed;
  std::optional<int64_t> max_steps, steps, epochs;

  bool evaluates = true;  ///< While training.
  int64_t evaluation_batch_size = 500;
  std::optional<int64_t> evaluation_steps;
  std::string evaluation_name;
  double throttle_secs = 600;
  evaluation_mode when = evaluation_mode::waits;
};

/// invalid_argument: a key that is missing, or one that does not go with another. `training` decides which are needed.
expected<job_setup> make_job_setup(const settings& given, bool training);

/// The data to train on, or those to evaluate and predict; nothing else is read. An error that they are not there says which
/// package brings them.
expected<dataset> open_training_data(const job_setup& setup);
expected<dataset> open_test_data(const job_setup& setup);

train_spec make_train_spec(const job_setup& setup, const dataset& data);
eval_spec make_eval_spec(const job_setup& setup, const dataset& data);

/// Steps of a pass over `data` while training; batches of an evaluation of `data`.
std::optional<int64_t> epoch_steps(const job_setup& setup, const dataset& data);
std::optional<int64_t> evaluation_batches(const job_setup& setup, const dataset& data);

}  // namespace troupe::cli
