// The access of the estimator, and of stages that read in order, to a dataset. Any stage may be the user's: for the
// estimator an exception from one becomes an error (state) that names the call and the dataset.
#pragma once

#include <troupe/dataset_iterator.hpp>

namespace troupe {

/// Makes an iterator, which does not throw either. Error: also invalid_argument: a dataset without a source, a node
/// that returns no iterator, batches of less than one row.
expected<std::unique_ptr<dataset_iterator>> open_input(const dataset& input, const iterate_options& options);
/// Calls `dataset::to_text`.
expected<std::string> text_of(const dataset& input);
/// Calls `dataset::source_size`.
expected<std::optional<int64_t>> examples_of(const dataset& input);
/// Calls `dataset_stage::elements` as for training.
expected<std::optional<int64_t>> batches_of(const dataset& input);

namespace input {

/// For the stage behind `stage`, whose exceptions pass. Error: invalid_argument, if it returns no iterator.
expected<std::unique_ptr<dataset_iterator>> opened(const std::shared_ptr<const dataset_stage>& stage,
                                                   const iterate_options& options);
/// The error of `stage`, which reads one row at a time, and got `rows` from the stage before it.
error not_one_row(const std::string& stage, int64_t rows);

}  // namespace input

}  // namespace troupe
