// Nodes for invalid stages. A pipeline is written as one chain of calls, so an invalid stage becomes a node whose
// `iterate` returns the error. Later stages keep the first error.
#pragma once

#include <troupe/dataset_iterator.hpp>

namespace troupe::input {

using stage_ptr = std::shared_ptr<const dataset_stage>;

/// The node of a dataset without a source. Reading it always fails.
const stage_ptr& absent();
/// A node whose `iterate` returns an error: that of `inner` if `inner` is a refused node, else `e`.
stage_ptr refuse(stage_ptr inner, const std::string& stage, error e);
/// The error of a stage that follows `streams(n)` and would move its elements to other rows. `instead`: what to do.
error breaks_streams(const std::string& stage, int64_t n, const std::string& instead);
/// A node with an error if `inner` is a refused node, whose error it is, an input function or a batch feed; else null.
stage_ptr refused(const stage_ptr& inner, const std::string& stage);
/// Whether the stage is the input of a batch feed. It takes no further stages: their positions would count batches that
/// are gone.
bool is_batch_feed(const stage_ptr& stage);

}  // namespace troupe::input
