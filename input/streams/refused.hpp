// Invalid stages. A pipeline is written as one chain of calls, so an invalid stage becomes a node whose `iterate`
// returns the error, and stages after it keep the first one.
#pragma once

#include <troupe/dataset_iterator.hpp>

namespace troupe::input {

using node_ptr = std::shared_ptr<const dataset_node>;

/// The node of a dataset without a source, which is refused wherever it is read.
const node_ptr& absent();
/// A node whose `iterate` returns the error of `inner` if it is refused itself, else `e`.
node_ptr refuse(node_ptr inner, const std::string& stage, error e);
/// The same if `inner` is refused; null otherwise.
node_ptr refused(const node_ptr& inner, const std::string& stage);

}  // namespace troupe::input
