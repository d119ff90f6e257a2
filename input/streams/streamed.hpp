// Transformations of sources that can only be read sequentially, such as those of users.
//
// The position of a stage is a count and the position of its inner stage. With several hosts, each host reads the whole
// stream and skips the elements of the others. This is correct but no faster than one host, so such a source should
// divide its data among the hosts itself.
#pragma once

#include "input/streams/refused.hpp"

namespace troupe::input {

stage_ptr streamed_batch(stage_ptr inner, std::string stage, int64_t size, std::optional<bool> drop_remainder);
stage_ptr streamed_repeat(stage_ptr inner, std::string stage, std::optional<int64_t> epochs);
stage_ptr streamed_take(stage_ptr inner, std::string stage, int64_t count);
stage_ptr streamed_skip(stage_ptr inner, std::string stage, int64_t count);
/// Reads and drops the elements of the other shards.
stage_ptr streamed_shard(stage_ptr inner, std::string stage, int64_t count, int64_t index);

/// The elements of a stream for one of `options.hosts` hosts. `whole` must start at the first element. Any number of
/// hosts, one too, takes the position of any other number.
std::unique_ptr<dataset_iterator> shared(std::unique_ptr<dataset_iterator> whole, const iterate_options& options);

}  // namespace troupe::input
