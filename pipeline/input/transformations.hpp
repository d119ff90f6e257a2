// What the methods of `dataset` make: one function a transformation, each in the file of its name.
//
// They return nodes, never errors, because a pipeline is written as one chain of calls: an impossible stage becomes a
// node whose `iterate` returns the error, and stages after it keep the first one.
#pragma once

#include "pipeline/input/indexed_node.hpp"

namespace troupe::input {

using node_ptr = std::shared_ptr<const dataset_node>;

node_ptr shuffle(node_ptr inner, std::optional<uint64_t> seed);
node_ptr batch(node_ptr inner, int64_t size, std::optional<bool> drop_remainder);
node_ptr repeat(node_ptr inner, std::optional<int64_t> epochs);
node_ptr take(node_ptr inner, int64_t count);
node_ptr skip(node_ptr inner, int64_t count);
node_ptr window(node_ptr inner, int64_t size, int64_t shift);

/// A node whose `iterate` returns `inner`'s error where it has one, else `e`.
node_ptr refuse(node_ptr inner, const std::string& stage, error e);
/// The same where `inner` is such a node; null where it is not.
node_ptr refused(const node_ptr& inner, const std::string& stage);

}  // namespace troupe::input
