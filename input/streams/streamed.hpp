// Transformations of sources that can only be read one element after the other: those that a user wrote.
//
// Each keeps a count and the state of what is before it. On several hosts each reads the whole stream and passes over
// the others' elements: right, but no faster than one; such a source does better to divide itself.
#pragma once

#include "input/streams/refused.hpp"

namespace troupe::input {

node_ptr streamed_batch(node_ptr inner, std::string stage, int64_t size, std::optional<bool> drop_remainder);
node_ptr streamed_repeat(node_ptr inner, std::string stage, std::optional<int64_t> epochs);
node_ptr streamed_take(node_ptr inner, std::string stage, int64_t count);
node_ptr streamed_skip(node_ptr inner, std::string stage, int64_t count);

/// What one of `options.hosts` hosts reads of a stream, which `whole` reads from its first element: `whole` where there is
/// one host.
std::unique_ptr<dataset_iterator> shared(std::unique_ptr<dataset_iterator> whole, const iterate_options& options);

}  // namespace troupe::input
