// Transformations of sources that can only be read sequentially: those written by users.
//
// Each stage keeps a count and the state of its inner stage. Several hosts each read the whole stream and skip the
// others' elements: correct, but no faster than one host; such a source had better divide itself.
#pragma once

#include "input/streams/refused.hpp"

namespace troupe::input {

node_ptr streamed_batch(node_ptr inner, std::string stage, int64_t size, std::optional<bool> drop_remainder);
node_ptr streamed_repeat(node_ptr inner, std::string stage, std::optional<int64_t> epochs);
node_ptr streamed_take(node_ptr inner, std::string stage, int64_t count);
node_ptr streamed_skip(node_ptr inner, std::string stage, int64_t count);

/// The share of a stream that one of `options.hosts` hosts reads; `whole` reads the stream from its first element, and
/// is returned as it is if there is one host.
std::unique_ptr<dataset_iterator> shared(std::unique_ptr<dataset_iterator> whole, const iterate_options& options);

}  // namespace troupe::input
